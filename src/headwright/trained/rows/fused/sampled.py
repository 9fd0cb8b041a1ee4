# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""A few whole rows of every head: their weights in half precision for a moment, the mass in ranges
of keys, and the products of every two heads' rows."""

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
def whole_rows(
    q, k, weights, masses, numbers, rows_at, mask, bias,
    q_head, q_row, k_head, k_row, mask_head, mask_row, bias_head, bias_row,
    h, t, n, d, group, scale, softcap, size, width, cells,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """e of the rows `rows_at` into `weights` (size, h, n), and their mass p in ranges of `width`
    keys into `masses` (size, h, cells). One program takes one range."""
    cell = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    places = tl.program_id(2) * M + tl.arange(0, M)
    used = places < size
    rows = tl.load(rows_at + places, mask=used, other=0)
    mask_at = mask + head * mask_head if MASKED else mask
    bias_at = bias + head * bias_head if BIASED else bias
    ours = load_rows(q + head * q_head, rows, used, q_row, d, D, True)
    at = numbers + head * t + rows
    best = tl.load(at, mask=used, other=0.0)
    leak = tl.load(at + 2 * tl.cast(h, tl.int64) * t, mask=used, other=0.0)

    unit = unit_of(scale, softcap, BIASED)
    mass = tl.zeros((M,), tl.float32)
    end = tl.minimum(n, (cell + 1) * width)
    long_rows = rows.to(tl.int64)[:, None]
    for start in range(cell * width, end, N):
        keys = start + tl.arange(0, N)
        there = keys < end
        pairs = used[:, None] & there[None, :]
        theirs = load_columns(k + head // group * k_head, keys, there, k_row, d, D, True)
        bias_places = long_rows * bias_row + keys[None, :]
        z = logits(tl.dot(ours, theirs), bias_places, pairs, bias_at, scale, softcap, BIASED)
        mask_places = long_rows * mask_row + keys[None, :]
        seen = visible(rows[:, None], keys[None, :], mask_places, pairs, mask_at, CAUSAL, MASKED)
        e = powers(z, best[:, None], unit, seen)
        mass += tl.sum(e, 1)
        to = weights + (places.to(tl.int64)[:, None] * h + head) * n + keys[None, :]
        tl.store(to, e.to(tl.float16), mask=pairs)

    to = masses + (places * h + head) * cells + cell
    tl.store(to, mass / (1.0 + leak), mask=used)


@triton.jit
def products_of_heads(
    weights, products, h, n, parts, H: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """`products` (splits, size, h, h): of each row, e of one head times e of another, summed over
    K keys. One row's keys are too long for one program."""
    row = tl.program_id(0).to(tl.int64)
    left = tl.program_id(1) // parts * H + tl.arange(0, H)
    right = tl.program_id(1) % parts * H + tl.arange(0, H)
    split = tl.program_id(2)
    at = weights + row * h * n
    total = tl.zeros((H, H), tl.float32)
    for start in range(split * K, tl.minimum(n, (split + 1) * K), N):
        a = load_rows(at + start, left, left < h, n, n - start, N, True)
        b = load_columns(at + start, right, right < h, n, n - start, N, True)
        total = tl.dot(a, b, total)
    to = products + ((split * tl.num_programs(0) + row) * h + left[:, None]) * h + right[None, :]
    tl.store(to, total, mask=(left < h)[:, None] & (right < h)[None, :])
