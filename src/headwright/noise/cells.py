"""Keys sorted into the cells of a grid.

A key whose logit stays so low that its weight is below rounding in every plausible draw is set aside: it belongs to
no cell. The n-sized work is array-API code and stays on the device of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.noise.blocks import blocks
from headwright.noise.grid import ORDER, Grid, strips
from headwright.noise.nodes import STEP, Nodes, nodes
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_REACH = 9.3  # deviations: beyond it a normal number is never seen (1e-20)
_DEEP = 43.0  # e^{-43}: a million such weights are still below 1e-12
_BLOCK = 1 << 14  # keys in work at once on the host
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted


@dataclass(frozen=True)
class Cells:
    grid: Grid
    nodes: Nodes
    strip: Int[np.ndarray, "c"]  # of each occupied cell
    interval: Int[np.ndarray, "c"]
    count: Int[np.ndarray, "c"]
    keys: Int[Array, "k"]  # the keys in reach, cell after cell
    place: Float[Array, "2 k"]  # of each of them: within its interval and within its strip, both in [-1, 1]
    lost: float  # bound on the weight of all keys out of reach

    @cached_property
    def columns(self) -> Int[np.ndarray, "c l b"]:
        """The `ORDER * nodes` neighbouring columns of the grid that the keys of each cell read."""
        lattice = self.interval - (ORDER // 2 - 1) - self.grid.first[self.strip]
        first = self.grid.offsets[self.strip] + lattice * self.grid.nodes
        return first[:, None, None] + np.arange(ORDER * self.grid.nodes).reshape(ORDER, -1)

    def middle(self, function: Float[np.ndarray, "*u g"]) -> Float[np.ndarray, "*u c"]:
        """A function on the grid, read near the middle of each cell."""
        return function[..., self.columns[:, ORDER // 2 - 1, self.grid.nodes // 2]]


def make_cells(m: Float[Array, "n"], s: Float[Array, "n"]) -> Cells:
    xp = compat.array_namespace(m)
    parts = blocks(m.shape[0], _BLOCK, m)
    # ln S >= floor in every plausible draw, and E[min(1, e^{z - floor})] <= e^{m + s^2/2 - floor}.
    floor = max(float(xp.max(m[part] - _REACH * s[part])) for part in parts)
    extremes = np.array([_extremes(m[part], s[part], floor) for part in parts])
    low, (m_low, m_high, high) = extremes[:, 0].min(), (extremes[:, 1].min(), *extremes[:, 2:].max(axis=0))
    edges, spacing, chebyshev_nodes = strips(low, high, STEP)
    # Cells are numbered strip by strip; the last number is for keys out of reach.
    first = np.floor(m_low / spacing)
    offset = np.cumsum(np.append(0, np.floor(m_high / spacing) - first + 1))
    device: dict[str, Any] = {"dtype": m.dtype, "device": compat.device(m)}
    inner = xp.asarray(np.append(edges[1:-1], np.inf), **device)
    of_strip = [xp.asarray(x, **device) for x in (1 / spacing, offset[:-1] - first, edges[:-1], 2 / np.diff(edges))]

    def sort_in(part: slice) -> tuple[Array, Array, Array]:
        strip = xp.searchsorted(inner, s[part], side="right")
        per_spacing, shift, edge, per_half = (xp.take(x, strip) for x in of_strip)
        far = _far(m[part], s[part], floor)
        position = xp.where(far, 0.0, m[part]) * per_spacing
        interval = xp.floor(position)
        name = xp.where(far, float(offset[-1]), interval + shift)
        across = (s[part] - edge) * per_half - 1 if chebyshev_nodes > 1 else xp.zeros_like(position)
        return xp.astype(name, xp.int32), 2 * (position - interval) - 1, across

    name, along, across = (xp.concat(x) for x in zip(*map(sort_in, parts), strict=True))
    order = _sort(name, int(offset[-1]))
    edge = xp.arange(int(offset[-1]) + 1, dtype=name.dtype, device=compat.device(m))
    count = np.diff(to_numpy(xp.searchsorted(xp.take(name, order), edge)))
    occupied = np.flatnonzero(count)
    strip = np.searchsorted(offset, occupied, side="right") - 1
    interval = (occupied - offset[strip] + first[strip]).astype(int)
    keys = order[: int(count.sum())]
    grid = _grid(edges, spacing, chebyshev_nodes, strip, interval)
    return Cells(
        grid=grid,
        nodes=_nodes(grid, strip, interval, count[occupied]),
        strip=strip,
        interval=interval,
        count=count[occupied],
        keys=keys,
        place=xp.stack([xp.take(x, keys) for x in (along, across)]),
        lost=float(m.shape[0] - count.sum()) * float(np.exp(-_DEEP)),
    )


def _far(m: Array, s: Array, floor: float) -> Array:
    xp = compat.array_namespace(m)
    return m + xp.minimum(s * s / 2, _REACH * s) < floor - _DEEP


def _extremes(m: Array, s: Array, floor: float) -> tuple[float, float, float, float]:
    """Smallest s and m, largest m and s among the keys in reach."""
    xp, far = compat.array_namespace(m), _far(m, s, floor)
    lowest, highest = ([xp.where(far, end, x) for x in (s, m)] for end in (xp.inf, -xp.inf))
    return tuple(
        float(f(x)) for f, x in ((xp.min, lowest[0]), (xp.min, lowest[1]), (xp.max, highest[1]), (xp.max, highest[0]))
    )


def _sort(name: Int[Array, "n"], largest: int) -> Int[Array, "n"]:
    if compat.is_numpy_array(name) and largest < 1 << 16:
        return np.argsort(name.astype(np.uint16), kind="stable")  # a radix sort, six times faster
    return compat.array_namespace(name).argsort(name, stable=True)


def _grid(edges, spacing, chebyshev_nodes, strip, interval) -> Grid:
    first, count = np.zeros(spacing.size, dtype=int), np.zeros(spacing.size, dtype=int)
    for k in np.unique(strip):
        mine = interval[strip == k]
        first[k] = mine.min() - (ORDER // 2 - 1)
        count[k] = mine.max() - mine.min() + ORDER
    return Grid(edges, spacing, first, count, chebyshev_nodes)


def _nodes(grid: Grid, strip, interval, count) -> Nodes:
    """Nodes in u from a coarse picture of the keys, each moved down to the lower edge of its interval: that lengthens
    the right end and costs the left one a factor e^{4/3}. What the ends cut off is measured afterwards."""
    _, first, which = np.unique(strip + 1j * (interval // _COARSE), return_index=True, return_inverse=True)
    number = strip[first]
    m = grid.spacing[number] * (interval[first] // _COARSE) * _COARSE
    s = 0.5 * (grid.edges[number] + grid.edges[number + 1])
    return nodes(m, s, np.bincount(which, weights=count))
