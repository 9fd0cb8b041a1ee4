"""The two logits of one key under the Laplace transform:

    a_jk(x, x') = E[e^{jy + ky'} exp(-e^y - e^{y'})],    y = x + s g,  y' = x' + b g + t g'

Conditioning on g splits it: the expectation over g' is the one-logit transform at x' + b g, the one
over g a matrix product. On uniform nodes the points x' + b g are laid on one lattice, so that a
table over all pairs of nodes costs as many one-logit transforms as one row of it; elsewhere a
spline of degree nine stands in.

A wide logit turns from 0 to 1 within 1 / s, and a rule for g that sees it would have 95 s nodes.
But what the other logit leaves is as smooth as its own remaining noise t makes it, so that few
values and sinc functions describe it:

    a_jk(x, x') = sum_p T_j(g_p + x/s) N(g_p) I_k(x' + b g_p),    T_j(y) = int E_j(s y + s g) sinc(g / h) dg,

I_k the one-logit transform, E_j(y) = e^{jy} exp(-e^y). T_j is an expectation over L = ln Exp(1), as
in `transform`. The cost then depends on the correlation only.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.interpolate import make_interp_spline
from scipy.special import sici

from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import expectations, gumbel_rule, seen
from headwright.types import Float

_FINEST = 8  # points of the lattice per node; below that slope the spline is cheaper
_KNOT = 0.1  # of the spline, in units of max(1, t); error below 1e-11
_WIDE = 8.0  # deviations from which sinc functions are cheaper
_NUMBERS = 9.5  # a normal number is never larger
# Frequencies beyond these are below 1e-15 in a normal density, and in e^{ky} exp(-e^y).
_NORMAL_BAND, _GUMBEL_BAND = 8.5, 26.0
_ALIVE = 12  # tables of nodes of g times nodes of u that live at the same time
_ROWS = 1 << 12  # knots in work at once
_PER_PERIOD = 40  # knots of T per period of its highest frequency
# What a value of a spline, the products for one pair of nodes and a sine integral cost, in
# exponentials.
_SPLINE, _PRODUCTS, _SINE = 10.0, 0.1, 5.0


def bivariate(
    grids: tuple[Nodes, Nodes],
    m: Float[np.ndarray, "2"],
    s: Float[np.ndarray, "2"],
    *,
    c: float,
    top: int,
) -> Float[np.ndarray, "j k u w"]:
    """`a[j, k]`, j and k up to `top`, on all pairs of nodes, for logits N(m, s^2) with covariance
    c."""
    nodes = grids[0].u.size, grids[1].u.size
    if _by_sinc(nodes, s, c) < _by_steps(nodes, s):
        if s[1] > s[0]:
            return _wide((grids[1], grids[0]), m[::-1], s[::-1], c, top).transpose(1, 0, 3, 2)
        return _wide(grids, m, s, c, top)
    slope = c / s[0] if c else 0.0
    rest = float(np.sqrt(max(0.0, s[1] ** 2 - slope**2)))
    g, inner = _conditional(grids[1], m[1], slope, rest, float(s[0]), top)
    weight = np.exp(-g * g / 2)
    e = np.exp(np.minimum(grids[0].u[:, None] + m[0] + s[0] * g, 300.0))
    outer = np.exp(-e) * (weight / weight.sum())
    a = np.empty((top + 1, top + 1, e.shape[0], inner.shape[-1]))
    for j in range(top + 1):
        for k in range(top + 1):
            a[j, k] = outer @ inner[k]
        outer *= e
    return a


def evaluations(nodes: tuple[int, int], s: Float[np.ndarray, "2"], c: float) -> float:
    """About what `bivariate` costs for one key, in exponentials."""
    return min(_by_steps(nodes, s), _by_sinc(nodes, s, c))


def room(nodes: tuple[int, int], s: Float[np.ndarray, "2"], c: float) -> float:
    """Bytes `bivariate` takes for one key, its result not counted."""
    by_sinc = _by_sinc(nodes, s, c) < _by_steps(nodes, s)
    g = 2 * _NUMBERS / (_sinc_step(s, c) if by_sinc else _plain_step(max(s)))
    return _ALIVE * 8 * g * max(nodes)


def _plain_step(widest: float) -> float:
    """Of g, so that no logit advances by more than a fifth: aliasing is then exp(-2 pi^2/h^2) from
    the density and exp(-pi^2/(s h)) from exp(-e^y), as in the one-logit rule."""
    return 0.2 / max(0.5, widest)


def _by_steps(nodes: tuple[int, int], s: Float[np.ndarray, "2"]) -> float:
    """Nodes of g times nodes of u, in exponentials, spline values and products."""
    g = 2 * _NUMBERS / _plain_step(max(s))
    return g * (sum(nodes) * _SPLINE + nodes[0] * nodes[1] * _PRODUCTS)


def _by_sinc(nodes: tuple[int, int], s: Float[np.ndarray, "2"], c: float) -> float:
    """The same, with a table of T and one-logit transforms; not for narrow logits."""
    if max(s) < _WIDE:
        return np.inf
    h = _sinc_step(s, c)
    g = 2 * _NUMBERS / h
    rule = gumbel_rule()[0].size
    table = 6 * _NUMBERS / h * _PER_PERIOD / 2 * rule * _SINE
    return table + g * (max(nodes) * (rule + _SPLINE) + nodes[0] * nodes[1] * _PRODUCTS)


def _split(s: Float[np.ndarray, "2"], c: float) -> tuple[float, float]:
    """y' = x' + slope g + rest g', for the logit y = x + s g of the wider noise."""
    wide, other = max(s), min(s)
    slope = c / wide
    return slope, float(np.sqrt(max(0.0, other**2 - slope**2)))


def _sinc_step(s: Float[np.ndarray, "2"], c: float) -> float:
    """Half a period of the highest frequency in N(g) I_k(x' + slope g)."""
    slope, rest = _split(s, c)
    band = min(_NORMAL_BAND / rest, _GUMBEL_BAND) if rest else _GUMBEL_BAND
    return np.pi / (_NORMAL_BAND + abs(slope) * band)


def _wide(grids: tuple[Nodes, Nodes], m, s, c: float, top: int) -> Float[np.ndarray, "j k u w"]:
    """The table by sinc functions; `s[0]` is the wider deviation."""
    slope, rest = _split(s, c)
    h = _sinc_step(s, c)
    count = int(np.ceil(_NUMBERS / h))
    g = h * np.arange(-count, count + 1)
    x = grids[1].u + m[1] + (slope * g)[:, None]
    _, inner = expectations(x.reshape(-1, 1), np.array([rest]), top=top)
    inner = inner.reshape(top + 1, *x.shape) * (np.exp(-g * g / 2) / np.sqrt(2 * np.pi))[:, None]
    place = (grids[0].u + m[0]) / s[0]
    outer = np.zeros((top + 1, place.size, g.size))
    # Further out the logit y is never above 0, exp(-e^y) = 1, or always, and nothing is left.
    outer[0, place < -2 * _NUMBERS] = h
    near = np.abs(place) <= 2 * _NUMBERS
    outer[:, near] = _against_sinc(place[near, None] + g, float(s[0]), h, top)
    return outer[:, None] @ inner[None, :]


def _against_sinc(
    y: Float[np.ndarray, "u g"], s: float, h: float, top: int
) -> Float[np.ndarray, "j u g"]:
    """T_j(y), j up to `top`: a function without frequencies above pi / h, by a spline."""
    node, weight = gumbel_rule()
    knot = 2 * h / _PER_PERIOD
    if not y.size:
        return np.zeros((top + 1, *y.shape))
    points = np.arange(y.min() - 8 * knot, y.max() + 9 * knot, knot)
    table = np.empty((points.size, top + 1))
    for part in (slice(i, i + _ROWS) for i in range(0, points.size, _ROWS)):
        apart = node / s - points[part, None]
        # j = 0 by parts: the integral of sinc up to L/s - y.
        table[part, 0] = h * (0.5 + sici(np.pi * apart / h)[0] @ weight / np.pi)
        shape = np.sinc(apart / h) / s
        for j in range(1, top + 1):
            table[part, j] = shape @ (weight * np.exp((j - 1) * node))
    return np.moveaxis(make_interp_spline(points, table, k=9)(y), -1, 0)


def _conditional(grid: Nodes, m: float, slope: float, rest: float, s: float, top: int):
    """Nodes g and the one-logit expectations at `u + m + slope g`: (top + 1, g, u)."""
    widest = max(s, abs(slope))
    h = _plain_step(widest)
    reach = 9.5 + min(widest, 3.0) * (top > 1)
    finer = int(np.ceil(grid.step / (abs(slope) * h))) if slope else _FINEST + 1
    if grid.uniform and finer <= _FINEST:
        return _on_lattice(grid, m, slope, rest, finer, reach, top)
    g = np.arange(-np.ceil(reach / h), np.ceil(reach / h) + 1) * h
    if not slope:
        _, a = expectations((grid.u + m)[:, None], np.array([rest]), top=top)
        return g, np.broadcast_to(a[:, None, :, 0], (top + 1, g.size, grid.u.size))
    # Beyond these points nothing changes: the spline is as long as the logit is seen, whatever the
    # range of u.
    x = np.clip(grid.u + m + (slope * g)[:, None], *seen(np.array([rest])))
    knot = _KNOT * max(1.0, rest)
    points = np.arange(x.min() - 6 * knot, x.max() + 7 * knot, knot)
    _, a = expectations(points[:, None], np.array([rest]), top=top)
    return g, np.moveaxis(make_interp_spline(points, a[:, :, 0].T, k=9)(x), -1, 0)


def _on_lattice(
    grid: Nodes, m: float, slope: float, rest: float, finer: int, reach: float, top: int
):
    """|slope| h = step / finer: then u_k + m + slope g_j is point `finer k + j` of one lattice."""
    fine = grid.step / finer
    h = fine / abs(slope)
    half = int(np.ceil(reach / h))
    lattice = grid.u[0] + m + fine * np.arange(-half, finer * (grid.u.size - 1) + half + 1)
    _, a = expectations(lattice[:, None], np.array([rest]), top=top)
    a = np.ascontiguousarray(a[:, :, 0])
    row, item = a.strides
    inner = as_strided(
        a, (top + 1, 2 * half + 1, grid.u.size), (row, item, finer * item), writeable=False
    )
    g = h * np.arange(-half, half + 1)
    return (g if slope > 0 else -g), inner
