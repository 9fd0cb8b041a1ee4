"""Functions of a key's (m, s), known on a small grid and interpolated to every key.

Deviations are cut into strips with Chebyshev nodes; means lie on a lattice whose spacing is a multiple of the step
in u, so that psi(u_k + m_j, s) for all k and j is one short table read with different offsets. A cell is one strip
times one lattice interval; its keys read the `ORDER` lattice points around them and the nodes of their strip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.interpolate import make_interp_spline

from headwright.noise.nodes import Nodes
from headwright.noise.transform import lattice_transform, transform
from headwright.types import Array, Float, Int

ORDER = 10  # lattice points per key in m
_WIDTH = 0.25  # of a strip of deviations near zero; strips widen like s / 8
_CHEBYSHEV = 8  # nodes per strip
_TINY = 1e-300


@dataclass(frozen=True)
class Grid:
    """Strips of deviations (`edges`) and, per strip, lattice spacing and the first lattice point of its keys."""

    edges: Float[np.ndarray, "strips_plus_1"]
    spacing: Float[np.ndarray, "strips"]
    first: Int[np.ndarray, "strips"]
    count: Int[np.ndarray, "strips"]  # lattice points
    nodes: int  # Chebyshev nodes per strip

    @property
    def offsets(self) -> Int[np.ndarray, "strips_plus_1"]:
        """Where the columns of each strip begin; a column is (lattice point, Chebyshev node)."""
        return np.concatenate([[0], np.cumsum(self.count * self.nodes)])

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    def deviations(self, strip: int) -> Float[np.ndarray, "c"]:
        low, high = self.edges[strip], self.edges[strip + 1]
        angle = (np.arange(self.nodes) + 0.5) * np.pi / self.nodes
        return np.maximum(0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle), 0.0)

    def lattice(self, strip: int) -> Float[np.ndarray, "j"]:
        return self.spacing[strip] * (self.first[strip] + np.arange(self.count[strip]))


def strips(low: float, high: float, step: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Edges and lattice spacings of strips that cover the deviations, and the Chebyshev nodes of each."""
    if high - low <= 1e-12 * max(high, 1e-3):
        return np.array([low, np.nextafter(high, np.inf)]), np.array([step * max(1.0, np.floor(low))]), 1
    edges = [low]
    while edges[-1] < high:
        edges.append(edges[-1] + _WIDTH * max(1.0, edges[-1] / 2))
    edges = np.array(edges)
    edges = low + (edges - low) * (high - low) / (edges[-1] - low)
    edges[-1] = np.nextafter(high, np.inf)
    return edges, step * np.maximum(1.0, np.floor(edges[:-1])), _CHEBYSHEV


def tables(grid: Grid, nodes: Nodes) -> Float[np.ndarray, "3 u g"]:
    """psi, r and w at every node u for every column of the grid."""
    out = np.empty((3, nodes.u.size, grid.size))
    for strip in np.flatnonzero(grid.count).tolist():
        start, m, s = int(grid.offsets[strip]), grid.lattice(strip), grid.deviations(strip)
        block = out[:, :, start : start + m.size * grid.nodes].reshape(3, nodes.u.size, m.size, grid.nodes)
        if nodes.uniform:
            stride = round(grid.spacing[strip] / nodes.step)
            length = nodes.u.size + stride * (m.size - 1)
            t = lattice_transform(nodes.u[0] + m[0], nodes.step, length, s=s)
            at = np.arange(nodes.u.size)[:, None] + stride * np.arange(m.size)
            for f, values in enumerate((t.psi, t.r, t.w)):
                block[f] = values[at]
        else:
            block[:] = _graded(nodes.u[:, None] + m, s)
    return out


def _graded(x: Float[np.ndarray, "u j"], s: Float[np.ndarray, "c"]) -> Float[np.ndarray, "3 u j c"]:
    """The same off the lattice: a spline of ln(-psi), ln r and ln w, which are nearly straight lines."""
    out = np.empty((3, *x.shape, s.size))
    for c, deviation in enumerate(s):
        knot = 0.125 * max(1.0, deviation)
        points = np.arange(x.min() - 6 * knot, x.max() + 7 * knot, knot)
        t = transform(points[:, None], np.array([deviation]))
        logs = np.log(np.maximum(np.concatenate([-t.psi, t.r, t.w], axis=1), _TINY))
        out[..., c] = np.moveaxis(np.exp(make_interp_spline(points, logs, k=7)(x)), -1, 0)
    out[0] *= -1
    return out


def lagrange(x: Float[Array, "n"]) -> Float[Array, "n p"]:
    """Weights of the `ORDER` lattice points around x in [0, 1): points -ORDER/2 + 1 .. ORDER/2."""
    xp = compat.array_namespace(x)
    points = list(range(-ORDER // 2 + 1, ORDER // 2 + 1))
    gaps = [x - p for p in points]
    # Products of all gaps but one, from both ends.
    left, right = [xp.ones_like(x)], [xp.ones_like(x)]
    for gap in gaps[:-1]:
        left.append(left[-1] * gap)
    for gap in gaps[:0:-1]:
        right.append(right[-1] * gap)
    scale = [1.0 / float(np.prod([p - o for o in points if o != p])) for p in points]
    return xp.stack([a * b * c for a, b, c in zip(left, reversed(right), scale, strict=True)], axis=-1)


def chebyshev(x: Float[Array, "n"], nodes: int) -> Float[Array, "n c"]:
    """Weights of the Chebyshev nodes (ascending) for x in [-1, 1]: l_c = sum_k T_k(x) T_k(x_c) 2/nodes."""
    xp: Any = compat.array_namespace(x)
    T = [xp.ones_like(x), x]
    while len(T) < nodes:
        T.append(2 * x * T[-1] - T[-2])
    angle = (np.arange(nodes) + 0.5) * np.pi / nodes
    at = np.cos(np.arange(nodes)[:, None] * angle) * (2.0 / nodes)
    at[0] *= 0.5
    at *= (-1.0) ** np.arange(nodes)[:, None]  # nodes are -cos: T_k(-x) = (-1)^k T_k(x)
    return xp.stack(T[:nodes], axis=-1) @ xp.asarray(at, dtype=x.dtype, device=compat.device(x))
