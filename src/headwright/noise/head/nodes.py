"""Where to integrate over u = ln t, and how finely.

Trapezoid rule with step h. In one realisation the integrand of alpha_a is alpha_a times e^{v - e^v}
with v = u + ln S, whatever S is; its Fourier transform is a Gamma function, so the rule is off by a
factor

    1 + eps,   |eps| <= 2 sum_j |Gamma(1 + 2 pi i j / h)|        (second moments: Gamma(2 + ...))

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
from functools import lru_cache

import numpy as np
from scipy.special import erf, loggamma, ndtri

from headwright.noise.head.transform import transform
from headwright.types import Float, HostPerKey, HostPerLaw, HostPerNode

STEP = 1 / 3
_NEGLIGIBLE = 1e-14  # mass beyond either end
# E^{-_LEVEL}: the product of all phi is gone, its derivatives too
_LEVEL = -float(np.log(_NEGLIGIBLE)) + 4.0
_LOOKS = 24  # points at which the ends are first looked at
_UNIFORM = 120.0  # ranges up to this length are not graded
_BEND = 15.0  # distance from the right end at which a graded step has grown by the factor sqrt 2
# Deviations on either side of its mean beyond which a normal number never is (1e-15).
_REACH = -float(ndtri(_NEGLIGIBLE / 10))
# Closer to the right end than this share of its deviation a wide key is a short power series.
_STILL = 0.05
_FEW = 24  # logits of which no coarse picture is made
# Logits are close to each other in one bin of means and of ln s.
_MEANS = 1.0
_LOG_DEVIATIONS = 0.7
_NARROWEST = 0.01
_CLOSER_LOOKS = 3  # at the right end, each at one interval of the look before
_SLACK = 1.0  # of the right end: three nodes too many, on which the steps have not grown
# Density of nodes in a gap between scales, relative to elsewhere: five for a factor of e
_SPARSE = 1 / 9
_SOFT = 1.2  # width, in ln(distance), over which the density of nodes changes
_NEWTON = 5  # steps that invert t(y), from a table

Gaps = Float[np.ndarray, "gaps 2"]
Distances = Float[np.ndarray, "y"]  # y, where a node lies `_BEND sinh y` left of the right end


@dataclass(frozen=True)
class Nodes:
    """Nodes `u`, their `weight`, and whether the Gamma bound holds (`uniform`)."""

    u: HostPerNode
    weight: HostPerNode
    step: float
    uniform: bool

    def alias(self, order: int) -> float:
        """Largest relative error of the rule for alpha (order 1) or alpha^2 (order 2), uniform
        nodes."""
        return _alias(order, self.step)


@lru_cache(maxsize=8)
def _alias(order: int, step: float) -> float:
    """2 sum_j |Gamma(order + 2 pi i j / step)|"""
    j = np.arange(1, 4)
    frequencies = 2j * np.pi * j / step
    return float(2 * np.exp(loggamma(order + frequencies).real).sum())


@dataclass(frozen=True)
class _Logits:
    """Independent logits N(m_i, s_i^2), the i-th occurring `count_i` times."""

    m: HostPerKey
    s: HostPerKey
    count: HostPerKey

    def total(self, u: HostPerNode) -> HostPerNode:
        """Psi(u)"""
        t = transform(u[:, None] + self.m, self.s, top=0)
        return t.psi @ self.count


def nodes(m: HostPerKey, s: HostPerKey, count: HostPerKey, *, step: float = STEP) -> Nodes:
    """Nodes for independent logits N(m_i, s_i^2), the i-th occurring `count_i` times."""
    logits = _Logits(m, s, count)
    low, high, alive = _trimmed(logits, *_certain_ends(logits))
    if high - low <= _UNIFORM:
        u = np.arange(high, low - step, -step)[::-1]
        return Nodes(u, np.full(u.size, step), step, True)
    high = _right_end(logits, alive, high)
    return _graded(low, high, step, _gaps(high, m, s))


def coarse(
    m: HostPerKey, s: HostPerKey, count: HostPerKey
) -> tuple[HostPerLaw, HostPerLaw, HostPerLaw]:
    """A coarse picture of many logits, for the sake of `nodes` alone: those close to each other are
    one, as low as the lowest and as wide as the widest. That lengthens the right end and costs the
    left one a factor of e. What the ends cut off is measured afterwards."""
    if m.size <= _FEW:
        return m, s, count
    log_s = np.log(np.maximum(s, _NARROWEST))
    bins = np.floor(m / _MEANS) + 1j * np.floor(log_s / _LOG_DEVIATIONS)
    order = np.argsort(bins)
    names = bins[order]
    first = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    lowest = np.minimum.reduceat(m[order], first)
    widest = np.maximum.reduceat(s[order], first)
    return lowest, widest, np.add.reduceat(count[order], first)


def most_nodes(m: HostPerKey, s: HostPerKey) -> int | None:
    """How many nodes there are at most if they are uniform for sure, found out at a glance."""
    low, high = _certain_ends(_Logits(m, s, np.ones(m.size)))
    return int((high - low) / STEP) if high - low <= _UNIFORM else None


def _certain_ends(logits: _Logits) -> tuple[float, float]:
    """Ends that are certainly wide enough: beyond them at most `_NEGLIGIBLE` of the mass."""
    m, s, count = logits.m, logits.s, logits.count
    # phi_i <= exp(-e^{x - zs}) + P(g < -z): one key alone already makes the product vanish at
    # `high`.
    gone = np.log(_LEVEL) + _REACH * s - m
    high = float(np.min(gone))

    # 1 - phi_i <= e^{x + s^2/2}; for wide keys better 1 - phi_i <= e^{-c} + P(s g > -x - c).
    share = _NEGLIGIBLE / (2 * count.sum())
    z = -ndtri(share)
    c = -np.log(share)
    narrow = s < 2 * z
    wide = ~narrow
    low = np.inf
    if narrow.any():
        exponents = m[narrow] + s[narrow] ** 2 / 2
        largest = np.logaddexp.reduce(exponents + np.log(count[narrow]))
        low = np.log(_NEGLIGIBLE) - largest
    if wide.any():
        ends = -c - z * s - m
        low = min(low, float(np.min(ends[wide])))
    return float(low), max(high, float(low) + 1.0)


def _trimmed(logits: _Logits, low: float, high: float) -> tuple[float, float, float]:
    """The same ends, moved inwards to what a coarse look at Psi allows, and the last point at which
    e^Psi has not vanished yet."""
    u = np.linspace(low, high, _LOOKS)
    total = logits.total(u)
    untouched = np.flatnonzero(total > -_NEGLIGIBLE)
    gone = np.flatnonzero(total < -_LEVEL)
    alive = low
    if untouched.size:
        low = float(u[untouched[-1]])
    if gone.size:
        high = float(u[gone[0]])
        alive = float(u[max(gone[0] - 1, 0)])
    return low, high, alive


def _right_end(logits: _Logits, alive: float, high: float) -> float:
    """The same right end, moved to where e^Psi vanishes, which it does not yet at `alive`. Graded
    steps are small only near it: many narrow keys together make a sharp end of the integrand, and
    no slack may come between. Looked for in the logarithm of the distance, which has no scale of
    its own."""
    near = 0.0
    far = float(np.arcsinh((high - alive) / _BEND))
    for _ in range(_CLOSER_LOOKS):
        y = np.linspace(near, far, _LOOKS)
        inner = high - _BEND * np.sinh(y[1:-1])
        still = np.flatnonzero(logits.total(inner) >= -_LEVEL)
        first = int(still[0]) if still.size else inner.size
        near = float(y[first])
        far = float(y[first + 1])
        if _BEND * (far - near) <= _SLACK:
            break
    return high - _BEND * float(np.sinh(near))


def _gaps(high: float, m: HostPerKey, s: HostPerKey) -> Gaps:
    """Intervals of y in which no key does anything but slowly.

    A key moves from `_STILL` of its deviation, or from the right end if it is narrow, to where it
    is never seen."""
    begin = np.arcsinh(_STILL * s / _BEND)
    begin = np.where(begin < _SOFT, 0.0, begin)
    last_seen = np.maximum(high + m + _REACH * s + _LEVEL, 0.0)
    end = np.arcsinh(last_seen / _BEND)

    # The others are gone before the right end is reached.
    moving = np.flatnonzero(begin < end)
    order = moving[np.argsort(begin[moving])]
    covered = np.append(0.0, end[order])
    covered = np.maximum.accumulate(covered)[:-1]
    gaps = np.stack([covered, begin[order]], axis=1)

    # The density changes within a gap, so that its full value lasts as long as something moves.
    gaps = gaps + 2 * _SOFT * np.array([1.0, -1.0])
    length = gaps[:, 1] - gaps[:, 0]
    return gaps[length > 2 * _SOFT]


def _graded(low: float, high: float, step: float, gaps: Gaps) -> Nodes:
    """u = high - b sinh y(t), the trapezoid rule in t; one unit step beyond t = 0 closes the right
    end.

    dt/dy = b (1 - (1 - sparse) sum_gaps (erf((y - begin)/w) - erf((y - end)/w)) / 2),  w = `_SOFT`
    """
    last = float(np.arcsinh((high - low) / _BEND))
    longest = _length(np.array([last]), gaps)[0]
    t = np.arange(-1.0, longest + step, step)[::-1]
    y = _inverse(t, last, gaps)
    u = high - _BEND * np.sinh(y)
    slope = step * _BEND * np.cosh(y)
    weight = slope / _density(y, gaps)
    return Nodes(u, weight, step, False)


def _density(y: Distances, gaps: Gaps) -> Distances:
    """dt/dy"""
    edge = erf((y[:, None, None] - gaps) / _SOFT)
    inside = (edge[..., 0] - edge[..., 1]).sum(axis=1)
    return _BEND * (1.0 - (1.0 - _SPARSE) / 2 * inside)


def _length(y: Distances, gaps: Gaps) -> Distances:
    """t(y): the integral of erf x is x erf x + exp(-x^2) / sqrt(pi). Gaps are far from the right
    end, where t is 0."""
    x = (y[:, None, None] - gaps) / _SOFT
    bell = np.exp(-x * x) / np.sqrt(np.pi)
    edge = _SOFT * (x * erf(x) + bell)
    begin, end = gaps.T
    inside = edge[..., 0] - edge[..., 1] + end - begin
    return _BEND * (y - (1.0 - _SPARSE) / 2 * inside.sum(axis=1))


def _inverse(t: Float[np.ndarray, "t"], last: float, gaps: Gaps) -> Float[np.ndarray, "t"]:
    """y(t) by Newton's method from a table fine enough that it cannot go astray."""
    if not gaps.size:
        return t / _BEND
    table = np.arange(-0.1, last + 1.0 / _SPARSE, 0.05)
    y = np.interp(t, _length(table, gaps), table)
    for _ in range(_NEWTON):
        missed = _length(y, gaps) - t
        y = y - missed / _density(y, gaps)
    return y
