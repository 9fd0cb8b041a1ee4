"""The whole law of one weight alpha_a, not only its moments: density, distribution function,
quantiles.

One noisy logit is integrated out in closed form (`conditioned`); what is left to average is nothing
(closed form), one number (quadrature) or many (scrambled Sobol replicates), and always smooth.
Counting samples in bins would be noisier by orders of magnitude and blur the law by the width of
the bin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from headwright import inputs
from headwright.attention import Scores
from headwright.errors import InputError
from headwright.keys import GaussianKeys
from headwright.noise.conditioned import DrawnRest, conditioned
from headwright.noise.problem import Request, in_double
from headwright.noise.rounding import largest_shift
from headwright.result import Estimate
from headwright.types import Float

SAMPLES = 2**15
_BISECTIONS = 64
_ENDS = (-744.0, 36.7)  # logits of the smallest weight above 0 and of the largest below 1
_EVALUATED = 16 * float(np.finfo(float).eps)  # the special functions themselves


ValueAndError = tuple[np.ndarray, np.ndarray]
# What is asked of one set of points at some arguments; the last one is how far the logit is moved,
# relative to one more than its size.
Asked = Callable[[DrawnRest, np.ndarray, float], np.ndarray]


@dataclass(frozen=True)
class WeightDistribution:
    """The law of one weight. `density`, `cdf` and `quantile` take one number or several and return
    an `Estimate`; `error` is the largest of any entry: for a quadrature the difference of two
    rules, a standard error if sampled, and what rounding of the logits may have done.

    Rounding moves the logit of the weight by at most `shift`, draw by draw, so that the true
    distribution function lies between this one moved to the left and moved to the right by as much.
    """

    method: str  # "closed form", "quadrature" or "sampled"
    deviation: float  # s_c
    shift: float
    _replicates: tuple[DrawnRest, ...]

    def cdf(self, x: Any) -> Estimate:
        """P(alpha_a <= x)."""

        def below(rest: DrawnRest, x: np.ndarray, moved: float) -> np.ndarray:
            y = np.clip(logit(np.clip(x, 0.0, 1.0)), *_ENDS)
            found = rest.below(_moved(y, moved), self.deviation)
            return np.where(x < 1, np.where(x < 0, 0.0, found), 1.0)

        return self._estimate(below, _numbers("x", x))

    def density(self, x: Any) -> Estimate:
        """The density of alpha_a at x, for x strictly between 0 and 1. What rounding does to it is
        estimated: by how much it changes over the distance that rounding may move it."""
        if self.deviation == 0.0:
            raise InputError(
                wanted="a weight with noise of its own",
                got="one without a density",
                attempt="ask for its cdf",
            )

        def slope(rest: DrawnRest, x: np.ndarray, moved: float) -> np.ndarray:
            # d(logit x)/dx = 1 / (x (1 - x))
            by_logit = rest.slope(_moved(logit(x), moved), self.deviation)
            return by_logit / (x * (1 - x))

        return self._estimate(slope, _numbers("x", x, open_unit=True))

    def quantile(self, p: Any) -> Estimate:
        """The x with P(alpha_a <= x) = p, for p strictly between 0 and 1."""
        levels = _numbers("p", p, open_unit=True)
        # What rounding moves is the logit that was found, so each is looked for once.
        found = {id(rest): _root(rest, levels.ravel(), self.deviation) for rest in self._replicates}

        def root(rest: DrawnRest, p: np.ndarray, moved: float) -> np.ndarray:
            return expit(_moved(found[id(rest)], moved))

        return self._estimate(root, levels)

    def _estimate(self, asked: Asked, at: np.ndarray) -> Estimate:
        """The value at every entry of `at` from all replicates, and the largest error."""
        value, error = self._combined(asked, at, 0.0)
        left, _ = self._combined(asked, at, -1.0 * self.shift)
        right, _ = self._combined(asked, at, 1.0 * self.shift)
        moved = np.abs(np.stack([left, right]) - value)
        rounding = np.max(moved, initial=_EVALUATED)
        value = value.reshape(at.shape)[()]
        return Estimate(value, float(np.max(error) + rounding), self.method)

    def _combined(self, asked: Asked, at: np.ndarray, moved: float) -> ValueAndError:
        """Value and error from all sets of points."""
        rows = [asked(rest, at.ravel(), moved) for rest in self._replicates]
        return _COMBINED[self.method](np.stack(rows))


def _moved(y: np.ndarray, moved: float) -> np.ndarray:
    """A logit moved by so much, relative to one more than its size."""
    return y + moved * (1 + np.abs(y))


def _closed_form(rows: np.ndarray) -> ValueAndError:
    """One set of points, without an error of its own."""
    return rows[0], np.zeros(rows[0].shape)


def _quadrature(rows: np.ndarray) -> ValueAndError:
    """The coarse and the fine rule."""
    coarse, fine = rows
    return fine, np.abs(fine - coarse)


def _sampled(rows: np.ndarray) -> ValueAndError:
    """Independent replicates."""
    deviation = rows.std(axis=0, ddof=1)
    return rows.mean(axis=0), deviation / np.sqrt(len(rows))


_COMBINED: dict[str, Callable[[np.ndarray], ValueAndError]] = {
    "closed form": _closed_form,
    "quadrature": _quadrature,
    "sampled": _sampled,
}


def _root(rest: DrawnRest, p: Float[np.ndarray, "j"], s: float) -> Float[np.ndarray, "j"]:
    """The logit at which the distribution function reaches p, by bisection: it is monotone, and may
    be flat."""
    low, high = (np.full(p.shape, end) for end in _ENDS)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        short = rest.below(middle, s) < p
        low = np.where(short, middle, low)
        high = np.where(short, high, middle)
    return (low + high) / 2


def weight_distribution(
    q: Any,
    keys: Any,
    key: int,
    *,
    scale: float = 1.0,
    bias: Any = None,
    mask: Any = None,
    samples: Any = SAMPLES,
    seed: int = 0,
) -> WeightDistribution:
    """The law of the weight of `key` under one query `q` (d,). `samples` and `seed` serve only
    where neither a closed form nor a quadrature does: with more than two noisy keys, or two that
    are not `key`.

    >>> from headwright.noise import weight_distribution
    >>> keys = hw.GaussianKeys([[1, 0], [0, 1]]).radial({0: 0.5})
    >>> law = weight_distribution([3, 0], keys, 0)
    >>> print(f"median {law.quantile(0.5).value:.4f}, P(below 1/2) = {law.cdf(0.5).value:.4f}")
    median 0.9526, P(below 1/2) = 0.0786
    """
    keys = keys if hasattr(keys, "logits_law") else GaussianKeys(keys)
    no_values = np.zeros((len(keys), 1))
    asked = Request(q, keys, no_values, scores=Scores(scale, bias, mask))
    problem = in_double(asked.problem())
    if problem.heads != 1:
        raise InputError(
            wanted="one query", got=f"{problem.heads} heads", attempt="ask for one head at a time"
        )
    one = conditioned(problem, inputs.index("key", key, len(keys)))
    method, replicates = one.replicates(samples, seed)
    # The logit of a weight is z_a minus the log-sum-exp of the others: either may be off.
    shift = 2 * float(largest_shift(problem)[0])
    return WeightDistribution(method, one.deviation, shift, replicates)


def _numbers(name: str, value: Any, *, open_unit: bool = False) -> np.ndarray:
    """The caller's numbers as an array."""
    _, (array,) = inputs.arrays(**{name: value})
    if open_unit and not bool(np.all((array > 0) & (array < 1))):
        raise InputError(
            wanted=f"{name} strictly between 0 and 1",
            got=f"{np.min(array):g} to {np.max(array):g}",
            attempt="drop the ends",
        )
    return array
