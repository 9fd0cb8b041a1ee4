"""The two logits of one key under the Laplace transform:

    a_jk(x, x') = E[e^{jy + ky'} exp(-e^y - e^{y'})],    y = x + s g,  y' = x' + b g + t g'

Conditioning on g splits it: the expectation over g' is the one-logit transform at x' + b g, the one
over g a matrix product. On uniform nodes the points x' + b g are laid on one lattice, so that a
table over all pairs of nodes costs as many one-logit transforms as one row of it; elsewhere a
spline of degree nine stands in.

A wide logit turns from 0 to 1 within 1 / s, and a rule for g that sees it would have 95 s nodes.
But what the other logit leaves is as smooth as its own remaining noise t makes it, so that few
values and sinc functions describe it:

    a_jk(x, x') = sum_p T_j(g_p + x/s) N(g_p) I_k(x' + b g_p),
    T_j(y)      = int E_j(s y + s g) sinc(g / h) dg,

I_k the one-logit transform, E_j(y) = e^{jy} exp(-e^y). T_j is an expectation over L = ln Exp(1), as
in `transform`. The cost then depends on the correlation only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.special import sici

from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import expectations, gumbel_rule, seen
from headwright.types import Float, HostPairOfLogits

_FINEST = 8  # points of the lattice per node; below that slope the spline is cheaper
_KNOT = 0.1  # of the spline, in units of max(1, t); error below 1e-11
_WIDE = 8.0  # deviations from which sinc functions are cheaper
_NUMBERS = 9.5  # a normal number is never larger
# Frequencies beyond these are below 1e-15 in a normal density, and in e^{ky} exp(-e^y).
_NORMAL_BAND = 8.5
_GUMBEL_BAND = 26.0
_LARGEST_EXPONENT = 300.0  # of e^y, see `transform`
_ALIVE = 12  # tables of nodes of g times nodes of u that live at the same time
_ROWS = 1 << 12  # knots in work at once
_PER_PERIOD = 40  # knots of T per period of its highest frequency
# What a value of a spline, the products for one pair of nodes and a sine integral cost, in
# exponentials.
_SPLINE = 10.0
_PRODUCTS = 0.1
_SINE = 5.0

PairTable = Float[np.ndarray, "j k u w"]
Counts = tuple[int, int]  # of the nodes of either head


def bivariate(
    grids: tuple[Nodes, Nodes], m: HostPairOfLogits, s: HostPairOfLogits, *, c: float, top: int
) -> PairTable:
    """`a[j, k]`, j and k up to `top`, on all pairs of nodes, for logits N(m, s^2) with covariance
    c."""
    counts = (grids[0].u.size, grids[1].u.size)
    if _by_sinc(counts, s, c) < _by_steps(counts, s):
        if s[1] > s[0]:
            other_way = (grids[1], grids[0])
            swapped = _wide(other_way, m[::-1], s[::-1], c, top)
            return swapped.transpose(1, 0, 3, 2)
        return _wide(grids, m, s, c, top)

    slope = c / s[0] if c else 0.0
    unexplained = max(0.0, s[1] ** 2 - slope**2)
    rest = float(np.sqrt(unexplained))
    second = _Second(grids[1], float(m[1]), slope, rest, top)
    widest = max(float(s[0]), abs(slope))
    g, inner = second.on_numbers(widest=widest)
    y = grids[0].u[:, None] + m[0] + s[0] * g
    return _products(y, g, inner)


def _products(y: Float[np.ndarray, "u g"], g: np.ndarray, inner: np.ndarray) -> PairTable:
    """sum_g N(g) E_j(y) I_k(g), for all j and k; `y` is used up."""
    orders, _, columns = inner.shape
    weight = np.exp(-g * g / 2)
    np.minimum(y, _LARGEST_EXPONENT, out=y)
    e = np.exp(y, out=y)
    outer = np.exp(-e) * (weight / weight.sum())
    a = np.empty((orders, orders, e.shape[0], columns))
    for j in range(orders):
        for k in range(orders):
            a[j, k] = outer @ inner[k]
        outer *= e
    return a


def evaluations(nodes: Counts, s: HostPairOfLogits, c: float) -> float:
    """About what `bivariate` costs for one key, in exponentials."""
    return min(_by_steps(nodes, s), _by_sinc(nodes, s, c))


def room(nodes: Counts, s: HostPairOfLogits, c: float) -> float:
    """Bytes `bivariate` takes for one key, its result not counted."""
    by_sinc = _by_sinc(nodes, s, c) < _by_steps(nodes, s)
    step = _sinc_step(s, c) if by_sinc else _plain_step(max(s))
    numbers = 2 * _NUMBERS / step
    return _ALIVE * 8 * numbers * max(nodes)


def _plain_step(widest: float) -> float:
    """Of g, so that no logit advances by more than a fifth: aliasing is then exp(-2 pi^2/h^2) from
    the density and exp(-pi^2/(s h)) from exp(-e^y), as in the one-logit rule."""
    return 0.2 / max(0.5, widest)


def _by_steps(nodes: Counts, s: HostPairOfLogits) -> float:
    """Nodes of g times nodes of u, in exponentials, spline values and products."""
    numbers = 2 * _NUMBERS / _plain_step(max(s))
    products = nodes[0] * nodes[1] * _PRODUCTS
    return numbers * (sum(nodes) * _SPLINE + products)


def _by_sinc(nodes: Counts, s: HostPairOfLogits, c: float) -> float:
    """The same, with a table of T and one-logit transforms; not for narrow logits."""
    if max(s) < _WIDE:
        return np.inf
    h = _sinc_step(s, c)
    numbers = 2 * _NUMBERS / h
    rule = gumbel_rule()[0].size
    table = 6 * _NUMBERS / h * _PER_PERIOD / 2 * rule * _SINE
    products = nodes[0] * nodes[1] * _PRODUCTS
    values = max(nodes) * (rule + _SPLINE)
    return table + numbers * (values + products)


def _split(s: HostPairOfLogits, c: float) -> tuple[float, float]:
    """y' = x' + slope g + rest g', for the logit y = x + s g of the wider noise."""
    slope = c / max(s)
    rest = np.sqrt(max(0.0, min(s) ** 2 - slope**2))
    return slope, float(rest)


def _sinc_step(s: HostPairOfLogits, c: float) -> float:
    """Half a period of the highest frequency in N(g) I_k(x' + slope g)."""
    slope, rest = _split(s, c)
    band = min(_NORMAL_BAND / rest, _GUMBEL_BAND) if rest else _GUMBEL_BAND
    return np.pi / (_NORMAL_BAND + abs(slope) * band)


def _wide(
    grids: tuple[Nodes, Nodes], m: HostPairOfLogits, s: HostPairOfLogits, c: float, top: int
) -> PairTable:
    """The table by sinc functions; `s[0]` is the wider deviation."""
    slope, rest = _split(s, c)
    h = _sinc_step(s, c)
    count = int(np.ceil(_NUMBERS / h))
    g = h * np.arange(-count, count + 1)
    shifts = (slope * g)[:, None]
    x = grids[1].u + m[1] + shifts
    _, a = expectations(x.reshape(-1, 1), np.array([rest]), top=top)
    bell = np.exp(-g * g / 2)
    density = bell / np.sqrt(2 * np.pi)
    inner = a.reshape(top + 1, *x.shape) * density[:, None]

    place = (grids[0].u + m[0]) / s[0]
    outer = np.zeros((top + 1, place.size, g.size))
    # Further out the logit y is never above 0, exp(-e^y) = 1, or always, and nothing is left.
    outer[0, place < -2 * _NUMBERS] = h
    near = np.abs(place) <= 2 * _NUMBERS
    y = place[near, None] + g
    outer[:, near] = _against_sinc(y, float(s[0]), h, top)
    return outer[:, None] @ inner[None, :]


def _against_sinc(
    y: Float[np.ndarray, "u g"], s: float, h: float, top: int
) -> Float[np.ndarray, "j u g"]:
    """T_j(y), j up to `top`: a function without frequencies above pi / h, by a spline."""
    if not y.size:
        return np.zeros((top + 1, *y.shape))
    node, weight = gumbel_rule()
    knot = 2 * h / _PER_PERIOD
    first = y.min() - 8 * knot
    points = np.arange(first, y.max() + 9 * knot, knot)
    table = np.empty((points.size, top + 1))
    for start in range(0, points.size, _ROWS):
        part = slice(start, start + _ROWS)
        apart = node / s - points[part, None]
        # j = 0 by parts: the integral of sinc up to L/s - y.
        sine = sici(np.pi * apart / h)[0]
        table[part, 0] = h * (0.5 + sine @ weight / np.pi)
        shape = np.sinc(apart / h) / s
        for j in range(1, top + 1):
            tilted = weight * np.exp((j - 1) * node)
            table[part, j] = shape @ tilted
    return _by_spline(points, table, y)


def _by_spline(points: np.ndarray, table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The columns of a table, between its points, in front."""
    from scipy.interpolate import make_interp_spline  # takes as long as all other imports together

    return np.moveaxis(make_interp_spline(points, table, k=9)(x), -1, 0)


@dataclass(frozen=True)
class _Second:
    """The second logit, `u + m + slope g + rest g'` at the nodes of its head, given g."""

    grid: Nodes
    m: float
    slope: float
    rest: float
    top: int

    def on_numbers(self, *, widest: float) -> tuple[np.ndarray, np.ndarray]:
        """Nodes g, and the one-logit expectations at `u + m + slope g`: (top + 1, g, u)."""
        h = _plain_step(widest)
        reach = 9.5 + min(widest, 3.0) * (self.top > 1)
        if self.slope and self.grid.uniform:
            moved = abs(self.slope) * h
            finer = int(np.ceil(self.grid.step / moved))
            if finer <= _FINEST:
                return self._on_lattice(finer, reach)
        half = np.ceil(reach / h)
        g = np.arange(-half, half + 1) * h
        return g, self._between_knots(g) if self.slope else self._constant(g.size)

    def _expectations(self, x: np.ndarray) -> Float[np.ndarray, "k x"]:
        """a_0 .. a_top of the remaining noise."""
        deviation = np.array([self.rest])
        _, a = expectations(x[:, None], deviation, top=self.top)
        return a[:, :, 0]

    def _constant(self, numbers: int) -> np.ndarray:
        """The same for every g: the logits are uncorrelated."""
        a = self._expectations(self.grid.u + self.m)
        shape = (self.top + 1, numbers, self.grid.u.size)
        return np.broadcast_to(a[:, None, :], shape)

    def _between_knots(self, g: np.ndarray) -> np.ndarray:
        """The expectations between the knots of a spline."""
        # Beyond these points nothing changes: the spline is as long as the logit is seen, whatever
        # the range of u.
        shifts = (self.slope * g)[:, None]
        left, right = seen(np.array([self.rest]))
        x = np.clip(self.grid.u + self.m + shifts, left, right)
        knot = _KNOT * max(1.0, self.rest)
        first = x.min() - 6 * knot
        points = np.arange(first, x.max() + 7 * knot, knot)
        known = self._expectations(points)
        return _by_spline(points, known.T, x)

    def _on_lattice(self, finer: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """|slope| h = step / finer: then u_k + m + slope g_j is point `finer k + j` of one
        lattice."""
        count = self.grid.u.size
        fine = self.grid.step / finer
        h = fine / abs(self.slope)
        half = int(np.ceil(reach / h))
        last = finer * (count - 1) + half
        places = np.arange(-half, last + 1)
        lattice = self.grid.u[0] + self.m + fine * places
        a = np.ascontiguousarray(self._expectations(lattice))
        row, item = a.strides
        shape = (self.top + 1, 2 * half + 1, count)
        inner = as_strided(a, shape, (row, item, finer * item), writeable=False)
        g = h * np.arange(-half, half + 1)
        return (g if self.slope > 0 else -g), inner
