"""How often is the output far off? P(||c - target|| > tau).

With one random number the set where it is far off is a union of intervals: their ends are found by
bisection and the probability is exact. Otherwise it is counted over scrambled Sobol points, with a
standard error. (Integrating one number out, as `distribution.py` does, needs a monotone function,
and a distance is not.) Replicates that all count the same, mostly none, show no spread, which is
not certainty: independent draws then bound the probability.

Rounding of the logits moves the output by at most some delta in every draw. So the truth lies
between the probabilities of being further than tau + delta and than tau - delta, and the exact
routes state that.
"""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import betaincinv, ndtr

from headwright import inputs
from headwright.noise.problem import Problem, in_double, problems
from headwright.noise.rounding import largest_shift
from headwright.noise.sampling.moments import REPLICATES, SAMPLES, weights_drawn
from headwright.noise.sampling.noisy_keys import Reduced, reduced
from headwright.noise.sampling.normals import Plan, plan
from headwright.result import Estimate, to_numpy
from headwright.types import Array, Float

_REACH, _UNIFORM = 9.0, 4096  # the line of one random number, and how finely it is searched
_STEEP = np.linspace(-60.0, 60.0, 2401)  # the same in units of the logit around a change of winner
_BISECTIONS = 60
CONFIDENCE = 0.95  # of each end of the interval that independent draws give


def exceedance(
    q: Any,
    keys: Any,
    V: Any,
    target: Any,
    tau: float,
    *,
    samples: Any = SAMPLES,
    seed: int = 0,
    mix: Any = None,
    scale: float = 1.0,
    bias: Any = None,
    mask: Any = None,
) -> Estimate:
    """The probability that the output is further than `tau` from `target` (v,), Euclidean distance.
    The heads `q` and the rest are as in `moments`; `samples` and `seed` serve only where more than
    one number is random."""
    extras = {"bias": bias, "mask": mask, "value_noise": None}
    problem = in_double(*problems(q, keys, V, mix=mix, scale=scale, extras=extras))
    _, (_, target) = inputs.arrays(V=problem.values[:1], target=target)
    inputs.shape("target", target, problem.values.shape[1])
    tau = inputs.number("tau", tau, low=0.0)
    small = reduced(problem)
    if small.dimension == 0:
        return _without_noise(problem, small, target, tau)
    if small.dimension == 1:
        return _on_a_line(problem, small, target, tau)

    def far_off(kind: str) -> tuple[Float[np.ndarray, "r"], Plan]:
        """How many points of each replicate are far off."""
        points = plan(small.dimension, samples=samples, replicates=REPLICATES, kind=kind, seed=seed)
        counts = np.zeros(points.replicates)
        for replicate, alpha in weights_drawn(small, points):
            counts[replicate] += (_distance(problem, small, alpha, target) > tau).sum()
        return counts, points

    counts, points = far_off("sobol")
    shares = counts / points.size
    value, error = float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares)))
    if error > 0.0:
        return Estimate(value, error, "sampled", message="standard error")
    return _without_spread(value, int(far_off("plain")[0].sum()), points.samples)


def _without_spread(value: float, hits: int, draws: int) -> Estimate:
    low, high = interval(hits, draws)
    error = max(high - value, value - low)
    words = f"no spread; {hits:,} of {draws:,} independent draws: {low:.2g} to {high:.2g} with {CONFIDENCE:.0%} confidence"
    return Estimate(value, error, "sampled", message=words)


def interval(hits: int, draws: int) -> tuple[float, float]:
    """Clopper and Pearson's interval: each end is exceeded by the truth in at most 1 - CONFIDENCE
    of all samples.

    P(at most `hits` of `draws` | high) = 1 - CONFIDENCE,   for no hits (1 - high)^draws, so that high = 3 / draws
    """
    low = 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, 1 - CONFIDENCE))
    high = 1.0 if hits == draws else float(betaincinv(hits + 1, draws - hits, CONFIDENCE))
    return low, high


def _distance(
    problem: Problem, small: Reduced, alpha: Array, target: Array
) -> Float[np.ndarray, "s"]:
    xp = problem.xp
    apart = xp.sum(problem.mix[:, None] * small.outputs(alpha), axis=1) - target
    return np.sqrt(to_numpy(xp.sum(apart * apart, axis=1)).astype(float))


def _blur(problem: Problem) -> float:
    """How far rounding of the logits may move the output: dc/dz_i = alpha_i (v_i - c), which adds
    up to no more than the largest distance between two values."""
    V = to_numpy(problem.values)
    across = 2 * float(np.sqrt(((V - V.mean(axis=0)) ** 2).sum(axis=1)).max())
    size = float(np.abs(V).max()) * V.shape[1] * float(np.finfo(float).eps)
    return float(np.abs(to_numpy(problem.mix)) @ (largest_shift(problem) * across + 8 * size))


def _without_noise(problem: Problem, small: Reduced, target: Array, tau: float) -> Estimate:
    nothing = problem.xp.zeros((1, 0), dtype=target.dtype, device=compat.device(target))
    distance = float(_distance(problem, small, small.weights(nothing), target)[0])
    open_question = abs(distance - tau) <= _blur(problem)
    return Estimate(float(distance > tau), float(open_question), "closed form")


def _on_a_line(problem: Problem, small: Reduced, target: Array, tau: float) -> Estimate:
    """Search g for sign changes of `||c(g) - target|| - tau`, refine them, add up the far
    intervals. The same search with every second point tells whether a pair of changes may have been
    missed."""
    like = problem.values

    def further_than(distance: float, g: Float[np.ndarray, "s"]) -> float:
        def far(g: np.ndarray) -> np.ndarray:
            numbers = problem.xp.asarray(g[:, None], dtype=like.dtype, device=compat.device(like))
            return _distance(problem, small, small.weights(numbers), target) > distance

        return _probability(far, g)

    g = _searched(small)
    value = further_than(tau, g)
    missed = abs(value - further_than(tau, g[::2]))
    blur = _blur(problem)
    rounding = max(abs(value - further_than(distance, g)) for distance in (tau - blur, tau + blur))
    return Estimate(value, missed + rounding + float(np.finfo(float).eps), "exact")


def _searched(small: Reduced) -> Float[np.ndarray, "s"]:
    """Where to look: everywhere, and closely around every g at which a noisy key and the fixed rest
    change places, because a sharp head moves there within 1 / root."""
    column = to_numpy(small.columns).reshape(small.roots.shape[1:])
    root = np.where(column == 0, to_numpy(small.roots), 0.0).sum(axis=2)
    if small.shared is not None:
        root = root + to_numpy(small.shared)[:, 0, :]
    gap = to_numpy(small.fixed_logits)[:, None] - to_numpy(small.means)
    moves = (root != 0) & np.isfinite(gap)
    near = ((gap[moves, None] + _STEEP) / root[moves, None]).ravel()
    g = np.concatenate([np.linspace(-_REACH, _REACH, _UNIFORM + 1), near[np.abs(near) < _REACH]])
    return np.unique(g)


def _probability(far: Any, g: Float[np.ndarray, "s"]) -> float:
    state = far(g)
    change = np.flatnonzero(state[1:] != state[:-1])
    low, high, before = g[change], g[change + 1], state[change]
    for _ in range(_BISECTIONS if change.size else 0):
        middle = (low + high) / 2
        same = far(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    edges = np.concatenate([[-np.inf], high, [np.inf]])
    # Intervals alternate between far and near, beginning with the state at the left end.
    chance = np.diff(ndtr(edges))
    return float(chance[0 if state[0] else 1 :: 2].sum())
