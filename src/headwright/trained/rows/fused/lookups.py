# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""The weight on earlier places of a row's token, once each row's best logit and leak are known: p =
2^(y - best) / (1 + leak). In the pass over all keys the same comparisons of token numbers would
double its time."""

from __future__ import annotations

import triton
import triton.language as tl

from headwright.trained.rows.fused.tiles import (
    load_columns,
    load_rows,
    logits,
    powers,
    unit_of,
    visible,
)


@triton.jit
def earlier_places(
    q, k, masses, numbers, order, begins, real_queries, real_keys, mask, bias,
    q_head, q_row, k_head, k_row, mask_head, mask_row, bias_head, bias_row,
    h, t, d, group, scale, softcap,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """`masses` (2, h, blocks): of M rows, the weight on earlier places of their tokens, and on the
    places right after those. `order` are the places sorted by token: earlier places of the row at
    i are `order[begins[i] : i]`, so that neighbours share their keys and a tile is a product."""
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    kind = tl.program_id(2)
    at = block * M + tl.arange(0, M)
    inside = at < t
    rows = tl.load(order + at, mask=inside, other=0)
    begin = tl.load(begins + at, mask=inside, other=0)
    inside = inside & (tl.load(real_queries + rows, mask=inside, other=0) != 0)
    mask_at = mask + head * mask_head if MASKED else mask
    bias_at = bias + head * bias_head if BIASED else bias
    ours = load_rows(q + head * q_head, rows, inside, q_row, d, D, True)
    best = tl.load(numbers + head * t + rows)
    leak = tl.load(numbers + (2 * tl.cast(h, tl.int64) + head) * t + rows)

    unit = unit_of(scale, softcap, BIASED)
    mass = tl.zeros((M,), tl.float32)
    long_rows = rows.to(tl.int64)[:, None]
    for start in range(tl.load(begins + block * M), tl.minimum(t, (block + 1) * M), N):
        places = start + tl.arange(0, N)
        there = places < t
        keys = tl.load(order + places, mask=there, other=0) + kind
        there = there & (keys < t)
        there = there & (tl.load(real_keys + keys, mask=there, other=0) != 0)
        earlier = (places[None, :] >= begin[:, None]) & (places[None, :] < at[:, None])
        pairs = earlier & inside[:, None] & there[None, :]
        theirs = load_columns(k + head // group * k_head, keys, there, k_row, d, D, True)
        bias_places = long_rows * bias_row + keys[None, :]
        z = logits(tl.dot(ours, theirs), bias_places, pairs, bias_at, scale, softcap, BIASED)
        mask_places = long_rows * mask_row + keys[None, :]
        seen = visible(rows[:, None], keys[None, :], mask_places, pairs, mask_at, CAUSAL, MASKED)
        mass += tl.sum(powers(z, best[:, None], unit, seen), 1)

    to = masses + (kind * h + head) * tl.num_programs(0) + block
    tl.store(to, tl.sum(tl.where(inside, mass / (1.0 + leak), 0.0), 0))
