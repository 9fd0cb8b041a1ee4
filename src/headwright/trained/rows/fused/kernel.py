# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""The pass over all keys: per block of queries, tile after tile of keys, the output and the row
numbers of `operations.NAMES` that need every key.

With e = 2^(y - best), when the maximum of a row moves from m to m' and a = 2^(m - m'): sums of e
become a times themselves, sum e (y - best) becomes a (s + (m - m') l), and the sum without the top
key becomes a (leak + 1), since the old top is now one of the others. The leak is never a difference
l - 1, which has no digits left for a sharp row.
"""

from __future__ import annotations

import triton
import triton.language as tl

from headwright.trained.rows.fused.tiles import (
    HIDDEN,
    LN2,
    load_columns,
    load_rows,
    logits,
    store_rows,
    unit_of,
    visible,
)

# Beyond every key.
NOWHERE = tl.constexpr(2**30)


@triton.jit
def weigh(
    z, start, seen, marks, unit, state, N: tl.constexpr, GUARDED: tl.constexpr, MARKED: tl.constexpr
):
    """The logits of keys `start..start+N-1` into the running numbers of their rows. Returns these,
    e, and the factor of all earlier e."""
    best, second, leak, shifted, apart, top = state
    columns = tl.arange(0, N)[None, :]
    tile_best = tl.max(z, 1)
    moved = tile_best > best
    # The first of equal keys; no place where the top stays what it was.
    place = tl.min(tl.where(z == tile_best[:, None], columns, NOWHERE), 1)
    place = tl.where(moved, place, -1)
    is_top = columns == place[:, None]
    tile_second = tl.max(tl.where(is_top, HIDDEN, z), 1)

    new_best = tl.maximum(best, tile_best)
    step = (best - new_best) * unit
    decay = tl.exp2(step)
    distance = z * unit - (new_best * unit)[:, None]
    e = tl.exp2(distance)
    if GUARDED:
        e = tl.where(seen, e, 0.0)
    # The top key's own distance is 0 but for the rounding of the multiply-add.
    others = tl.where(is_top, 0.0, e)

    shifted = decay * (shifted + step * (leak + 1.0)) + tl.sum(others * distance, 1)
    leak = tl.where(moved, decay * (leak + 1.0), leak) + tl.sum(others, 1)
    if MARKED:
        apart = decay * apart + tl.sum(e * marks[None, :], 1)
    second = tl.where(moved, tl.maximum(best, tile_second), tl.maximum(second, tile_best))
    top = tl.where(moved, start + place, top)
    return (new_best, second, leak, shifted, apart, top), e, decay


@triton.jit
def tile(
    start, rows, q, k_at, v_at, k_stride, v_stride, n, d, dv,
    mask, bias, mask_stride, bias_stride, marks_at, scale, softcap, state, seen_count, output,
    N: tl.constexpr, D: tl.constexpr, V: tl.constexpr, t,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr, MARKED: tl.constexpr,
    GUARDED: tl.constexpr, RAGGED: tl.constexpr,
):  # fmt: skip
    """Keys `start..start+N-1`. GUARDED: some of them may be hidden from some row, or not there."""
    columns = tl.arange(0, N)
    keys = start + columns
    there = keys < n
    pairs = (rows < t)[:, None] & there[None, :]
    k = load_columns(k_at + start * k_stride, columns, there, k_stride, d, D, GUARDED or RAGGED)
    bias_places = rows.to(tl.int64)[:, None] * bias_stride + keys[None, :]
    z = logits(tl.dot(q, k), bias_places, pairs, bias, scale, softcap, BIASED)

    seen = pairs
    if GUARDED:
        mask_places = rows.to(tl.int64)[:, None] * mask_stride + keys[None, :]
        seen = visible(rows[:, None], keys[None, :], mask_places, pairs, mask, CAUSAL, MASKED)
        z = tl.where(seen, z, HIDDEN)
        if MASKED:
            seen_count += tl.sum(seen.to(tl.int32), 1)
    marks = tl.zeros((N,), tl.float32)
    if MARKED:
        marks = (
            tl.load(marks_at + keys, mask=there, other=0.0) if GUARDED else tl.load(marks_at + keys)
        )

    unit = unit_of(scale, softcap, BIASED)
    state, e, decay = weigh(z, start, seen, marks, unit, state, N, GUARDED, MARKED)
    v = load_rows(v_at + start * v_stride, columns, there, v_stride, dv, V, GUARDED or RAGGED)
    output = tl.dot(e.to(v.dtype), v, output * decay[:, None])
    return state, seen_count, output


@triton.jit
def store_numbers(at, layer, top_at, state, gaps, unit, real):
    """The rows' numbers, each array `layer` entries after the one before; the margin is infinite
    where one key is seen."""
    best, second, leak, shifted, apart, top = state
    total = leak + 1.0
    margin = tl.where(second <= HIDDEN / 2, float("inf"), (best - second) * (unit * LN2))
    tl.store(at, best, mask=real)
    tl.store(at + layer, margin, mask=real)
    tl.store(at + 2 * layer, leak, mask=real)
    tl.store(at + 3 * layer, shifted * LN2 / total, mask=real)
    tl.store(at + 4 * layer, apart / total, mask=real)
    tl.store(at + 5 * layer, gaps, mask=real)
    tl.store(top_at, top, mask=real)


@triton.jit
def attention_rows(
    q, k, v, output_at, numbers, top_at, seen_at, marks, mask, bias,
    q_head, q_row, k_head, k_row, v_head, v_row, output_head, output_row,
    mask_head, mask_row, bias_head, bias_row,
    h, t, n, d, dv, group, scale, softcap,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, V: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr, MARKED: tl.constexpr,
    RAGGED: tl.constexpr,
):  # fmt: skip
    """One head's queries in blocks of M. `numbers` is (5, h, t): best logit, margin, leak, sum of p
    (z - best), weight on marked keys; then the squared distance of the output from the top value,
    which half precision would round away outside."""
    # Causal blocks have unequal work: the longest go first.
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    key_head = head // group
    rows = block * M + tl.arange(0, M)
    real = rows < t
    k_at = k + key_head * k_head
    v_at = v + key_head * v_head
    mask_at = mask + head * mask_head if MASKED else mask
    bias_at = bias + head * bias_head if BIASED else bias
    queries = load_rows(q + head * q_head, rows, real, q_row, d, D, True)

    lowest = tl.full((M,), HIDDEN, tl.float32)
    nothing = tl.zeros((M,), tl.float32)
    state = (lowest, lowest, nothing, nothing, nothing, tl.zeros((M,), tl.int32))
    seen_count = tl.zeros((M,), tl.int32)
    output = tl.zeros((M, V), tl.float32)

    # Tiles of which every row sees every key come first, in a loop without a comparison.
    end = n
    open_keys = n
    if CAUSAL:
        end = tl.minimum(n, (block + 1) * M)
        open_keys = tl.minimum(n, block * M + 1)
    whole = 0 if MASKED else open_keys // N * N
    for start in range(0, whole, N):
        state, seen_count, output = tile(
            start, rows, queries, k_at, v_at, k_row, v_row, n, d, dv,
            mask_at, bias_at, mask_row, bias_row, marks, scale, softcap, state, seen_count, output,
            N, D, V, t, CAUSAL, MASKED, BIASED, MARKED, False, RAGGED,
        )  # fmt: skip
    for start in range(whole, end, N):
        state, seen_count, output = tile(
            start, rows, queries, k_at, v_at, k_row, v_row, n, d, dv,
            mask_at, bias_at, mask_row, bias_row, marks, scale, softcap, state, seen_count, output,
            N, D, V, t, CAUSAL, MASKED, BIASED, MARKED, True, RAGGED,
        )  # fmt: skip

    best, second, leak, shifted, apart, top = state
    # A NaN has no place, and a row that sees no key no top: both must still be read somewhere.
    top = tl.where((top >= 0) & (top < n), top, 0)
    output = output / (leak + 1.0)[:, None]
    gap = output - load_rows(v_at, top, real, v_row, dv, V, True).to(tl.float32)

    at = head * t + rows
    state = (best, second, leak, shifted, apart, top)
    unit = unit_of(scale, softcap, BIASED)
    gaps = tl.sum(gap * gap, 1)
    store_numbers(numbers + at, tl.cast(h, tl.int64) * t, top_at + at, state, gaps, unit, real)
    if MASKED:
        tl.store(seen_at + at, seen_count, mask=real)
    store_rows(output_at + head * output_head, rows, real, output_row, dv, output, V)
