"""Where to integrate over u = ln t, and how finely.

Trapezoid rule with step h. In one realisation the integrand of alpha_a is alpha_a times e^{v - e^v}
with v = u + ln S, whatever S is; its Fourier transform is a Gamma function, so the rule is off by a
factor

    1 + eps,   |eps| <= 2 sum_j |Gamma(1 + 2 pi i j / h)|            (second moments: Gamma(2 + 2 pi i j / h))

for every law of the logits: a bound known before anything is computed. A long range (large noise)
is graded: a key still alive at distance D left of the right end has a deviation of at least about D
/ 17, so steps may grow with D and the number of nodes grows like ln(range). Between a scale where
the last narrow key has died and a much larger one where the wide keys begin to move nothing
happens, and steps grow once more: one key of deviation 1e100 costs about what one of 1e10 does. The
Gamma bound does not cover any of this, therefore the caller compares with every second node.
(Rejected: a uniform lattice, 50,000 nodes at deviation 1,000.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf, loggamma, logsumexp, ndtri

from headwright.noise.head.transform import transform
from headwright.types import Float

STEP = 1 / 3
_NEGLIGIBLE = 1e-14  # mass beyond either end
# E^{-_LEVEL}: the product of all phi is gone, its derivatives too
_LEVEL = -float(np.log(_NEGLIGIBLE)) + 4.0
_UNIFORM = 120.0  # ranges up to this length are not graded
_BEND = 15.0  # distance from the right end at which a graded step has grown by the factor sqrt 2
# Deviations on either side of its mean beyond which a normal number never is (1e-15).
_REACH = -float(ndtri(_NEGLIGIBLE / 10))
# Closer to the right end than this share of its deviation a wide key is a short power series.
_STILL = 0.05
_HALVINGS = 12  # of the range in which the right end is sought
# Density of nodes in a gap between scales, relative to elsewhere: five for a factor of e
_SPARSE = 1 / 9
_SOFT = 1.2  # width, in ln(distance), over which the density of nodes changes


@dataclass(frozen=True)
class Nodes:
    """Nodes `u`, their `weight`, and whether the Gamma bound holds (`uniform`)."""

    u: Float[np.ndarray, "u"]
    weight: Float[np.ndarray, "u"]
    step: float
    uniform: bool

    def alias(self, order: int) -> float:
        """Largest relative error of the rule for alpha (order 1) or alpha^2 (order 2), uniform
        nodes."""
        j = np.arange(1, 4)
        return float(2 * np.exp(loggamma(order + 2j * np.pi * j / self.step).real).sum())


def nodes(
    m: Float[np.ndarray, "n"],
    s: Float[np.ndarray, "n"],
    count: Float[np.ndarray, "n"],
    *,
    step: float = STEP,
) -> Nodes:
    """Nodes for independent logits N(m_i, s_i^2), the i-th occurring `count_i` times."""
    low, high = _trim(*_bounds(m, s, count), m, s, count)
    if high - low <= _UNIFORM:
        u = np.arange(high, low - step, -step)[::-1]
        return Nodes(u, np.full(u.size, step), step, True)
    high = _right_end(low, high, m, s, count)
    return _graded(low, high, step, _gaps(high, m, s))


def _bounds(m, s, count) -> tuple[float, float]:
    """Ends that are certainly wide enough: beyond them at most `_NEGLIGIBLE` of the mass."""
    # phi_i <= exp(-e^{x - zs}) + P(g < -z): one key alone already makes the product vanish at
    # `high`.
    high = float(np.min(np.log(_LEVEL) + _REACH * s - m))
    # 1 - phi_i <= e^{x + s^2/2}; for wide keys better 1 - phi_i <= e^{-c} + P(s g > -x - c).
    share = _NEGLIGIBLE / (2 * count.sum())
    z, c = -ndtri(share), -np.log(share)
    narrow = s < 2 * z
    low = np.inf
    if narrow.any():
        low = np.log(_NEGLIGIBLE) - logsumexp(m[narrow] + s[narrow] ** 2 / 2, b=count[narrow])
    if not narrow.all():
        low = min(low, float(np.min((-c - z * s - m)[~narrow])))
    return float(low), max(high, float(low) + 1.0)


def _trim(low: float, high: float, m, s, count) -> tuple[float, float]:
    """The same ends, moved inwards to what a coarse look at Psi allows."""
    u = np.linspace(low, high, 24)
    total = transform(u[:, None] + m, s, top=0).psi @ count
    left = np.flatnonzero(total > -_NEGLIGIBLE)
    right = np.flatnonzero(total < -_LEVEL)
    return float(u[left[-1]]) if left.size else low, float(u[right[0]]) if right.size else high


def _right_end(low: float, high: float, m, s, count) -> float:
    """The same right end, moved to where e^Psi vanishes. Graded steps are small only near it: many
    narrow keys together make a sharp end of the integrand, and no slack may come between. Bisection
    in the logarithm of the distance, which has no scale of its own."""
    near, far = 0.0, float(np.arcsinh((high - low) / _BEND))
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        total = transform((high - _BEND * np.sinh(middle)) + m[None, :], s, top=0).psi @ count
        if total[0] < -_LEVEL:
            near = middle
        else:
            far = middle
    return high - _BEND * float(np.sinh(near))


def _gaps(
    high: float, m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "gaps 2"]:
    """Intervals of y, with distance `_BEND sinh y` from the right end, in which no key does
    anything but slowly.

    A key moves from `_STILL` of its deviation, or from the right end if it is narrow, to where it
    is never seen."""
    begin = np.arcsinh(_STILL * s / _BEND)
    end = np.arcsinh(np.maximum(high + m + _REACH * s + _LEVEL, 0.0) / _BEND)
    begin = np.where(begin < _SOFT, 0.0, begin)
    # The others are gone before the right end is reached.
    moving = np.flatnonzero(begin < end)
    order = moving[np.argsort(begin[moving])]
    covered = np.maximum.accumulate(np.append(0.0, end[order]))[:-1]
    gaps = np.stack([covered, begin[order]], axis=1)
    # The density changes within a gap, so that its full value lasts as long as something moves.
    gaps = gaps + 2 * _SOFT * np.array([1.0, -1.0])
    return gaps[gaps[:, 1] - gaps[:, 0] > 2 * _SOFT]


def _graded(low: float, high: float, step: float, gaps: Float[np.ndarray, "gaps 2"]) -> Nodes:
    """u = high - b sinh y(t), the trapezoid rule in t; one unit step beyond t = 0 closes the right
    end.

    dt/dy = b (1 - (1 - sparse) sum_gaps (erf((y - begin)/w) - erf((y - end)/w)) / 2),    w = `_SOFT`
    """
    last = float(np.arcsinh((high - low) / _BEND))
    t = np.arange(-1.0, _length(np.array([last]), gaps)[0] + step, step)[::-1]
    y = _inverse(t, last, gaps)
    return Nodes(
        high - _BEND * np.sinh(y), step * _BEND * np.cosh(y) / _density(y, gaps), step, False
    )


def _density(
    y: Float[np.ndarray, "y"], gaps: Float[np.ndarray, "gaps 2"]
) -> Float[np.ndarray, "y"]:
    """dt/dy"""
    edge = erf((y[:, None, None] - gaps) / _SOFT)
    return _BEND * (1.0 - (1.0 - _SPARSE) / 2 * (edge[..., 0] - edge[..., 1]).sum(axis=1))


def _length(y: Float[np.ndarray, "y"], gaps: Float[np.ndarray, "gaps 2"]) -> Float[np.ndarray, "y"]:
    """t(y): the integral of erf x is x erf x + exp(-x^2) / sqrt(pi). Gaps are far from the right
    end, where t is 0."""
    x = (y[:, None, None] - gaps) / _SOFT
    edge = _SOFT * (x * erf(x) + np.exp(-x * x) / np.sqrt(np.pi))
    inside = (edge[..., 0] - edge[..., 1] + gaps[:, 1] - gaps[:, 0]).sum(axis=1)
    return _BEND * (y - (1.0 - _SPARSE) / 2 * inside)


def _inverse(
    t: Float[np.ndarray, "t"], last: float, gaps: Float[np.ndarray, "gaps 2"]
) -> Float[np.ndarray, "t"]:
    """y(t) by Newton's method from a table fine enough that it cannot go astray."""
    if not gaps.size:
        return t / _BEND
    table = np.arange(-0.1, last + 1.0 / _SPARSE, 0.05)
    y = np.interp(t, _length(table, gaps), table)
    for _ in range(5):
        y = y - (_length(y, gaps) - t) / _density(y, gaps)
    return y
