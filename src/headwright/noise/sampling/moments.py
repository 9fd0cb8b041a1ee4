"""Mean and covariance by sampling, in logit space: one normal number per noisy key and head, never
a d-dimensional key. Any law of the keys, correlated ones too.

The standard error is the spread between independent replicates (`normals.py`), so it is as honest
for scrambled Sobol points, whose error falls almost like 1/samples, as for plain ones. Reweighting
and control variates were not taken: the exact engine is the variance reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright.noise.moments import Moments, in_precision
from headwright.noise.problem import Problem, in_double, value_covariance
from headwright.noise.rounding import COVARIANCE, MEAN, rounding
from headwright.noise.sampling.noisy_keys import Reduced, reduced
from headwright.noise.sampling.normals import Plan, plan, power_of_two
from headwright.result import to_numpy
from headwright.types import Array, Float

SAMPLES = 2**16
REPLICATES = 32
MEMORY = 256 * 2**20

Progress = Callable[[int, int], None]  # called with samples done, samples in all
# Normal numbers -> weights of the noisy keys and the rest
Weigh = Callable[[Reduced, Array], Array]


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
    small = reduced(double)
    points = plan(small.dimension, samples=samples, replicates=replicates, kind=kind, seed=seed)
    found = estimate(double, small, points, memory=memory, progress=progress)
    return in_precision(_with_rounding(double, found), problem.values)


def _with_rounding(problem: Problem, found: Moments) -> Moments:
    """Standard errors that know of rounding: with huge logits it may do more than chance does."""
    law, moved = problem.law, 0.0
    for h, mix in enumerate(to_numpy(problem.mix).tolist()):
        m = to_numpy(law.means[h, ...])
        m = m if problem.mask is None else np.where(to_numpy(problem.mask[h, ...]), m, -np.inf)
        weights = (
            np.zeros(0)
            if found.heads_weights_mean is None
            else to_numpy(found.heads_weights_mean[h, ...])
        )
        known = min(1.0, found.error)
        moved += abs(mix) * rounding(
            law, h, m=m, undecided=lambda weights=weights: weights, known=known
        )
    apart = float(problem.xp.max(problem.xp.abs(problem.values - found.mean)))
    mean = found.mean_error + MEAN * moved * apart
    covariance = found.covariance_error + COVARIANCE * moved * apart * apart
    error = max(found.error + COVARIANCE * moved, mean, covariance)
    return replace(found, mean_error=mean, covariance_error=covariance, error=error)


def estimate(
    problem: Problem,
    small: Reduced,
    points: Plan,
    *,
    weigh: Weigh = Reduced.weights,
    memory: float = MEMORY,
    progress: Progress | None = None,
) -> Moments:
    """Moments over the points of a plan. `weigh` turns normal numbers into weights: softmax, or its
    limit."""
    origin = problem.xp.sum(problem.mix) * problem.xp.mean(problem.values, axis=0)
    sums: list[list[Array]] = [[] for _ in range(points.replicates)]
    for replicate, alpha in weights_drawn(
        small, points, weigh=weigh, memory=memory, progress=progress
    ):
        new = _sums(problem, small, alpha, origin)
        old = sums[replicate] or [0.0] * len(new)
        sums[replicate] = [total + term for total, term in zip(old, new, strict=True)]
    stacked = [problem.xp.stack(one) / points.size for one in zip(*sums, strict=True)]
    return _moments(problem, small, _Averages(origin, *stacked), points)


def weights_drawn(
    small: Reduced,
    points: Plan,
    *,
    weigh: Weigh = Reduced.weights,
    memory: float = MEMORY,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Float[Array, "s h k_plus_1"]]]:
    """`(replicate, weights of the noisy keys and of the rest)` in batches that fit into `memory`
    bytes."""
    xp = compat.array_namespace(small.means)
    (h, k), v = small.means.shape, small.values.shape[1]
    # Live at once per sample: the numbers, some copies of the logits, the outputs.
    per_sample = 8 * (3 * points.dimension + h * (5 * (k + 1) + 2 * v))
    rows = int(inputs.number("memory", memory, low=0)) // per_sample
    done = 0
    for replicate, g in points.blocks(max(1, power_of_two(rows + 1) // 2)):
        g = xp.asarray(g, dtype=small.means.dtype, device=compat.device(small.means))
        yield replicate, weigh(small, g)
        done += g.shape[0]
        if progress is not None:
            progress(done, points.samples)


class _Averages(NamedTuple):
    """What is averaged over the samples, one row per replicate R. Outputs are taken relative to
    `origin`, the output of uniform weights, so that squares lose no digits."""

    origin: Float[Array, "v"]
    output: Float[Array, "R v"]
    output_squared: Float[Array, "R v v"]
    weights: Float[Array, "R h k_plus_1"]
    mixed_squared: Float[Array, "R k"]
    rest_squared: Float[Array, "R h h"]


def _sums(problem: Problem, small: Reduced, alpha: Array, origin: Array) -> list[Array]:
    """The sums over one batch, in the order of `_Averages`."""
    xp, mix = problem.xp, problem.mix[:, None]
    c = xp.sum(mix * small.outputs(alpha), axis=1) - origin
    mixed = xp.sum(mix * alpha[:, :, :-1], axis=1)
    rest = alpha[:, :, -1]
    return [
        xp.sum(c, axis=0),
        c.T @ c,
        xp.sum(alpha, axis=0),
        xp.sum(mixed**2, axis=0),
        rest.T @ rest,
    ]


def _moments(problem: Problem, small: Reduced, seen: _Averages, points: Plan) -> Moments:
    xp = problem.xp
    output = xp.mean(seen.output, axis=0)
    # Second moments about the pooled mean, per replicate: their average is the covariance.
    about = seen.output[:, :, None] * output[None, None, :]
    covariance = (
        seen.output_squared - about - xp.permute_dims(about, (0, 2, 1)) + output[:, None] * output
    )
    if problem.value_noise is not None:
        pairs = zip(seen.mixed_squared, seen.rest_squared, strict=True)
        squares = [small.squares(problem.mix, mixed, rest) for mixed, rest in pairs]
        covariance = covariance + xp.stack([value_covariance(problem, one) for one in squares])
    errors = _errors(problem.mix, seen, covariance)
    return Moments(
        mean=seen.origin + output,
        covariance=xp.mean(covariance, axis=0),
        error=max(errors),
        method="sampled",
        message=f"{points.samples} {points.kind} samples in {points.replicates} replicates; standard errors",
        mean_error=errors[0],
        covariance_error=errors[1],
        **of_weights(problem, small, *(xp.mean(x, axis=0) for x in seen[3:])),
    )


def of_weights(
    problem: Problem,
    small: Reduced,
    heads: Float[Array, "h k_plus_1"],
    mixed_squared: Float[Array, "k"],
    rest_squared: Float[Array, "h h"],
) -> dict[str, Array]:
    """The fields of `Moments` that are about weights and heads, from averages over the reduced
    keys."""
    xp, mix = problem.xp, problem.mix
    heads_weights = small.expand(heads[:, :-1], heads[:, -1:] * small.fixed_weights)
    weights = xp.tensordot(mix, heads_weights, axes=1)
    squares = small.squares(mix, mixed_squared, rest_squared)
    return {
        "weights_mean": weights,
        "weights_variance": xp.clip(squares - weights * weights, min=0.0),
        "heads_mean": heads[:, :-1] @ small.values + heads[:, -1:] * small.fixed_values,
        "heads_weights_mean": heads_weights,
    }


def _errors(mix: Array, seen: _Averages, covariance: Array) -> tuple[float, float, float, float]:
    """The largest standard error of the mean, the covariance, the weights' means and their
    variances."""
    xp = compat.array_namespace(mix)
    whole = float(xp.sum(xp.abs(mix)))
    weights = whole * standard_error(seen.weights)
    squares = max(standard_error(seen.mixed_squared), whole**2 * standard_error(seen.rest_squared))
    return (
        standard_error(seen.output),
        standard_error(covariance),
        weights,
        squares + 2 * whole * weights,
    )


def standard_error(replicates: Float[Array, "R *entries"]) -> float:
    """The largest standard error of an average over independent replicates (axis 0)."""
    xp, R = compat.array_namespace(replicates), replicates.shape[0]
    if 0 in replicates.shape:
        return 0.0
    return float(xp.max(xp.std(replicates, axis=0, correction=1))) / math.sqrt(R)
