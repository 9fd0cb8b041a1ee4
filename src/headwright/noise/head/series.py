"""The transform of many logits at any points, from Taylor series that all of them share.

phi is a smooth function of x and s, and the others are its derivatives,

    a_1 = -phi',   a_2 = phi'' - phi'.

A table holds phi^(k) / k! in x, or in t = x / s for wide logits, at points `_APART` apart, and at a
few Chebyshev nodes in s^2, or in 1/s for wide logits, however wide. A product of matrices brings it
to the deviations asked for; every point takes the series next to it.

All numbers are known to a few units of 1e-15 (in t), and not better where they are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from headwright.noise.head.transform import expectations, gumbel_rule
from headwright.types import Bool, Float, Int

# Deviations up to these share a table: six in s^2 and x, then four in 1/s and t.
_EDGES = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0, 16.0)
_NARROW = 6
# Chebyshev nodes in s^2 or 1/s of each table: all of them miss less than 4e-14.
_NODES = (15, 15, 15, 15, 15, 15, 13, 11, 9, 9)
# Of the series: narrow logits bend more in a step.
_NARROW_ORDER = 12
_WIDE_ORDER = 10
_APART = 1 / 8
_LEFT = -34.0  # below it, and further for wide logits, a_k = e^{kx + k^2 s^2 / 2} to 1e-14
_RIGHT = 3.7  # and above it, and further, phi < 1e-17
_REACH = 8.5
_UNSEEN = -1  # the band of wide logits so low that nothing is ever seen of them
# A smaller phi is none: that of a narrow logit is known to more digits.
_NARROW_GONE = 1e-20
_WIDE_GONE = 1e-15

_TOGETHER = 128  # logits taken at a time: their series stay in cache
EFFORT = 30.0  # what one point costs, in exponentials

Rows = Float[np.ndarray, "r"]
Points = Float[np.ndarray, "r u"]
Series = Float[np.ndarray, "k c p"]


@dataclass(frozen=True)
class _Table:
    """Series about the points `_APART * (first ..)`, for each Chebyshev node between `low` and
    `high`."""

    series: Series
    first: int
    low: float
    high: float


def anywhere(x: Points, s: Rows) -> Float[np.ndarray, "r 3 u"]:
    """phi, a_1 and a_2 at points x[r], in ascending order, of logits of deviation s[r]."""
    band = np.searchsorted(_EDGES, s, side="right")
    band[_unseen(x[:, -1], s)] = _UNSEEN
    names = set(band.tolist())
    if len(names) == 1 and s.size <= _TOGETHER:
        return _of_band(names.pop(), x, s)
    a = np.empty((s.size, 3, x.shape[1]))
    order = np.argsort(s)
    for name in names:
        mine = order[band[order] == name]
        for begin in range(0, mine.size, _TOGETHER):
            some = mine[begin : begin + _TOGETHER]
            a[some] = _of_band(name, x[some], s[some])
    return a


def series_effort(last: Rows, s: Rows) -> Rows:
    """What one point of a logit costs, in exponentials, if `last` is the largest of them."""
    return np.where(_unseen(last, s), 0.0, EFFORT)


def _unseen(last: Rows, s: Rows) -> Bool[np.ndarray, "r"]:
    """Wide logits so low that nothing is seen of them at their largest point."""
    narrowest = _EDGES[_NARROW - 1]
    lowest, _ = _wide_range(narrowest)
    return (s >= narrowest) & (last < lowest * s)


def _of_band(band: int, x: Points, s: Rows) -> Float[np.ndarray, "r 3 u"]:
    """All logits of one table."""
    if band == _UNSEEN:
        return np.broadcast_to(np.array([[1.0], [0.0], [0.0]]), (s.size, 3, x.shape[1]))
    table = _table(band)
    wide = band >= _NARROW
    different, which = _different(s)
    place = 1.0 / different if wide else different * different
    between = (2 * place - table.low - table.high) / (table.high - table.low)
    series = _lagrange(between, table.series.shape[1]) @ table.series
    unit = s[:, None] if wide else np.ones((1, 1))

    # In steps of the table, from its first point
    t = x / (_APART * unit)
    t -= table.first
    last = table.series.shape[2] - 1
    nearest = np.rint(t)
    np.minimum(np.maximum(nearest, 0.0, out=nearest), last, out=nearest)
    index = nearest.astype(int)
    index += (last + 1) * which[:, None]
    t -= nearest
    t *= _APART
    phi, slope, bend = _sums(series.reshape(len(series), -1), index, t)

    a = np.empty((s.size, 3, x.shape[1]))
    a[:, 0] = phi
    np.divide(slope, -unit, out=a[:, 1])
    np.divide(bend, unit * unit, out=a[:, 2])
    a[:, 2] += a[:, 1]
    there = phi >= (_WIDE_GONE if wide else _NARROW_GONE)
    there &= nearest < last
    a *= there[:, None, :]
    _go_on(a, x, s, nearest == 0, wide=wide)
    return a


def _different(s: Rows) -> tuple[Float[np.ndarray, "_d"], Int[np.ndarray, "r"]]:
    """Neighbours of one deviation, as of keys with isotropic noise, share their series."""
    new = np.ones(s.size, dtype=bool)
    np.not_equal(s[1:], s[:-1], out=new[1:])
    return s[new], np.cumsum(new) - 1


def _sums(
    series: Float[np.ndarray, "k rp"], index: np.ndarray, off: Points
) -> tuple[Points, Points, Points]:
    """The polynomials, and their first and second derivatives, by Horner's rule."""
    # What is further off is not asked for.
    off = np.minimum(np.maximum(off, -_APART), _APART)
    slope = series[-1].take(index)
    value = slope * off
    value += series[-2].take(index)
    bend = np.zeros(off.shape)
    term = np.empty(off.shape)
    for row in series[-3::-1]:
        bend *= off
        bend += slope
        slope *= off
        slope += value
        value *= off
        value += row.take(index, out=term, mode="clip")  # the index is right: no mode is needed
    bend *= 2
    return value, slope, bend


def _go_on(
    a: Float[np.ndarray, "r 3 u"], x: Points, s: Rows, before: np.ndarray, *, wide: bool
) -> None:
    """To the left of the table: exponential functions, or nothing for wide logits."""
    rows, columns = np.nonzero(before)
    if not rows.size:
        return
    a_1 = np.zeros(rows.size)
    a_2 = np.zeros(rows.size)
    if not wide:
        variance = s[rows] ** 2
        points = x[rows, columns]
        a_1 = np.exp(points + variance / 2)
        a_2 = np.exp(2 * points + 2 * variance)
    a[rows, 0, columns] = 1.0 - a_1
    a[rows, 1, columns] = a_1
    a[rows, 2, columns] = a_2


def _chebyshev(count: int) -> Float[np.ndarray, "c"]:
    return np.cos(np.pi * (np.arange(count) + 0.5) / count)


@lru_cache(maxsize=16)
def _from_values(count: int) -> Float[np.ndarray, "c c"]:
    """Coefficients of the polynomial that is 1 at one Chebyshev node and 0 at the others."""
    orders = np.arange(count)
    coefficients = 2 / count * np.cos(np.outer(orders, np.arccos(_chebyshev(count))))
    coefficients[0] /= 2
    return coefficients


def _lagrange(place: Rows, count: int) -> Float[np.ndarray, "r c"]:
    """Weights of the Chebyshev nodes for a place between -1 and 1."""
    angle = np.arccos(np.minimum(np.maximum(place, -1.0), 1.0))
    return np.cos(angle[:, None] * np.arange(count)) @ _from_values(count)


def _narrow_range(widest: float) -> tuple[float, float]:
    """In x: to the left a_k are exponential functions, to the right phi is below 1e-17."""
    return _LEFT - 2.5 * widest**2, _RIGHT + _REACH * widest


def _wide_range(narrowest: float) -> tuple[float, float]:
    """In t: to the left 1 - phi is below 1e-17, to the right phi is."""
    tail = 40.0 / narrowest + narrowest / 2 if narrowest < 8.0 else 9.0
    return -tail, 9.2


@lru_cache(maxsize=16)
def _table(band: int) -> _Table:
    """What all deviations between two edges share."""
    edges = (0.0, *_EDGES, np.inf)
    narrowest = edges[band]
    widest = edges[band + 1]
    wide = band >= _NARROW
    ends = (1 / widest, 1 / narrowest) if wide else (narrowest**2, widest**2)
    nodes = 0.5 * (ends[1] - ends[0]) * _chebyshev(_NODES[band]) + 0.5 * (ends[0] + ends[1])
    left, right = _wide_range(narrowest) if wide else _narrow_range(widest)
    first = int(np.floor(left / _APART))
    t = _APART * np.arange(first, int(np.ceil(right / _APART)) + 1)
    make = _wide_series if wide else _narrow_series
    series = make(np.tile(t, nodes.size), np.repeat(nodes, t.size))
    return _Table(series.reshape(-1, nodes.size, t.size), first, *ends)


def _narrow_series(x: Rows, variance: Rows) -> Float[np.ndarray, "k r"]:
    """phi^(k) / k! from a_0 .. a_K, as D a_k = k a_k - a_{k+1}"""
    s = np.sqrt(variance)
    _, a = expectations(x, s, top=_NARROW_ORDER)
    rows = []
    orders = np.arange(_NARROW_ORDER + 1)[:, None]
    for k in range(_NARROW_ORDER + 1):
        rows.append(a[0])
        a = (orders[: len(a) - 1] * a[:-1] - a[1:]) / (k + 1)
    return np.stack(rows)


def _wide_series(t: Rows, inverse: Rows) -> Float[np.ndarray, "k r"]:
    """phi = E_L Phi(y), y = L / s - t, and d^k Phi / dt^k = -He_{k-1}(y) N(y)"""
    node, weight = gumbel_rule()
    y = node * inverse[:, None] - t[:, None]
    rows = [ndtr(y) @ weight]
    before = np.zeros(y.shape)
    hermite = np.exp(-0.5 * y * y) / np.sqrt(2 * np.pi)
    factorial = 1.0
    for k in range(1, _WIDE_ORDER + 1):
        factorial *= k
        rows.append(-(hermite @ weight) / factorial)
        before, hermite = hermite, y * hermite - (k - 1) * before
    return np.stack(rows)
