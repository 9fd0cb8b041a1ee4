"""The transform of many logits, each on nodes of its own at equal distances.

A logit's points are x + j step, j = 0, 1, .. Written as x = J step + offset they lie on one lattice
for all logits, and what is expected of y = x + s g is a weighted sum over a finer lattice around
J step, whose functions are tabulated once:

    a_k(J step + offset) = sum_i weight_i f_k(J step + i h),   weight_i ~ N(i h - offset; s)

a product of matrices, all J at once. Narrow logits have heat polynomials for weights instead, and
derivatives for functions: a_k = sum_p E[(offset + s g)^p] f_k^(p)(J step) / p!. To the left of the
tables everything is an exponential function of x, to the right of them phi is zero. Wide logits
have Taylor series (`series`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided

from headwright.noise.head.series import EFFORT, anywhere
from headwright.types import Float

# Bands of deviations that share a table: heat polynomials below `_NARROW`, then weights, each band
# up to `_BAND` times as wide as the one before.
_NARROW = 0.05
_WIDE = 2.0
_BAND = 2.0**0.5
_ORDERS = 18  # of the heat polynomials
# Steps of the finer lattice, in deviations and at most: aliasing of a normal density and of
# exp(-e^y) is below 1e-17. It goes so far as the rule of `transform` does.
_PER_DEVIATION = 0.6
_LONGEST = 0.21
_REACH = 8.5
_LEFT = -34.0  # below it, and further for wide logits, a_k = e^{kx + k^2 s^2 / 2} to 1e-14
_RIGHT = 3.7  # and above it, and further, phi < 1e-17
_LOW = -1.0  # points below it are low: 1 - phi is the smaller one
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`
_TOGETHER = 256  # logits taken at a time: their numbers stay in cache
_MULTIPLY = 1 / 50  # what a product costs beside an exponential
_PASSES = 2.0  # and what all passes over a number do
_ANYWHERE = -2
_FAR = -3  # names of two ways beside the bands 0, 1, .. and the narrow band -1

Rows = Float[np.ndarray, "r"]
Points = Float[np.ndarray, "r k u"]  # a_0 .. a_top of each row


@dataclass(frozen=True)
class _Table:
    """Functions around the points J step of a band, J = `first` .., one column for each J; those
    of phi are of 1 - phi in the `low` first ones. `apart` is the finer lattice, empty for the
    narrow band."""

    functions: Float[np.ndarray, "k w j"]
    apart: Float[np.ndarray, "_w"]
    first: int
    low: int

    @property
    def size(self) -> int:
        """Points J step."""
        return self.functions.shape[2]


def on_equal_nodes(x: Rows, s: Rows, *, step: float, size: int, top: int = 2) -> Points:
    """phi = a_0 and a_1 .. a_top at `x[r] + step * (0 .. size - 1)` of logits of deviation s[r]."""
    band = np.full(x.size, _ANYWHERE)
    narrow = s < _WIDE
    number = np.log(np.maximum(s, _NARROW) / _NARROW) / np.log(_BAND)
    band[narrow] = np.floor(number[narrow]).astype(int)
    band[s < _NARROW] = -1
    band[narrow & (x + step * size < _LEFT - 2.5 * s * s)] = _FAR

    names = set(band.tolist())
    if len(names) == 1 and x.size <= _TOGETHER:
        return _of_band(names.pop(), x, s, step, size, top)
    a = np.empty((x.size, top + 1, size))
    for name in names:
        mine = np.flatnonzero(band == name)
        for begin in range(0, mine.size, _TOGETHER):
            some = mine[begin : begin + _TOGETHER]
            a[some] = _of_band(name, x[some], s[some], step, size, top)
    return a


def _of_band(name: int, x: Rows, s: Rows, step: float, size: int, top: int) -> Points:
    """All logits of one band."""
    if name == _FAR:
        return _exponential(x, s, step, size, top)
    if name == _ANYWHERE:
        points = x[:, None] + step * np.arange(size)
        return anywhere(points, s)[:, : top + 1]
    table = _table(name, step, top)
    place = np.floor(x / step).astype(int)
    offset = x - step * place
    weight = _weights(table, offset, s) if name >= 0 else _heat(offset - step / 2, s)
    begin = int(place.min())
    found = _from_table(table, weight, step, begin - table.first, int(place.max()) + size - begin)
    # Every place from which `size` points are there, without a copy: `sliding_window_view`, whose
    # checks take as long as the products of a small block.
    windows = as_strided(
        found,
        (*found.shape[:2], found.shape[2] - size + 1, size),
        (*found.strides, found.strides[2]),
        writeable=False,
    )
    return windows[:, np.arange(x.size), place - begin].transpose(1, 0, 2)


def _from_table(
    table: _Table, weight: Float[np.ndarray, "r w"], step: float, first: int, count: int
) -> Float[np.ndarray, "k r c"]:
    """`count` points of each row, from the one that is `first` in the table, which goes on to both
    sides."""
    before = min(max(0, -first), count)
    end = max(before, min(count, table.size - first))
    found = np.zeros((len(table.functions), len(weight), count))
    there = table.functions[:, :, first + before : first + end]
    np.matmul(weight, there, out=found[:, :, before:end])
    if before:
        distance = step * np.arange(-first, -first - before, -1)
        edge = weight @ table.functions[:, :, :1]
        for k in range(len(found)):
            found[k, :, :before] = edge[k] * np.exp(-max(k, 1) * distance)
    low = max(0, table.low - first)
    np.subtract(1.0, found[0, :, :low], out=found[0, :, :low])
    return found


def _exponential(x: Rows, s: Rows, step: float, size: int, top: int) -> Points:
    """Far to the left: a_k = e^{kx + k^2 s^2 / 2}, and 1 - phi = a_1"""
    a = np.empty((x.size, top + 1, size))
    points = x[:, None] + step * np.arange(size)
    variance = (s * s)[:, None]
    for k in range(1, top + 1):
        a[:, k] = np.exp(k * points + k * k / 2 * variance)
    a[:, 0] = 1.0 - a[:, 1]
    return a


def _weights(table: _Table, offset: Rows, s: Rows) -> Float[np.ndarray, "r w"]:
    """N(i h - offset; s) of the neighbours, adding up to one."""
    g = table.apart - offset[:, None]
    g /= s[:, None]
    g *= g
    g *= -0.5
    weight = np.exp(g, out=g)
    weight /= weight.sum(axis=1, keepdims=True)
    return weight


def _heat(offset: Rows, s: Rows) -> Float[np.ndarray, "r w"]:
    """E[(offset + s g)^p], p = 0, 1, ..:  h_{p+1} = offset h_p + p s^2 h_{p-1}"""
    variance = s * s
    h = [np.ones(s.size), offset]
    for p in range(1, _ORDERS - 1):
        h.append(offset * h[p] + p * variance * h[p - 1])
    return np.stack(h, axis=1)


@lru_cache(maxsize=64)
def _table(band: int, step: float, top: int) -> _Table:
    """What all logits of a band share."""
    narrowest = _NARROW * _BAND**band
    widest = _NARROW if band < 0 else min(narrowest * _BAND, _WIDE)
    first = int(np.floor((_LEFT - 2.5 * widest**2) / step))
    last = int(np.ceil((_RIGHT + _REACH * widest) / step))
    places = step * np.arange(first, last + 1)
    low = int(np.floor(_LOW / step)) - first

    if band < 0:
        apart = np.empty(0)
        functions = _derivatives(places + step / 2, top)
    else:
        h = min(_PER_DEVIATION * narrowest, _LONGEST)
        left = np.ceil(_REACH * widest / h)
        right = np.ceil(((_REACH + widest) * widest + step) / h)
        apart = h * np.arange(-left, right + 1)
        functions = _functions(places + apart[:, None], top)
    gap, phi, *powers = functions
    smaller = np.where(np.arange(places.size) < low, gap, phi)
    return _Table(np.stack([smaller, *powers]), apart, first, low)


def _functions(y: Float[np.ndarray, "*w j"], top: int) -> list[Float[np.ndarray, "*w j"]]:
    """-expm1(-e^y), and e^{ky} exp(-e^y) for k = 0 .. top"""
    e = np.exp(np.minimum(y, _LARGEST_EXPONENT))
    powers = np.cumprod([np.exp(-e), *[e] * top], axis=0)
    return [-np.expm1(-e), *powers]


def _derivatives(y: Float[np.ndarray, "j"], top: int) -> list[Float[np.ndarray, "w j"]]:
    """The same functions' derivatives over p!, p = 0, 1, ..:  f_k' = k f_k - f_{k+1}"""
    f = np.stack(_functions(y, top + _ORDERS)[1:])
    gap = -np.expm1(-np.exp(y))
    rows = [[] for _ in range(top + 1)]
    for p in range(_ORDERS):
        for k in range(top + 1):
            rows[k].append(f[k])
        orders = np.arange(len(f) - 1)[:, None]
        f = (orders * f[:-1] - f[1:]) / (p + 1)
    phi = np.stack(rows[0])
    of_gap = np.concatenate([gap[None, :], -phi[1:]])
    return [of_gap, *(np.stack(row) for row in rows)]


def nodes_effort(step: float, s: Float[np.ndarray, "*q n"]) -> Float[np.ndarray, "*q n"]:
    """What one node of `on_equal_nodes` costs for each logit, in exponentials."""
    h = np.clip(_PER_DEVIATION * s, _PER_DEVIATION * _NARROW, _LONGEST)
    neighbours = (2 * _REACH + s) * np.maximum(s, _NARROW) / h
    return np.where(s < _WIDE, _PASSES + 3 * _MULTIPLY * neighbours, EFFORT)
