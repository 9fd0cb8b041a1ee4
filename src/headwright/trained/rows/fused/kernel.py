# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""The pass over all keys: per block of queries, tile after tile of keys, the output and the row
numbers of `operations.NAMES` that need every key.

What bounds this pass at head sizes up to 64 is arithmetic on each logit, so a logit gets no more
than a maximum, a power of two and three sums; which key is the top one is asked of runs of G keys.
A thread holds four runs of a row in a tile of 128 keys (a slice), and four threads, the lanes, hold
a row. Every lane keeps its own slice with the largest logit, and `ending` looks into that.

With e = 2^(y - best), when the maximum of a row moves from m to m' and a = 2^(m - m'): sums of e
become a times themselves, and sum e (y - best) becomes a (s + (m - m') l). The sum without the top
key is never a difference l - 1, which has no digits left for a sharp row: `rest` is the sum without
the best slice, all that was before (a l) when a new slice is the best.
"""

from __future__ import annotations

import triton
import triton.language as tl

from headwright.trained.rows.fused.ending import of_the_top, store_partners
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


@triton.jit
def key_order(N: tl.constexpr, G: tl.constexpr):
    """The keys of a tile as its columns hold them. A thread has two of every eight columns of a
    product; in this order they are runs of G keys, run after run in steps of four."""
    column = tl.arange(0, N)
    inside = column // 8 % (G // 2) * 2 + column % 2
    lane = column // 2 % 4
    return column // (4 * G) * (4 * G) + lane * G + inside


@triton.jit
def in_runs(x, M: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    """Rows, runs of a lane, pairs, lanes, the two of a pair."""
    return tl.reshape(x, (M, N // (4 * G), G // 2, 4, 2))


@triton.jit
def added(x, M: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    """The sum of each run: (rows, runs, lanes)."""
    return tl.sum(tl.sum(in_runs(x, M, N, G), 4), 2)


@triton.jit
def lane_sums(x, M: tl.constexpr, N: tl.constexpr, G: tl.constexpr, CHAINED: tl.constexpr):
    """The sum of each lane: (rows, lanes). CHAINED: as one chain of multiply-adds where x is a
    product. In the masked kernel that chain came out wrong on a GPU (Triton 3.6, cause unknown),
    and in no other; `benchmarks/gpu/correct.py` compares them all."""
    if not CHAINED:
        return tl.sum(added(x, M, N, G), 1)
    by_lane = tl.permute(tl.reshape(x, (M, N // 8, 4, 2)), (0, 2, 1, 3))
    return tl.sum(tl.reshape(by_lane, (M, 4, N // 4)), 2)


@triton.jit
def weigh(
    z, start, seen, marks, unit, sums, tops,
    M: tl.constexpr, N: tl.constexpr, G: tl.constexpr,
    GUARDED: tl.constexpr, MARKED: tl.constexpr, CHAINED: tl.constexpr,
):  # fmt: skip
    """The logits of keys `start..start+N-1` into the running numbers of their rows. Returns these,
    e, and the factor of all earlier e."""
    best, whole, shifted, apart = sums
    own, second, rest, place, run_bests, run_sums = tops
    tile_bests = tl.max(tl.max(in_runs(z, M, N, G), 4), 2)
    lane_best = tl.max(tile_bests, 1)
    new_best = tl.maximum(best, tl.max(lane_best, 1))
    step = (best - new_best) * unit
    decay = tl.exp2(step)
    distance = tl.fma(z, unit, (-new_best * unit)[:, None])
    if GUARDED:
        distance = tl.where(seen, distance, HIDDEN)
    e = tl.exp2(distance)
    tile_sums = added(e, M, N, G)
    lane_sum = tl.sum(tile_sums, 1)
    fade = decay[:, None]

    moved = lane_best > own
    rest = tl.where(moved, fade * whole, fade * rest + lane_sum)
    second = tl.where(moved, own, tl.maximum(second, lane_best))
    own = tl.maximum(own, lane_best)
    place = tl.where(moved, start, place)
    run_bests = tl.where(moved[:, None, :], tile_bests, run_bests)
    run_sums = tl.where(moved[:, None, :], tile_sums, run_sums)

    shifted = fade * (shifted + step[:, None] * whole) + lane_sums(e * distance, M, N, G, CHAINED)
    whole = fade * whole + lane_sum
    if MARKED:
        apart = fade * apart + lane_sums(e * marks[None, :], M, N, G, CHAINED)
    sums = (new_best, whole, shifted, apart)
    return sums, (own, second, rest, place, run_bests, run_sums), e, decay


@triton.jit
def tile(
    start, rows, q, k_at, v_at, k_stride, v_stride, n, d, dv,
    mask, bias, mask_stride, bias_stride, marks_at, scale, softcap, sums, tops, seen_count, output,
    M: tl.constexpr, N: tl.constexpr, G: tl.constexpr, D: tl.constexpr, V: tl.constexpr, t,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr, MARKED: tl.constexpr,
    GUARDED: tl.constexpr, RAGGED: tl.constexpr,
):  # fmt: skip
    """Keys `start..start+N-1`. GUARDED: some of them may be hidden from some row, or not there."""
    columns = key_order(N, G)
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
    sums, tops, e, decay = weigh(
        z, start, seen, marks, unit, sums, tops, M, N, G, GUARDED, MARKED, not MASKED
    )
    v = load_rows(v_at + start * v_stride, columns, there, v_stride, dv, V, GUARDED or RAGGED)
    output = tl.dot(e.to(v.dtype), v, output * decay[:, None])
    return sums, tops, seen_count, output


@triton.jit
def before_any_key(M: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    """The running numbers of `weigh` at the start."""
    lowest = tl.full((M, 4), HIDDEN, tl.float32)
    nothing = tl.zeros((M, 4), tl.float32)
    per_run = tl.zeros((M, N // (4 * G), 4), tl.float32)
    places = tl.zeros((M, 4), tl.int32)
    sums = (tl.full((M,), HIDDEN, tl.float32), nothing, nothing, nothing)
    return sums, (lowest, lowest, nothing, places, per_run + HIDDEN, per_run)


@triton.jit
def where_masks_begin(
    block, n, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr
):
    """Tiles of which every row sees every key come first, in a loop without a comparison: where
    these end, and where the last key is that some row sees."""
    end = n
    open_keys = n
    if CAUSAL:
        end = tl.minimum(n, (block + 1) * M)
        open_keys = tl.minimum(n, block * M + 1)
    return 0 if MASKED else open_keys // N * N, end


@triton.jit
def store_numbers(at, layer, sums, margin, leak, unit, real):
    """The rows' numbers that need no key again, each array `layer` entries after the one before."""
    best, _, shifted, apart = sums
    total = leak + 1.0
    # The top key's own distance is 0 but for the rounding of the multiply-add.
    rounding = tl.where(best > HIDDEN / 2, tl.fma(best, unit, -best * unit), 0.0)
    exact = tl.sum(shifted, 1) - rounding
    tl.store(at, best, mask=real)
    tl.store(at + layer, margin, mask=real)
    tl.store(at + 2 * layer, leak, mask=real)
    tl.store(at + 3 * layer, exact * LN2 / total, mask=real)
    tl.store(at + 4 * layer, tl.sum(apart, 1) / total, mask=real)


@triton.jit
def store_gaps(at, layer, output, value, mean_at, dv, real, V: tl.constexpr):
    """Squared distances of the output and of the mean value from the top value: half precision
    would round the first away later."""
    dims = tl.arange(0, V)
    inside = dims < dv
    mean = tl.load(mean_at + dims, mask=inside, other=0.0)
    gap = output - value
    from_mean = tl.where(inside[None, :], value - mean[None, :], 0.0)
    tl.store(at, tl.sum(gap * gap, 1), mask=real)
    tl.store(at + layer, tl.sum(from_mean * from_mean, 1), mask=real)


@triton.jit
def attention_rows(
    q, k, v, output_at, numbers, top_at, seen_at, marks, means, partners, mask, bias,
    q_head, q_row, k_head, k_row, v_head, v_row, output_head, output_row,
    mask_head, mask_row, bias_head, bias_row,
    h, t, n, d, dv, group, scale, softcap,
    M: tl.constexpr, N: tl.constexpr, G: tl.constexpr, D: tl.constexpr, V: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr, MARKED: tl.constexpr,
    RAGGED: tl.constexpr,
):  # fmt: skip
    """One head's queries in blocks of M. `numbers` is (9, h, t), see `launch.NUMBERS`; `means` are
    the mean values (h/g, v), and `partners` (2, t) two keys of each row whose weight is asked
    for."""
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

    sums, tops = before_any_key(M, N, G)
    seen_count = tl.zeros((M,), tl.int32)
    output = tl.zeros((M, V), tl.float32)

    unmasked, end = where_masks_begin(block, n, M, N, CAUSAL, MASKED)
    for start in range(0, unmasked, N):
        sums, tops, seen_count, output = tile(
            start, rows, queries, k_at, v_at, k_row, v_row, n, d, dv, mask_at, bias_at,
            mask_row, bias_row, marks, scale, softcap, sums, tops, seen_count, output,
            M, N, G, D, V, t, CAUSAL, MASKED, BIASED, MARKED, False, RAGGED,
        )  # fmt: skip
    for start in range(unmasked, end, N):
        sums, tops, seen_count, output = tile(
            start, rows, queries, k_at, v_at, k_row, v_row, n, d, dv, mask_at, bias_at,
            mask_row, bias_row, marks, scale, softcap, sums, tops, seen_count, output,
            M, N, G, D, V, t, CAUSAL, MASKED, BIASED, MARKED, True, RAGGED,
        )  # fmt: skip

    best, whole, _, _ = sums
    asked = load_rows(q + head * q_head, rows, real, q_row, d, D, True).to(tl.float32)
    leak, margin, top = of_the_top(
        asked, rows, k_at, k_row, n, t, d, mask_at, bias_at, mask_row, bias_row, scale, softcap,
        best, whole, tops, M, N, G, D, CAUSAL, MASKED, BIASED,
    )  # fmt: skip
    total = leak + 1.0
    at = numbers + head * t + rows
    layer = tl.cast(h, tl.int64) * t
    store_numbers(at, layer, sums, margin, leak, unit_of(scale, softcap, BIASED), real)
    tl.store(top_at + head * t + rows, top, mask=real)
    store_partners(
        at + 5 * layer, layer, partners, t, asked, rows, k_at, k_row, d, mask_at, bias_at,
        mask_row, bias_row, scale, softcap, best, total, D, CAUSAL, MASKED, BIASED,
    )  # fmt: skip

    output = output / total[:, None]
    value = load_rows(v_at, top, real, v_row, dv, V, True).to(tl.float32)
    store_gaps(at + 7 * layer, layer, output, value, means + key_head * dv, dv, real, V)
    if MASKED:
        tl.store(seen_at + head * t + rows, seen_count, mask=real)
    store_rows(output_at + head * output_head, rows, real, output_row, dv, output, V)
