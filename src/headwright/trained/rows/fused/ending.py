# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false
"""What is left for the end of a row: the top key within the run that has it, and the weights of
single keys, a gather and a dot product each."""

from __future__ import annotations

import triton
import triton.language as tl

from headwright.trained.rows.fused.tiles import (
    HIDDEN,
    LN2,
    load_rows,
    logits,
    powers,
    unit_of,
    visible,
)

# Beyond every key.
NOWHERE = tl.constexpr(2**30)


@triton.jit
def logit_of(
    keys, inside, asked, rows, k_at, k_row, d, mask, bias, mask_row, bias_row, scale, softcap,
    D: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """z of one key per row, and whether it is seen."""
    theirs = load_rows(k_at, keys, inside, k_row, d, D, True).to(tl.float32)
    long_rows = rows.to(tl.int64)
    product = tl.sum(asked * theirs, 1)
    z = logits(product, long_rows * bias_row + keys, inside, bias, scale, softcap, BIASED)
    return z, visible(rows, keys, long_rows * mask_row + keys, inside, mask, CAUSAL, MASKED)


@triton.jit
def store_partners(
    at, layer, partners, t, asked, rows, k_at, k_row, d, mask, bias, mask_row, bias_row,
    scale, softcap, best, total,
    D: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """p = 2^(y - best) / total of the two `partners` (2, t) of each row, where -1 is no key."""
    real = rows < t
    unit = unit_of(scale, softcap, BIASED)
    for kind in range(2):
        keys = tl.load(partners + kind * t + rows, mask=real, other=-1)
        z, seen = logit_of(
            keys, keys >= 0, asked, rows, k_at, k_row, d, mask, bias, mask_row, bias_row,
            scale, softcap, D, CAUSAL, MASKED, BIASED,
        )  # fmt: skip
        tl.store(at + kind * layer, powers(z, best, unit, seen) / total, mask=real)


@triton.jit
def best_run(best, whole, tops, N: tl.constexpr, G: tl.constexpr):
    """Of each row the number of the run with the top key, the first of equal ones; the largest
    logit outside it; and the sum of e there. The run's lane had the row's best when its slice was
    kept, so that the slice's sums need no factor."""
    own, second, rest, place, run_bests, run_sums = tops
    lanes = tl.arange(0, 4)[None, :]
    runs = tl.arange(0, N // (4 * G))[None, :, None]
    is_best = run_bests == own[:, None, :]
    first = tl.min(tl.where(is_best, runs, N), 1)
    first = tl.where(first < N, first, 0)  # a NaN has no place
    number = place // G + first * 4 + lanes
    run = tl.min(tl.where(own == best[:, None], number, NOWHERE), 1)
    run = tl.where(run < NOWHERE, run, 0)

    wins = number == run[:, None]
    beside = wins[:, None, :] & (runs != first[:, None, :])
    rival = tl.max(tl.where(wins, second, own), 1)
    rival_beside = tl.max(tl.max(tl.where(beside, run_bests, HIDDEN), 1), 1)
    outside = tl.sum(tl.where(wins, rest, whole), 1)
    outside += tl.sum(tl.sum(tl.where(beside, run_sums, 0.0), 1), 1)
    return run, tl.maximum(rival, rival_beside), outside


@triton.jit
def of_the_top(
    asked, rows, k_at, k_row, n, t, d, mask, bias, mask_row, bias_row, scale, softcap,
    best, whole, tops, M: tl.constexpr, N: tl.constexpr, G: tl.constexpr, D: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """Leak, margin and place of the top key. The G logits of its run are computed again, and only
    compared with each other."""
    unit = unit_of(scale, softcap, BIASED)
    run, rival, outside = best_run(best, whole, tops, N, G)
    top = tl.zeros((M,), tl.int32)
    top_z = tl.full((M,), HIDDEN, tl.float32)
    second = tl.full((M,), HIDDEN, tl.float32)
    others = tl.zeros((M,), tl.float32)
    for i in range(G):
        keys = run * G + i
        inside = (rows < t) & (keys < n)
        z, seen = logit_of(
            keys, inside, asked, rows, k_at, k_row, d, mask, bias, mask_row, bias_row,
            scale, softcap, D, CAUSAL, MASKED, BIASED,
        )  # fmt: skip
        better = seen & (z > top_z)
        e = powers(z, top_z, unit, seen & ~better)
        faded = (others + 1.0) * powers(top_z, z, unit, better)
        others = tl.where(better, faded, others + e)
        second = tl.where(better, top_z, tl.where(seen, tl.maximum(second, z), second))
        top = tl.where(better, keys, top)
        top_z = tl.where(better, z, top_z)

    leak = outside + others
    far = tl.where(rival <= HIDDEN / 2, float("inf"), best - rival)
    near = tl.where(second <= HIDDEN / 2, float("inf"), top_z - second)
    return leak, tl.minimum(far, near) * (unit * LN2), top
