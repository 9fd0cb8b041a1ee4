# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""Weights of single pairs, once each row's best logit and leak are known: p = 2^(y - best) / (1 +
leak), a gather and a dot product each. In the pass over all keys the same comparisons of token
numbers would double its time."""

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
def one_key_per_row(
    q, k, weights, numbers, partners, mask, bias,
    q_head, q_row, k_head, k_row, mask_head, mask_row, bias_head, bias_row,
    h, t, d, group, scale, softcap,
    M: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """`weights` (s, h, t) of the keys `partners` (s, t), where -1 is no key."""
    head = tl.program_id(1).to(tl.int64)
    kind = tl.program_id(2)
    rows = tl.program_id(0) * M + tl.arange(0, M)
    real = rows < t
    keys = tl.load(partners + kind * t + rows, mask=real, other=-1)
    inside = keys >= 0
    mask_at = mask + head * mask_head if MASKED else mask
    bias_at = bias + head * bias_head if BIASED else bias

    ours = load_rows(q + head * q_head, rows, real, q_row, d, D, True).to(tl.float32)
    theirs = load_rows(k + head // group * k_head, keys, inside, k_row, d, D, True).to(tl.float32)
    product = tl.sum(ours * theirs, 1)
    long_rows = rows.to(tl.int64)
    z = logits(product, long_rows * bias_row + keys, inside, bias_at, scale, softcap, BIASED)
    places = long_rows * mask_row + keys
    seen = visible(rows, keys, places, inside, mask_at, CAUSAL, MASKED)

    at = numbers + head * t + rows
    best = tl.load(at, mask=real, other=0.0)
    leak = tl.load(at + 2 * tl.cast(h, tl.int64) * t, mask=real, other=0.0)
    unit = unit_of(scale, softcap, BIASED)
    p = powers(z, best, unit, seen) / (1.0 + leak)
    tl.store(weights + (kind * h + head) * t + rows, p, mask=real)


@triton.jit
def earlier_places(
    q, k, shares, numbers, order, starts, counts, active, real_keys, mask, bias,
    q_head, q_row, k_head, k_row, mask_head, mask_row, bias_head, bias_row,
    h, t, d, group, scale, softcap, rows_in_all,
    G: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """`shares` (2, h, a): of the a active rows, the weight on earlier places of the row's token,
    and on the places right after those. Earlier places of row i are `order[starts[i] : starts[i] +
    counts[i]]`. One program takes a row and the heads of one key head, so that a key is read
    once."""
    number = tl.program_id(0)
    key_head = tl.program_id(1).to(tl.int64)
    kind = tl.program_id(2)
    row = tl.load(active + number)
    start = tl.load(starts + row)
    count = tl.load(counts + row)

    mine = tl.arange(0, G)
    heads = key_head * group + mine
    used = mine < group
    long_row = row.to(tl.int64)
    ours = load_rows(q + long_row * q_row, heads, used, q_head, d, D, True)
    at = numbers + heads * t + row
    best = tl.load(at, mask=used, other=0.0)
    leak = tl.load(at + 2 * tl.cast(h, tl.int64) * t, mask=used, other=0.0)

    unit = unit_of(scale, softcap, BIASED)
    mass = tl.zeros((G,), tl.float32)
    for low in range(0, count, N):
        index = low + tl.arange(0, N)
        there = index < count
        keys = tl.load(order + start + index, mask=there, other=0) + kind
        there = there & (tl.load(real_keys + keys, mask=there, other=0) != 0)
        pairs = used[:, None] & there[None, :]
        theirs = load_columns(k + key_head * k_head, keys, there, k_row, d, D, True)
        bias_places = heads[:, None] * bias_head + (long_row * bias_row + keys)[None, :]
        z = logits(tl.dot(ours, theirs), bias_places, pairs, bias, scale, softcap, BIASED)
        mask_places = heads[:, None] * mask_head + (long_row * mask_row + keys)[None, :]
        seen = visible(row, keys[None, :], mask_places, pairs, mask, CAUSAL, MASKED)
        mass += tl.sum(powers(z, best[:, None], unit, seen), 1)

    to = shares + (kind * h + heads) * rows_in_all + number
    tl.store(to, mass / (1.0 + leak), mask=used)
