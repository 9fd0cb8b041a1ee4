"""Keys sorted into the cells of a grid, and functions of (m, s) brought from the grid to every key.

A key whose logit stays so low that its weight is below rounding in every plausible draw is set aside: it belongs to
no cell. The n-sized work is array-API code and stays on the device of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.noise.grid import ORDER, Grid, chebyshev, lagrange, strips
from headwright.noise.nodes import STEP, Nodes, nodes
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float, Int

_REACH = 9.3  # deviations: beyond it a normal number is never seen (1e-20)
_DEEP = 43.0  # e^{-43}: a million such weights are still below 1e-12
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted


@dataclass(frozen=True)
class Cells:
    grid: Grid
    nodes: Nodes
    name: Int[Array, "n"]  # the occupied cell of each key, in their order; keys out of reach are in none: c
    strip: Int[np.ndarray, "c"]  # of each occupied cell
    interval: Int[np.ndarray, "c"]
    count: Int[np.ndarray, "c"]
    place: Float[Array, "2 n"]  # of each key: within its interval [0, 1) and within its strip [-1, 1]
    lost: float  # bound on the weight of all keys out of reach

    @property
    def alive(self) -> int:
        return int(self.count.sum())

    @property
    def column(self) -> Int[np.ndarray, "c"]:
        """The first of the `ORDER * nodes` neighbouring columns a cell's keys are interpolated from."""
        lattice = self.interval - (ORDER // 2 - 1) - self.grid.first[self.strip]
        return self.grid.offsets[self.strip] + lattice * self.grid.nodes

    def middle(self, function: Float[np.ndarray, "*u g"]) -> Float[np.ndarray, "*u c"]:
        """A function on the grid, read near the middle of each cell."""
        return function[..., self.column + (ORDER // 2 - 1) * self.grid.nodes + self.grid.nodes // 2]

    def rough_total(self, psi: Float[np.ndarray, "u g"]) -> Float[np.ndarray, "u"]:
        """Psi with every key moved to the middle of its cell."""
        return self.middle(psi) @ self.count

    def columns_of(self, which: Int[np.ndarray, "k"]) -> Int[np.ndarray, "columns"]:
        """All grid columns that the keys of some cells read."""
        return np.unique(self.column[which][:, None] + np.arange(ORDER * self.grid.nodes))


def make_cells(m: Float[Array, "n"], s: Float[Array, "n"]) -> Cells:
    xp = compat.array_namespace(m)
    # ln S >= floor in every plausible draw, and E[min(1, e^{z - floor})] <= e^{m + s^2/2 - floor}.
    floor = float(xp.max(m - _REACH * s))
    far = m + xp.minimum(s * s / 2, _REACH * s) < floor - _DEEP
    low, high = float(xp.min(xp.where(far, xp.inf, s))), float(xp.max(xp.where(far, -xp.inf, s)))
    edges, spacing, chebyshev_nodes = strips(low, high, STEP)
    host: dict[str, Any] = {"dtype": m.dtype, "device": compat.device(m)}
    inner = xp.asarray(np.append(edges[1:-1], np.inf), **host)
    strip = xp.astype(xp.searchsorted(inner, s, side="right"), xp.int64)
    position = xp.where(far, 0.0, m) / xp.take(xp.asarray(spacing, **host), strip)
    interval = xp.astype(xp.floor(position), xp.int64)
    first = int(xp.min(interval))
    span = int(xp.max(interval)) - first + 1
    where = _where(interval)
    name = xp.where(far, span * spacing.size, strip * span + (interval - first))
    edge = xp.arange(span * spacing.size + 1, **where)
    count = np.diff(to_numpy(xp.searchsorted(name[_sort(name, span * spacing.size)], edge)))
    occupied = np.flatnonzero(count)
    number = np.full(count.size + 1, occupied.size)
    number[occupied] = np.arange(occupied.size)
    across = xp.zeros_like(s)
    if chebyshev_nodes > 1:
        low_edge, width = (xp.take(xp.asarray(e, **host), strip) for e in (edges[:-1], np.diff(edges)))
        across = 2 * (s - low_edge) / width - 1
    strips_, intervals = occupied // span, occupied % span + first
    grid = _grid(edges, spacing, chebyshev_nodes, strips_, intervals)
    return Cells(
        grid=grid,
        nodes=_nodes(grid, strips_, intervals, count[occupied]),
        name=xp.take(xp.asarray(number, **where), name),
        strip=strips_,
        interval=intervals,
        count=count[occupied],
        place=xp.stack([position - xp.floor(position), across]),
        lost=float(m.shape[0] - count.sum()) * float(np.exp(-_DEEP)),
    )


def _where(array: Array) -> dict[str, Any]:
    return {"dtype": array.dtype, "device": compat.device(array)}


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


def interpolate(
    cells: Cells, block: slice, wanted: Bool[np.ndarray, "c"], columns: Float[Array, "g q_plus_1"]
) -> tuple[Int[Array, "k"], Float[Array, "k q"]]:
    """The keys of a block that lie in wanted cells (numbered within the block) and the functions at each of them.

    `columns` holds the functions divided by the reference and, last, the logarithm of the reference."""
    xp, name, place = compat.array_namespace(columns), cells.name[block], cells.place[:, block]
    order = _sort(name, cells.count.size)
    start = to_numpy(xp.searchsorted(name[order], xp.arange(cells.count.size + 1, **_where(name))))
    which = np.flatnonzero(wanted & (np.diff(start) > 0))
    reads, column = ORDER * cells.grid.nodes, cells.column
    # Neighbouring cells that are all wanted need no new order; keys in no cell come last and fall away.
    whole = which.size == 0 or which.size == which[-1] - which[0] + 1
    parts = [(which[0], which[-1])] if whole and which.size else [(c, c) for c in which]
    picked = [order[int(start[a]) : int(start[b + 1])] for a, b in parts]
    order = xp.concat(picked) if picked else order[:0]
    start = np.concatenate([[0], np.cumsum(np.diff(start)[which])])
    along, across = lagrange(place[0, order]), chebyshev(place[1, order], cells.grid.nodes)
    weights = xp.reshape(along[:, :, None] * across[:, None, :], (order.shape[0], reads))
    rows = [
        weights[int(a) : int(b), :] @ columns[int(at) : int(at) + reads, :]
        for a, b, at in zip(start, start[1:], column[which], strict=False)
    ]
    value = xp.concat(rows) if rows else xp.zeros((0, columns.shape[1]), **_where(columns))
    return order, value[:, :-1] * xp.exp(value[:, -1:])


def put(n: int, keys: Int[Array, "k"], rows: Float[Array, "k q"]) -> Float[Array, "n q"]:
    """Rows brought to the order of the n keys; zero elsewhere."""
    xp = compat.array_namespace(rows)
    out = xp.zeros((n, rows.shape[1]), **_where(rows))
    if compat.is_jax_array(out):
        return out.at[keys].set(rows)
    out[keys, :] = rows
    return out
