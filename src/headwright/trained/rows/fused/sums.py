# What a kernel is given is no longer Python.
# pyright: reportArgumentType=false, reportCallIssue=false, reportGeneralTypeIssues=false
"""The row measures of `measures.from_rows` summed over parts of a text, in one kernel: as plain
operations they are sixty launches a layer, each over a few numbers per row."""

from __future__ import annotations

import triton
import triton.language as tl

# The smallest normal number of single precision: no leak is taken to be below it.
SMALLEST = tl.constexpr(1.1754943508222875e-38)


@triton.jit
def log1p(x):
    """ln(1 + x) for x >= 0, by its series where 1 + x has lost digits of x."""
    series = x * (1.0 - x * (0.5 - x * (0.33333333 - x * 0.25)))
    return tl.where(x < 0.03, series, tl.log(1.0 + x))


@triton.jit
def add_rows(total, values, chosen):
    return total + tl.where(chosen, values, 0.0)


@triton.jit
def store_sums(to, step, totals):
    for i in tl.static_range(len(totals)):
        tl.store(to + i * step, tl.sum(totals[i], 0))


@triton.jit
def of_a_row(leak, shifted, rivals):
    """Entropy, effective keys and sharpness."""
    # H = ln Z - sum p (z - z_max), with Z = 1 + leak
    entropy = log1p(leak) - shifted
    # beta = ln((n - 1) / leak); `row_sums` has it for a leak of LEAK too
    beta = tl.log(rivals / tl.where(leak > SMALLEST, leak, SMALLEST))
    return entropy, tl.exp(entropy), beta


@triton.jit
def row_sums(
    numbers, seen_at, real_queries, sums, margins,
    seen_head, h, t, length, needed,
    PARTS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """`sums` (13, h, PARTS), in the order of `measures.sums.summed`, of parts of `length` rows; and
    `margins` (h, t), NaN where a row sees fewer than two keys. `numbers` is (9, h, t), see
    `launch.NUMBERS`; `needed` is (1 - LEAK) / LEAK."""
    part = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    layer = tl.cast(h, tl.int64) * t
    nothing = tl.zeros((ROWS,), tl.float32)
    entropies = nothing
    effective = nothing
    largest = nothing
    firsts = nothing
    apart = nothing
    averages = nothing
    gaps = nothing
    sharpness = nothing
    to_copy = nothing
    copied = nothing
    from_mean = nothing
    count = nothing
    contests = nothing
    end = tl.minimum(t, (part + 1) * length)
    for start in range(part * length, end, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = rows < end
        at = numbers + head * t + rows
        margin = tl.load(at + layer, mask=inside, other=0.0)
        leak = tl.load(at + 2 * layer, mask=inside, other=0.0)
        shifted = tl.load(at + 3 * layer, mask=inside, other=0.0)
        separators = tl.load(at + 4 * layer, mask=inside, other=0.0)
        first = tl.load(at + 5 * layer, mask=inside, other=0.0)
        gap = tl.load(at + 7 * layer, mask=inside, other=0.0)
        mean_gap = tl.load(at + 8 * layer, mask=inside, other=0.0)
        seen = tl.load(seen_at + head * seen_head + rows, mask=inside, other=0)
        real = inside & (tl.load(real_queries + rows, mask=inside, other=0) != 0)
        contested = real & (seen >= 2)
        rivals = tl.where(seen >= 2, seen - 1, 1).to(tl.float32)

        entropy, keys, beta = of_a_row(leak, shifted, rivals)
        entropies = add_rows(entropies, entropy, real)
        effective = add_rows(effective, keys, real)
        largest = add_rows(largest, 1.0 / (1.0 + leak), real)
        firsts = add_rows(firsts, first, real)
        apart = add_rows(apart, separators, real)
        averages = add_rows(averages, (1.0 + leak) / keys, real)
        gaps = add_rows(gaps, margin, contested)
        sharpness = add_rows(sharpness, beta, contested)
        to_copy = add_rows(to_copy, tl.log(rivals * needed), contested)
        copied = add_rows(copied, gap, real)
        from_mean = add_rows(from_mean, mean_gap, real)
        count += real.to(tl.float32)
        contests += contested.to(tl.float32)
        known = tl.where(contested, margin, float("nan"))
        tl.store(margins + head * t + rows, known, mask=inside)

    step = tl.cast(h, tl.int64) * PARTS
    to = sums + head * PARTS + part
    store_sums(to, step, (entropies, effective, largest, firsts, apart, averages))
    store_sums(to + 6 * step, step, (gaps, sharpness, to_copy, copied, from_mean))
    store_sums(to + 11 * step, step, (count, contests))
