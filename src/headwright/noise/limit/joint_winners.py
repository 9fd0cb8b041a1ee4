"""Heads at infinite sharpness that cannot be separated: the joint law of their winners, by the best
route.

One head is the argmax of independent Gaussians: an exact integral (`winner`). Heads that hang on
one random number are constant between a few values of it: exact, too. Anything else is sampled,
with a standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import ndtr

from headwright import attention
from headwright.keys import CentredLaw
from headwright.noise.limit.winner import race
from headwright.noise.problem import Problem
from headwright.noise.record import Moments
from headwright.noise.sampling.moments import estimate, weights_moments
from headwright.noise.sampling.noisy_keys import (
    DrawnWeights,
    NoisyKeys,
    Numbers,
    log_sum_exp,
    noisy_keys,
)
from headwright.noise.sampling.normals import point_set
from headwright.result import to_numpy
from headwright.types import Array, Float, PerHead

# Logits this many roundings apart, relative to the largest, are a tie that rounding has disturbed;
# deviations this small are zeros.
TIE = 64


def joint_winners(problem: Problem, *, samples: Any, seed: int) -> Moments:
    """Moments in the limit of all heads of `problem` together."""
    sharp = _sharpened(problem)
    small = sharp.small
    if problem.heads == 1 and small.shared is None:
        return _one_head(problem, small)
    if small.dimension == 1 and small.shared is None:
        return _one_number(problem, sharp)
    points = point_set(small.dimension, samples=samples, seed=seed)
    return estimate(problem, small, points, in_limit=sharp.weights)


def leading(problem: Problem) -> CentredLaw:
    """The law of the logits that grow: biases do not, they only break ties; and deviations that
    rounding alone can produce are zeros, because a race must know which keys are fixed."""
    xp = problem.xp
    law = problem.law
    if problem.scores.bias is not None:
        law = replace(problem, scores=replace(problem.scores, bias=None)).law
    real = xp.sqrt(law.variances) > tie_tolerances(problem, law)[:, None]

    def kept(array: Array, where: Array) -> Array:
        """Zeros where the deviation is only rounding."""
        return xp.where(where, array, xp.zeros_like(array))

    return replace(
        law,
        variances=kept(law.variances, real),
        _cross=lambda: kept(law.cross, real[:, None, :] & real[None, :, :]),
    )


def tie_tolerances(problem: Problem, law: CentredLaw) -> PerHead:
    """Logits closer than this are a tie, head by head."""
    xp = compat.array_namespace(law.means)
    logits = law.means + law.shift[:, None]
    sizes = xp.maximum(xp.abs(logits), xp.sqrt(law.variances))
    return xp.max(sizes, axis=1) * (TIE * problem.precision)


@dataclass(frozen=True)
class _Sharpened:
    """The noisy keys in the limit. `small` has the best fixed logit in place of the log-sum-exp,
    and the shares of the fixed keys that tie there; `log_shares[h, i]` is what a key counts in a
    tie."""

    small: NoisyKeys
    tolerances: PerHead
    log_shares: Float[Array, "h k_plus_1"]

    def weights(self, small: NoisyKeys, g: Numbers) -> DrawnWeights:
        """`alpha_i ~ e^{bias_i}` among the keys with the largest logit."""
        xp = compat.array_namespace(g)
        z = small.logits(g)
        largest = xp.max(z, axis=-1, keepdims=True)
        first = z >= largest - self.tolerances[:, None]
        counted = xp.where(first, self.log_shares, xp.full_like(z, -xp.inf))
        return attention.weights(counted)


def _sharpened(problem: Problem) -> _Sharpened:
    """The noisy keys, and what becomes of the fixed ones."""
    xp = problem.xp
    law = leading(problem)
    small = noisy_keys(problem, law)
    tolerances = tie_tolerances(problem, law)
    bias = problem.scores.bias
    bias = xp.zeros_like(law.means) if bias is None else bias
    of_rest = small.fixed_logits
    if small.fixed.shape[0]:
        fixed = xp.take(problem.seen(law.means), small.fixed, axis=1)
        best = xp.max(fixed, axis=1)
        nearly_best = best - tolerances
        tie = (fixed >= nearly_best[:, None]) & xp.isfinite(fixed)
        fixed_bias = xp.take(bias, small.fixed, axis=1)
        nothing = xp.full_like(fixed, -xp.inf)
        of_rest, shares = log_sum_exp(xp.where(tie, fixed_bias, nothing))
        values = shares @ xp.take(problem.values, small.fixed, axis=0)
        small = replace(small, fixed_logits=best, fixed_weights=shares, fixed_values=values)
    noisy_bias = xp.take(bias, small.noisy, axis=1)
    return _Sharpened(small, tolerances, xp.concat([noisy_bias, of_rest[:, None]], axis=1))


def _one_head(problem: Problem, small: NoisyKeys) -> Moments:
    """The race of the noisy keys above the best fixed one. Outcomes: a noisy key alone, or the
    fixed rest."""
    xp = problem.xp
    mix = problem.mix[0]
    m = to_numpy(small.means[0, :])
    s = np.abs(to_numpy(small.roots[0, :, 0]))
    visible = np.isfinite(m)
    floor = float(small.fixed_logits[0])
    result = race(m[visible], s[visible], floor=floor)
    chances = np.zeros(len(m) + 1)
    chances[:-1][visible] = result.chances
    chances[-1] = result.none

    P = _like(problem, chances)
    outputs = mix * xp.concat([small.values, small.fixed_values])
    mixed_squared = mix**2 * P[:-1]
    weights = weights_moments(problem, small, P[None, :], mixed_squared, P[-1:, None])
    return _discrete(P, outputs, error=result.error, weights=weights)


def _one_number(problem: Problem, sharp: _Sharpened) -> Moments:
    """One key is random, by one number g. Head h prefers it beyond `g = (best fixed - mean) /
    root`, so all weights are constant between those values: a discrete law with at most h + 1
    outcomes."""
    xp = problem.xp
    small = sharp.small
    mix = problem.mix[:, None]
    steps = _changes(small)
    edges = np.concatenate([[-np.inf], steps, [np.inf]])
    P = _like(problem, np.diff(ndtr(edges)))
    reach = 1.0 + np.abs(steps).max(initial=0.0)
    inner = np.concatenate([[-2 * reach], steps, [2 * reach]])
    between = (inner[1:] + inner[:-1]) / 2

    alpha = sharp.weights(small, _like(problem, between[:, None]))
    noisy = xp.sum(mix * alpha[:, :, :-1], axis=1)
    rest = alpha[:, :, -1]
    heads = xp.tensordot(P, alpha, axes=1)
    rest_squared = (P[:, None] * rest).T @ rest
    weights = weights_moments(problem, small, heads, P @ noisy**2, rest_squared)
    outputs = xp.sum(mix * small.outputs(alpha), axis=1)
    return _discrete(P, outputs, error=0.0, weights=weights)


def _changes(small: NoisyKeys) -> Float[np.ndarray, "steps"]:
    """The values of the one number at which some head changes its winner."""
    roots = to_numpy(small.roots[:, 0, :])
    moving = int(np.argmax(np.abs(roots).max(axis=0)))
    root = roots[:, moving]
    gap = to_numpy(small.fixed_logits - small.means[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(root != 0, gap / root, np.inf)
    return np.unique(steps[np.isfinite(steps)])


def _like(problem: Problem, host: np.ndarray) -> Array:
    """A host array in the library, on the device and in the precision of the problem."""
    values = problem.values
    return problem.xp.asarray(host, dtype=values.dtype, device=compat.device(values))


def _discrete(
    P: Float[Array, "outcomes"],
    outputs: Float[Array, "outcomes v"],
    *,
    error: float,
    weights: dict[str, Array],
) -> Moments:
    """Moments of an output with finitely many values."""
    xp = compat.array_namespace(P)
    mean = P @ outputs
    apart = outputs - mean
    size = float(xp.max(xp.abs(outputs)))
    error = error + float(xp.finfo(P.dtype).eps)
    return Moments(
        mean=mean,
        covariance=apart.T @ (P[:, None] * apart),
        error=error * max(1.0, size, size * size),
        method="limit",
        mean_error=error * size,
        covariance_error=error * size * size,
        **weights,
    )
