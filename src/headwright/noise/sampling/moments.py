"""Mean and covariance by sampling, in logit space: one normal number per noisy key and head, never
a d-dimensional key. Any law of the keys, correlated ones too.

The standard error is taken between independent replicates (`normals`), so it is as honest for
scrambled Sobol points, whose error falls almost like 1/samples, as for plain ones. What is too rare
to be drawn is added to it (`unseen`). Reweighting and control variates were not taken: the exact
engine is the variance reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.noise import budget
from headwright.noise.problem import Problem, in_double, value_covariance
from headwright.noise.record import Moments, in_precision, largest
from headwright.noise.rounding import rounding
from headwright.noise.sampling.noisy_keys import DrawnWeights, NoisyKeys, noisy_keys
from headwright.noise.sampling.normals import (
    REPLICATES,
    SAMPLES,
    PointSet,
    point_set,
    power_of_two,
)
from headwright.noise.sampling.unseen import Unseen, unseen
from headwright.result import to_numpy
from headwright.types import Array, Float, Mean

MEMORY = 256 * 2**20
_TOO_RARE = ", and an estimate of what is too rare to be drawn"

Progress = Callable[[int, int], None]  # called with samples done, samples in all
# Normal numbers -> weights of the noisy keys and the rest
Weigh = Callable[[NoisyKeys, Array], Array]
MixedSquares = Float[Array, "k"]  # E[(sum_h mix_h alpha_hi)^2] of the noisy keys
RestSquares = Float[Array, "h h"]  # E[R_g R_h] of the fixed keys' total weights


def sampled_moments(
    problem: Problem,
    *,
    samples: Any = SAMPLES,
    seed: int = 0,
    kind: str = "sobol",
    replicates: int = REPLICATES,
    memory: float = MEMORY,
    progress: Progress | None = None,
) -> Moments:
    """Moments by sampling; `error` is the largest standard error of any entry. `kind` is "sobol" or
    "plain", `memory` a bound in bytes on what one batch takes. `samples` is rounded up to
    `replicates` powers of two."""
    double = in_double(problem)
    small = noisy_keys(double)
    points = point_set(
        small.dimension, samples=samples, replicates=replicates, kind=kind, seed=seed
    )
    found = estimate(double, small, points, memory=memory, progress=progress)
    return in_precision(_with_rounding(double, found), problem.values)


def _with_rounding(problem: Problem, found: Moments) -> Moments:
    """Standard errors that know of rounding: with huge logits it may do more than chance does."""
    means = to_numpy(problem.seen(problem.law.means))
    known = min(1.0, found.error)
    moved = 0.0
    for h, mix in enumerate(to_numpy(problem.mix).tolist()):
        weights = np.zeros(0)
        if found.heads_weights_mean is not None:
            weights = to_numpy(found.heads_weights_mean[h, ...])
        off = rounding(
            problem.law, h, m=means[h], undecided=lambda weights=weights: weights, known=known
        )
        moved += abs(mix) * off

    xp = problem.xp
    apart = float(xp.max(xp.abs(problem.values - found.mean)))
    mean = found.mean_error + budget.MOVED_MEAN * moved * apart
    covariance = found.covariance_error + budget.MOVED_COVARIANCE * moved * apart * apart
    error = max(found.error + budget.MOVED_COVARIANCE * moved, mean, covariance)
    return replace(found, mean_error=mean, covariance_error=covariance, error=error)


@np.errstate(over="ignore", invalid="ignore")  # what is no number in the end is refused there
def estimate(
    problem: Problem,
    small: NoisyKeys,
    points: PointSet,
    *,
    in_limit: Weigh | None = None,
    memory: float = MEMORY,
    progress: Progress | None = None,
) -> Moments:
    """Moments over a set of points, by softmax or by what takes its place at infinite sharpness."""
    xp = problem.xp
    origin = xp.sum(problem.mix) * xp.mean(problem.values, axis=0)
    sums: list[list[Array]] = [[] for _ in range(points.replicates)]
    weigh = in_limit or NoisyKeys.weights
    drawn = weights_drawn(small, points, weigh=weigh, memory=memory, progress=progress)
    for replicate, alpha in drawn:
        new = _sums(problem, small, alpha, origin)
        old = sums[replicate] or [0.0] * len(new)
        sums[replicate] = [total + term for total, term in zip(old, new, strict=True)]
    stacked = [xp.stack(one) / points.size for one in zip(*sums, strict=True)]
    averages = _Averages(origin, *stacked)
    mean_weights = to_numpy(xp.mean(averages.weights, axis=0))
    rare = unseen(small, mean_weights, points.samples, limit=in_limit is not None)
    return _moments(problem, small, averages, points, rare)


def weights_drawn(
    small: NoisyKeys,
    points: PointSet,
    *,
    weigh: Weigh = NoisyKeys.weights,
    memory: float = MEMORY,
    progress: Progress | None = None,
) -> Iterator[tuple[int, DrawnWeights]]:
    """`(replicate, weights of the noisy keys and of the rest)` in batches that fit into `memory`
    bytes."""
    xp = compat.array_namespace(small.means)
    h, k = small.means.shape
    # Live at once per sample: the numbers, some copies of the logits, the outputs.
    per_head = 5 * (k + 1) + 2 * small.values.shape[1]
    per_sample = 8 * (3 * points.dimension + h * per_head)
    rows = int(inputs.number("memory", memory, low=0)) // per_sample
    done = 0
    for replicate, block in points.blocks(max(1, power_of_two(rows + 1) // 2)):
        g = xp.asarray(block, dtype=small.means.dtype, device=compat.device(small.means))
        yield replicate, weigh(small, g)
        done += g.shape[0]
        if progress is not None:
            progress(done, points.samples)


class _Averages(NamedTuple):
    """What is averaged over the samples, one row per replicate R. Outputs are taken relative to
    `origin`, the output of uniform weights, so that squares lose no digits."""

    origin: Mean
    output: Float[Array, "R v"]
    output_squared: Float[Array, "R v v"]
    weights: Float[Array, "R h k_plus_1"]
    mixed_squared: Float[Array, "R k"]
    rest_squared: Float[Array, "R h h"]


def _sums(problem: Problem, small: NoisyKeys, alpha: Array, origin: Array) -> list[Array]:
    """The sums over one batch, in the order of `_Averages`."""
    xp = problem.xp
    mix = problem.mix[:, None]
    outputs = xp.sum(mix * small.outputs(alpha), axis=1)
    c = outputs - origin
    mixed = xp.sum(mix * alpha[:, :, :-1], axis=1)
    rest = alpha[:, :, -1]
    return [
        xp.sum(c, axis=0),
        c.T @ c,
        xp.sum(alpha, axis=0),
        xp.sum(mixed**2, axis=0),
        rest.T @ rest,
    ]


def _moments(
    problem: Problem, small: NoisyKeys, seen: _Averages, points: PointSet, rare: Unseen
) -> Moments:
    """The record, from averages over replicates."""
    xp = problem.xp
    output = xp.mean(seen.output, axis=0)
    # Second moments about the pooled mean, per replicate: their average is the covariance.
    about = seen.output[:, :, None] * output[None, None, :]
    transposed = xp.permute_dims(about, (0, 2, 1))
    covariance = seen.output_squared - about - transposed + output[:, None] * output
    if problem.value_noise is not None:
        pairs = zip(seen.mixed_squared, seen.rest_squared, strict=True)
        squares = [small.squares(problem.mix, mixed, rest) for mixed, rest in pairs]
        noise = [value_covariance(problem, one) for one in squares]
        covariance = covariance + xp.stack(noise)

    standard = _errors(problem.mix, seen, covariance)
    spread = math.sqrt(max(0.0, largest(xp.mean(covariance, axis=0))))
    missed = _missed(problem, rare, spread)
    errors = [sum(both) for both in zip(standard, missed, strict=True)]
    drawn = f"{points.samples} {points.kind} samples in {points.replicates} replicates"
    averages = [xp.mean(x, axis=0) for x in seen[3:]]
    weights = weights_moments(problem, small, *averages)
    return Moments(
        mean=seen.origin + output,
        covariance=xp.mean(covariance, axis=0),
        error=max(errors),
        method="sampled",
        message=f"{drawn}; standard errors{_TOO_RARE if missed[0] > standard[0] else ''}",
        mean_error=errors[0],
        covariance_error=errors[1],
        **weights,
    )


def weights_moments(
    problem: Problem,
    small: NoisyKeys,
    heads: Float[Array, "h k_plus_1"],
    mixed_squared: MixedSquares,
    rest_squared: RestSquares,
) -> dict[str, Array]:
    """The fields of `Moments` that are about weights and heads, from averages over the noisy keys
    and the rest."""
    xp = problem.xp
    noisy = heads[:, :-1]
    rest = heads[:, -1:]
    heads_weights = small.expand(noisy, rest * small.fixed_weights)
    weights = xp.tensordot(problem.mix, heads_weights, axes=1)
    squares = small.squares(problem.mix, mixed_squared, rest_squared)
    return {
        "weights_mean": weights,
        "weights_variance": xp.clip(squares - weights * weights, min=0.0),
        "heads_mean": noisy @ small.values + rest * small.fixed_values,
        "heads_weights_mean": heads_weights,
    }


def _errors(mix: Array, seen: _Averages, covariance: Array) -> tuple[float, float, float, float]:
    """The largest standard error of the mean, the covariance, the weights' means and their
    variances."""
    xp = compat.array_namespace(mix)
    whole = float(xp.sum(xp.abs(mix)))
    weights = whole * standard_error(seen.weights)
    mixed = standard_error(seen.mixed_squared)
    rest = whole**2 * standard_error(seen.rest_squared)
    variances = max(mixed, rest) + 2 * whole * weights
    return standard_error(seen.output), standard_error(covariance), weights, variances


def _missed(problem: Problem, rare: Unseen, spread: float) -> tuple[float, float, float, float]:
    """The same for what no draw may have seen. Where head h is x away from the value of its leader,
    the output is a + mix_h x away from its mean: on average a is `mix_h away_h`, give or take
    `spread`."""
    mix = np.abs(to_numpy(problem.mix))
    weights = float(mix @ rare.weights)
    mean = mix * rare.mean
    squares = mix**2 @ rare.square + 2 * mean @ (mix * rare.away + spread)
    variances = 2 * float(mix.sum()) * weights
    noise = 0.0 if problem.value_noise is None else largest(problem.value_noise)
    return float(mean.sum()), float(squares) + variances * noise, weights, variances


def standard_error(replicates: Float[Array, "R *entries"]) -> float:
    """The largest standard error of an average over independent replicates (axis 0)."""
    if 0 in replicates.shape:
        return 0.0
    xp = compat.array_namespace(replicates)
    size = largest(replicates)
    if not 0.0 < size < math.inf:
        return size
    # Squares of squares of values may be beyond double precision.
    deviations = xp.std(replicates / size, axis=0, correction=1)
    return size * float(xp.max(deviations)) / math.sqrt(replicates.shape[0])
