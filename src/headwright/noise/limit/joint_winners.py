"""Heads at infinite sharpness that cannot be separated: the joint law of their winners, by the best
route.

One head is the argmax of independent Gaussians: an exact integral (`winner.py`). Heads that hang on
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
from headwright.noise.moments import Moments
from headwright.noise.problem import Problem
from headwright.noise.sampling.moments import REPLICATES, estimate, of_weights
from headwright.noise.sampling.noisy_keys import Reduced, log_sum_exp, reduced
from headwright.noise.sampling.normals import plan
from headwright.result import to_numpy
from headwright.types import Array, Float

# Logits this many roundings apart, relative to the largest, are a tie that rounding has disturbed;
# deviations this small are zeros.
TIE = 64


def settle(problem: Problem, *, samples: Any, seed: int) -> Moments:
    """Moments in the limit of all heads of `problem` together."""
    contest = _contest(problem)
    small = contest.small
    if problem.heads == 1 and small.shared is None:
        return _one_head(problem, small)
    if small.dimension == 1 and small.shared is None:
        return _one_number(problem, contest)
    points = plan(small.dimension, samples=samples, replicates=REPLICATES, kind="sobol", seed=seed)
    return estimate(problem, small, points, weigh=contest.weights)


def leading(problem: Problem) -> CentredLaw:
    """The law of the logits that grow: biases do not, they only break ties; and deviations that
    rounding alone can produce are zeros, because a race must know which keys are fixed."""
    xp, law = problem.xp, problem.law if problem.bias is None else replace(problem, bias=None).law
    real = xp.sqrt(law.variances) > tie_tolerances(problem, law)[:, None]

    def kept(array: Array, where: Array) -> Array:
        return xp.where(where, array, xp.zeros_like(array))

    return replace(
        law,
        variances=kept(law.variances, real),
        _cross=lambda: kept(law.cross, real[:, None, :] & real[None, :, :]),
    )


def tie_tolerances(problem: Problem, law: CentredLaw) -> Float[Array, "h"]:
    xp = compat.array_namespace(law.means)
    logits = law.means + law.shift[:, None]
    size = xp.max(xp.maximum(xp.abs(logits), xp.sqrt(law.variances)), axis=1)
    return size * (TIE * problem.precision)


@dataclass(frozen=True)
class _Contest:
    """The reduced problem in the limit. `small` has the best fixed logit in place of the
    log-sum-exp, and the shares of the fixed keys that tie there; `say[h, i]` is the log-share of a
    key in a tie."""

    small: Reduced
    tolerances: Float[Array, "h"]
    say: Float[Array, "h k_plus_1"]

    def weights(
        self, small: Reduced, g: Float[Array, "s dimension"]
    ) -> Float[Array, "s h k_plus_1"]:
        """`alpha_i ~ e^{bias_i}` among the keys with the largest logit."""
        xp, z = compat.array_namespace(g), small.logits(g)
        first = z >= xp.max(z, axis=-1, keepdims=True) - self.tolerances[:, None]
        return attention.weights(xp.where(first, self.say, xp.full_like(z, -xp.inf)))


def _contest(problem: Problem) -> _Contest:
    xp, law = problem.xp, leading(problem)
    small, tolerances = reduced(problem, law), tie_tolerances(problem, law)
    bias = xp.zeros_like(law.means) if problem.bias is None else problem.bias
    say = small.fixed_logits
    if small.fixed.shape[0]:
        hidden = xp.full_like(law.means, -xp.inf)
        seen = law.means if problem.mask is None else xp.where(problem.mask, law.means, hidden)
        fixed = xp.take(seen, small.fixed, axis=1)
        best = xp.max(fixed, axis=1)
        tie = (fixed >= (best - tolerances)[:, None]) & xp.isfinite(fixed)
        shares = xp.where(tie, xp.take(bias, small.fixed, axis=1), xp.full_like(fixed, -xp.inf))
        say, shares = log_sum_exp(shares)
        values = shares @ xp.take(problem.values, small.fixed, axis=0)
        small = replace(small, fixed_logits=best, fixed_weights=shares, fixed_values=values)
    say = xp.concat([xp.take(bias, small.noisy, axis=1), say[:, None]], axis=1)
    return _Contest(small, tolerances, say)


def _one_head(problem: Problem, small: Reduced) -> Moments:
    """The race of the noisy keys above the best fixed one. Outcomes: a noisy key alone, or the
    fixed rest."""
    xp, mix = problem.xp, problem.mix
    m, s = to_numpy(small.means[0, :]), np.abs(to_numpy(small.roots[0, :, 0]))
    visible = np.isfinite(m)
    result = race(m[visible], s[visible], floor=float(small.fixed_logits[0]))
    P = np.zeros(len(m) + 1)
    P[:-1][visible], P[-1] = result.chances, result.none
    P = xp.asarray(P, dtype=problem.values.dtype, device=compat.device(problem.values))
    outputs = mix[0] * xp.concat([small.values, small.fixed_values])
    weights = of_weights(problem, small, P[None, :], mix[0] ** 2 * P[:-1], P[-1:, None])
    return _discrete(P, outputs, error=result.error, weights=weights)


def _one_number(problem: Problem, contest: _Contest) -> Moments:
    """One key is random, by one number g. Head h prefers it beyond `g = (best fixed - mean) /
    root`, so all weights are constant between those values: a discrete law with at most h + 1
    outcomes."""
    xp, small, mix = problem.xp, contest.small, problem.mix[:, None]
    column = int(np.argmax(np.abs(to_numpy(small.roots[:, 0, :])).max(axis=0)))
    root = to_numpy(small.roots[:, 0, column])
    gap = to_numpy(small.fixed_logits - small.means[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(root != 0, gap / root, np.inf)
    steps = np.unique(steps[np.isfinite(steps)])
    edges = np.concatenate([[-np.inf], steps, [np.inf]])
    reach = 1.0 + np.abs(steps).max(initial=0.0)
    inner = np.concatenate([[-2 * reach], steps, [2 * reach]])
    like = {"dtype": problem.values.dtype, "device": compat.device(problem.values)}
    P = xp.asarray(np.diff(ndtr(edges)), **like)
    alpha = contest.weights(small, xp.asarray((inner[1:] + inner[:-1])[:, None] / 2, **like))
    noisy, rest = xp.sum(mix * alpha[:, :, :-1], axis=1), alpha[:, :, -1]
    heads = xp.tensordot(P, alpha, axes=1)
    weights = of_weights(problem, small, heads, P @ noisy**2, (P[:, None] * rest).T @ rest)
    outputs = xp.sum(mix * small.outputs(alpha), axis=1)
    return _discrete(P, outputs, error=0.0, weights=weights)


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
