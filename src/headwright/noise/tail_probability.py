"""How often is the output far off? P(||c - target|| > tau).

With one random number the set where it is far off is a union of intervals: their ends are found by
bisection and the probability is exact. Otherwise it is counted over scrambled Sobol points, with a
standard error. (Integrating one number out, as `distribution` does, needs a monotone function,
and a distance is not.) Replicates that all count the same, mostly none, show no difference, which
is not certainty: independent draws then bound the probability.

Rounding of the logits moves the output by at most some delta in every draw. So the truth lies
between the probabilities of being further than tau + delta and than tau - delta, and the exact
routes state that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import betaincinv, ndtr

from headwright import inputs
from headwright.attention import Scores
from headwright.noise.problem import Problem, Request, in_double
from headwright.noise.rounding import largest_shift
from headwright.noise.sampling.moments import weights_drawn
from headwright.noise.sampling.noisy_keys import DrawnWeights, NoisyKeys, noisy_keys
from headwright.noise.sampling.normals import SAMPLES, PointSet, point_set
from headwright.result import Estimate, to_numpy
from headwright.types import Bool, Float, Mean

# The line of one random number, and how finely it is searched.
_REACH = 9.0
_UNIFORM = 4096
_STEEP = np.linspace(-60.0, 60.0, 2401)  # the same in units of the logit around a change of winner
_BISECTIONS = 60
CONFIDENCE = 0.95  # of each end of the interval that independent draws give

Line = Float[np.ndarray, "s"]


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
    one number is random.

    >>> from headwright.noise import exceedance
    >>> keys = hw.GaussianKeys([[1, 0], [0, 1]]).radial({0: 0.5})
    >>> found = exceedance([9, 0], keys, [[1, 0], [0, 1]], target=[1, 0], tau=0.5)
    >>> print(f"{found.value:.4f}, {found.method}")
    0.0935, exact
    """
    request = Request(q, keys, V, mix, Scores(scale, bias, mask))
    problem = in_double(request.problem())
    _, (_, target) = inputs.arrays(V=problem.values[:1], target=target)
    inputs.shape("target", target, problem.values.shape[1])
    tau = inputs.number("tau", tau, low=0.0)
    miss = _Miss(problem, noisy_keys(problem), target, tau)
    if miss.small.dimension == 0:
        return _without_noise(miss)
    if miss.small.dimension == 1:
        return _on_a_line(miss)
    return _counted(miss, samples, seed)


@dataclass(frozen=True)
class _Miss:
    """An output further than `tau` from `target`."""

    problem: Problem
    small: NoisyKeys
    target: Mean
    tau: float

    def distance(self, alpha: DrawnWeights) -> Line:
        """||c - target|| for drawn weights."""
        xp = self.problem.xp
        mix = self.problem.mix[:, None]
        mixed = xp.sum(mix * self.small.outputs(alpha), axis=1)
        apart = mixed - self.target
        squares = to_numpy(xp.sum(apart * apart, axis=1))
        return np.sqrt(squares.astype(float))

    def distance_at(self, g: Float[np.ndarray, "s dimension"]) -> Line:
        """The same for normal numbers."""
        values = self.problem.values
        numbers = self.problem.xp.asarray(g, dtype=values.dtype, device=compat.device(values))
        return self.distance(self.small.weights(numbers))

    def blur(self) -> float:
        """How far rounding of the logits may move the output: dc/dz_i = alpha_i (v_i - c), which
        adds up to no more than the largest distance between two values."""
        V = to_numpy(self.problem.values)
        from_centre = np.sqrt(((V - V.mean(axis=0)) ** 2).sum(axis=1))
        across = 2 * float(from_centre.max())
        eps = float(np.finfo(float).eps)
        size = float(np.abs(V).max()) * V.shape[1] * eps
        mix = np.abs(to_numpy(self.problem.mix))
        return float(mix @ (largest_shift(self.problem) * across + 8 * size))


def _counted(miss: _Miss, samples: Any, seed: int) -> Estimate:
    """More than one random number: how many points are far off?"""
    dimension = miss.small.dimension
    points = point_set(dimension, samples=samples, seed=seed)
    shares = _hits(miss, points) / points.size
    value = float(shares.mean())
    error = float(shares.std(ddof=1) / np.sqrt(len(shares)))
    if error > 0.0:
        return Estimate(value, error, "sampled", message="standard error")
    plain = point_set(dimension, samples=samples, kind="plain", seed=seed)
    return _all_alike(value, int(_hits(miss, plain).sum()), points.samples)


def _hits(miss: _Miss, points: PointSet) -> Float[np.ndarray, "r"]:
    """How many points of each replicate are far off."""
    counts = np.zeros(points.replicates)
    for replicate, alpha in weights_drawn(miss.small, points):
        counts[replicate] += (miss.distance(alpha) > miss.tau).sum()
    return counts


def _all_alike(value: float, hits: int, draws: int) -> Estimate:
    """All replicates agree: how rare the other side is, independent draws have to tell."""
    low, high = interval(hits, draws)
    error = max(high - value, value - low)
    seen = f"no spread; {hits:,} of {draws:,} independent draws"
    words = f"{seen}: {low:.2g} to {high:.2g} with {CONFIDENCE:.0%} confidence"
    return Estimate(value, error, "sampled", message=words)


def interval(hits: int, draws: int) -> tuple[float, float]:
    """Clopper and Pearson's interval: each end is exceeded by the truth in at most 1 - CONFIDENCE
    of all samples.

    P(at most `hits` of `draws` | high) = 1 - CONFIDENCE,
    for no hits (1 - high)^draws, so that high = 3 / draws
    """
    low = 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, 1 - CONFIDENCE))
    high = 1.0 if hits == draws else float(betaincinv(hits + 1, draws - hits, CONFIDENCE))
    return low, high


def _without_noise(miss: _Miss) -> Estimate:
    """One output: it is far off, or not, or too close to tell."""
    distance = float(miss.distance_at(np.zeros((1, 0)))[0])
    open_question = abs(distance - miss.tau) <= miss.blur()
    return Estimate(float(distance > miss.tau), float(open_question), "closed form")


def _on_a_line(miss: _Miss) -> Estimate:
    """Search g for sign changes of `||c(g) - target|| - tau`, refine them, add up the far
    intervals. The same search with every second point tells whether a pair of changes may have been
    missed."""

    def further_than(distance: float, g: Line) -> float:
        """Probability of a larger distance, looked for from the points g."""
        return _probability(lambda g: miss.distance_at(g[:, None]) > distance, g)

    g = _searched(miss.small)
    value = further_than(miss.tau, g)
    missed = abs(value - further_than(miss.tau, g[::2]))
    blur = miss.blur()
    either_side = (miss.tau - blur, miss.tau + blur)
    rounding = max(abs(value - further_than(distance, g)) for distance in either_side)
    return Estimate(value, missed + rounding + float(np.finfo(float).eps), "exact")


def _searched(small: NoisyKeys) -> Line:
    """Where to look: everywhere, and closely around every g at which a noisy key and the fixed rest
    change places, because a sharp head moves there within 1 / root."""
    column = to_numpy(small.columns).reshape(small.roots.shape[1:])
    root = np.where(column == 0, to_numpy(small.roots), 0.0).sum(axis=2)
    if small.shared is not None:
        root = root + to_numpy(small.shared)[:, 0, :]
    gap = to_numpy(small.fixed_logits)[:, None] - to_numpy(small.means)
    moves = (root != 0) & np.isfinite(gap)
    around = gap[moves, None] + _STEEP
    near = (around / root[moves, None]).ravel()
    everywhere = np.linspace(-_REACH, _REACH, _UNIFORM + 1)
    near = near[np.abs(near) < _REACH]
    return np.unique(np.concatenate([everywhere, near]))


def _probability(far: Callable[[Line], Bool[np.ndarray, "s"]], g: Line) -> float:
    """Of the set where `far` holds, whose ends are found by bisection between the points g."""
    state = far(g)
    change = np.flatnonzero(state[1:] != state[:-1])
    low = g[change]
    high = g[change + 1]
    before = state[change]
    for _ in range(_BISECTIONS if change.size else 0):
        middle = (low + high) / 2
        same = far(middle) == before
        low = np.where(same, middle, low)
        high = np.where(same, high, middle)

    edges = np.concatenate([[-np.inf], high, [np.inf]])
    # Intervals alternate between far and near, beginning with the state at the left end.
    first_far = 0 if state[0] else 1
    return float(np.diff(ndtr(edges))[first_far::2].sum())
