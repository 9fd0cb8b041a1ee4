"""The two logits of one key under the Laplace transform:

    a_jk(x, x') = E[e^{jy + ky'} exp(-e^y - e^{y'})],    y = x + s g,  y' = x' + b g + t g'

Conditioning on g splits it: the expectation over g' is the one-logit transform at x' + b g, the one over g a
matrix product. On uniform nodes the points x' + b g are laid on one lattice, so that a table over all pairs of
nodes costs as many one-logit transforms as one row of it; elsewhere a spline of degree nine stands in.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.interpolate import make_interp_spline

from headwright.noise.nodes import Nodes
from headwright.noise.transform import expectations
from headwright.types import Float

_FINEST = 8  # points of the lattice per node; below that slope the spline is cheaper
_KNOT = 0.1  # of the spline, in units of max(1, t); error below 1e-11


def bivariate(
    grids: tuple[Nodes, Nodes], m: Float[np.ndarray, "2"], s: Float[np.ndarray, "2"], *, c: float, top: int
) -> Float[np.ndarray, "j k u w"]:
    """`a[j, k]`, j and k up to `top`, on all pairs of nodes, for logits N(m, s^2) with covariance c."""
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


def evaluations(nodes: int, s: Float[np.ndarray, "2 *n"]) -> Float[np.ndarray, "*n"]:
    """About how many numbers `bivariate` handles for one key: nodes of g times nodes of u."""
    return nodes * 76 * np.maximum(s.max(axis=0), 0.5)


def _conditional(grid: Nodes, m: float, slope: float, rest: float, s: float, top: int):
    """Nodes g and the one-logit expectations at `u + m + slope g`: (top + 1, g, u)."""
    widest = max(s, abs(slope), 1e-300)
    # Aliasing exp(-2 pi^2/h^2) from the density, exp(-pi^2/(s h)) from exp(-e^y): as in the one-logit rule.
    h = min(0.4, 0.2 / widest)
    reach = 9.5 + min(widest, 3.0) * (top > 1)
    finer = int(np.ceil(grid.step / (abs(slope) * h))) if slope else _FINEST + 1
    if grid.uniform and finer <= _FINEST:
        return _on_lattice(grid, m, slope, rest, finer, reach, top)
    g = np.arange(-np.ceil(reach / h), np.ceil(reach / h) + 1) * h
    if not slope:
        _, a = expectations((grid.u + m)[:, None], np.array([rest]), top=top)
        return g, np.broadcast_to(a[:, None, :, 0], (top + 1, g.size, grid.u.size))
    x = grid.u + m + (slope * g)[:, None]
    knot = _KNOT * max(1.0, rest)
    points = np.arange(x.min() - 6 * knot, x.max() + 7 * knot, knot)
    _, a = expectations(points[:, None], np.array([rest]), top=top)
    return g, np.moveaxis(make_interp_spline(points, a[:, :, 0].T, k=9)(x), -1, 0)


def _on_lattice(grid: Nodes, m: float, slope: float, rest: float, finer: int, reach: float, top: int):
    """|slope| h = step / finer: then u_k + m + slope g_j is point `finer k + j` of one lattice."""
    fine = grid.step / finer
    h = fine / abs(slope)
    half = int(np.ceil(reach / h))
    lattice = grid.u[0] + m + fine * np.arange(-half, finer * (grid.u.size - 1) + half + 1)
    _, a = expectations(lattice[:, None], np.array([rest]), top=top)
    a = np.ascontiguousarray(a[:, :, 0])
    row, item = a.strides
    inner = as_strided(a, (top + 1, 2 * half + 1, grid.u.size), (row, item, finer * item), writeable=False)
    g = h * np.arange(-half, half + 1)
    return (g if slope > 0 else -g), inner
