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

Several queries get their nodes together, as many for each as the longest range needs: the others go
on to the left, where nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import erf, loggamma, ndtri

from headwright.noise.head.ends import LEVEL, Ends, Logits, certain_ends, find_ends
from headwright.types import Bool, Float, HostPerKey, HostPerLaw

STEP = 1 / 3
_UNIFORM = 120.0  # ranges up to this length are not graded
# Distance from the right end at which a graded step has grown by the factor sqrt 2: at distance D
# steps are a fifth of the least deviation there. Two heads need more (`tabulated`), and so do many
# wide keys: the largest of n logits varies by a share of its distance that falls like 1 / ln n.
_BEND = 5.5
_BEND_OF_MANY = 1.1  # for every unit of ln n
# A graded step at the right end, over a uniform one: what twice the step misses has to be small
# enough for its square to say that the step itself misses nothing.
_FINER = 0.84
# Deviations on either side of its mean beyond which a normal number never is (1e-15).
_REACH = -float(ndtri(1e-15))
# Closer to the right end than this share of its deviation a wide key is a short power series.
_STILL = 0.05
_FEW = 64  # logits of which no coarse picture is made
# Logits are close to each other in one bin of means and of ln s.
_MEANS = 1.0
_LOG_DEVIATIONS = 0.7
_NARROWEST = 0.01
# Density of nodes in a gap between scales, relative to elsewhere: five for a factor of e
_SPARSE = 1 / 4
_SOFT = 1.2  # width, in ln(distance), over which the density of nodes changes
_NEWTON = 5  # steps that invert t(y), from a table

Gaps = Float[np.ndarray, "q gaps 2"]
# y, where a node lies `bend sinh y` left of the right end: of each query, or the same for all
Distances = Float[np.ndarray, "_q y"]


@dataclass(frozen=True)
class Nodes:
    """Nodes `u`, their `weight`, and whether the Gamma bound holds (`uniform`); of one query, or of
    several."""

    u: Float[np.ndarray, "*q u"]
    weight: Float[np.ndarray, "*q u"]
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


def nodes(
    m: HostPerKey,
    s: HostPerKey,
    count: HostPerKey,
    *,
    step: float = STEP,
    bend: float | None = None,
) -> Nodes:
    """Nodes for independent logits N(m_i, s_i^2), the i-th occurring `count_i` times."""
    logits = Logits(m[None, :], s[None, :], count[None, :])
    several = grid(logits, find_ends(logits), step=step, bend=bend)
    return Nodes(several.u[0], several.weight[0], step, several.uniform)


def graded(ends: Ends) -> Bool[np.ndarray, "q"]:
    """Which ranges are too long for nodes at equal distances."""
    return ends.length > _UNIFORM


def about(ends: Ends) -> tuple[Float[np.ndarray, "q"], Float[np.ndarray, "q"]]:
    """About how many nodes each query needs, at equal distances and graded."""
    length = ends.length
    stretched = _BEND / _FINER * np.arcsinh(length / _BEND)
    return length / STEP + 2.0, stretched / STEP + 2.0


def grid(
    logits: Logits,
    ends: Ends,
    *,
    step: float = STEP,
    bend: float | None = None,
    short: bool = False,
) -> Nodes:
    """Nodes of several queries, whose ranges are all graded or none: `short` ones are graded too.
    Graded steps begin to grow at the distance `bend` from the right end."""
    if short or graded(ends).all():
        return _graded(logits, ends, step, max(bend or _BEND, _bend_of_many(logits)))
    longest = np.max(ends.length)
    before = step * np.arange(np.ceil(longest / step), -1.0, -1.0)
    u = ends.high[:, None] - before
    return Nodes(u, np.full(u.shape, step), step, True)


def coarse(
    m: HostPerKey, s: HostPerKey, count: HostPerKey
) -> tuple[HostPerLaw, HostPerLaw, HostPerLaw]:
    """A coarse picture of many logits, for the sake of the ends alone: those close to each other
    are one, as low as the lowest and as wide as the widest. That lengthens the right end and costs
    the left one a factor of e. What the ends cut off is measured afterwards."""
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


def _bend_of_many(logits: Logits) -> float:
    return _BEND_OF_MANY * float(np.log(logits.count.sum(axis=1).max()))


def most_nodes(m: HostPerKey, s: HostPerKey) -> int | None:
    """How many nodes there are at most if they are uniform for sure, found out at a glance."""
    ends = certain_ends(Logits(m[None, :], s[None, :], np.ones((1, m.size))))
    length = float(ends.length[0])
    return int(length / STEP) if length <= _UNIFORM else None


def _gaps(logits: Logits, high: Float[np.ndarray, "q"], bend: float) -> Gaps:
    """Intervals of y in which no key does anything but slowly; as many for each query, some of them
    empty.

    A key moves from `_STILL` of its deviation, or from the right end if it is narrow, to where it
    is never seen."""
    begin = np.arcsinh(_STILL * logits.s / bend)
    if not begin.max() > 6 * _SOFT:  # a gap ends two widths before a begin, and is two wide
        return np.zeros((len(high), 0, 2))
    begin = np.where(begin < _SOFT, 0.0, begin)
    last_seen = high[:, None] + logits.m + _REACH * logits.s + LEVEL
    end = np.arcsinh(np.maximum(last_seen, 0.0) / bend)

    # The others are gone before the right end is reached.
    moving = begin < end
    order = np.argsort(np.where(moving, begin, np.inf), axis=1)
    begin, end, moving = (np.take_along_axis(x, order, axis=1) for x in (begin, end, moving))
    covered = np.maximum.accumulate(np.where(moving, end, 0.0), axis=1)
    covered = np.concatenate([np.zeros((len(high), 1)), covered[:, :-1]], axis=1)

    # The density changes within a gap, so that its full value lasts as long as something moves.
    gaps = np.stack([covered + 2 * _SOFT, begin - 2 * _SOFT], axis=2)
    real = moving & (gaps[:, :, 1] - gaps[:, :, 0] > 2 * _SOFT)
    gaps = np.where(real[:, :, None], gaps, 0.0)
    return gaps[:, real.any(axis=0)]


def _graded(logits: Logits, ends: Ends, step: float, bend: float) -> Nodes:
    """u = high - b sinh y(t), the trapezoid rule in b t; one unit step beyond t = 0 closes the
    right end.

    dt/dy = 1 - (1 - sparse) sum_gaps (erf((y - begin)/w) - erf((y - end)/w)) / 2,   w = `_SOFT`
    """
    gaps = _gaps(logits, ends.high, bend)
    last = np.arcsinh(ends.length / bend)
    longest = bend * np.max(_length(last[:, None], gaps))
    step = _FINER * step
    t = np.arange(-1.0, longest + step, step)[::-1] / bend
    y = _inverse(t, float(np.max(last)), gaps)
    u = ends.high[:, None] - bend * np.sinh(y)
    weight = np.broadcast_to(step * np.cosh(y) / _density(y, gaps), u.shape)
    return Nodes(u, weight, step, False)


def _density(y: Distances, gaps: Gaps) -> Distances:
    """dt/dy"""
    if not gaps.size:
        return np.ones(y.shape)
    edge = erf((y[:, :, None, None] - gaps[:, None]) / _SOFT)
    inside = (edge[..., 0] - edge[..., 1]).sum(axis=2)
    return 1.0 - (1.0 - _SPARSE) / 2 * inside


def _length(y: Distances, gaps: Gaps) -> Distances:
    """t(y): the integral of erf x is x erf x + exp(-x^2) / sqrt(pi). Gaps are far from the right
    end, where t is 0."""
    if not gaps.size:
        return y
    x = (y[:, :, None, None] - gaps[:, None]) / _SOFT
    bell = np.exp(-x * x) / np.sqrt(np.pi)
    edge = _SOFT * (x * erf(x) + bell)
    inside = edge[..., 0] - edge[..., 1] + (gaps[:, None, :, 1] - gaps[:, None, :, 0])
    return y - (1.0 - _SPARSE) / 2 * inside.sum(axis=2)


def _inverse(t: Float[np.ndarray, "y"], last: float, gaps: Gaps) -> Distances:
    """y(t) by Newton's method from a table fine enough that it cannot go astray."""
    if not gaps.size:
        return t[None, :]
    table = np.arange(-1.0, last + 1.0 / _SPARSE, 0.05)
    lengths = _length(np.broadcast_to(table, (len(gaps), table.size)), gaps)
    y = np.stack([np.interp(t, row, table) for row in lengths])
    for _ in range(_NEWTON):
        missed = _length(y, gaps) - t
        y = y - missed / _density(y, gaps)
    return y
