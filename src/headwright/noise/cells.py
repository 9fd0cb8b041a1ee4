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
from headwright.types import Array, Float, Int

_REACH = 9.3  # deviations: beyond it a normal number is never seen (1e-20)
_DEEP = 43.0  # e^{-43}: a million such weights are still below 1e-12
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted


@dataclass(frozen=True)
class Cells:
    grid: Grid
    nodes: Nodes
    order: Int[Array, "n"]  # keys sorted by cell; keys out of reach come last
    strip: Int[np.ndarray, "c"]  # of each occupied cell
    interval: Int[np.ndarray, "c"]
    start: Int[np.ndarray, "c_plus_1"]  # where each cell begins in `order`
    place: Float[Array, "2 alive"]  # of each sorted key: within its interval [0, 1) and its strip [-1, 1]
    lost: float  # bound on the weight of all keys out of reach
    noisy: bool

    @property
    def alive(self) -> int:
        return int(self.start[-1])

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
        return self.middle(psi) @ np.diff(self.start)

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
    name = xp.where(far, span * spacing.size, strip * span + (interval - first))
    order = _sort(name, span * spacing.size)
    starts = to_numpy(xp.searchsorted(xp.take(name, order), xp.arange(span * spacing.size + 1, **_where(name))))
    occupied = np.flatnonzero(np.diff(starts))
    start = np.append(starts[occupied], starts[-1])
    keys = order[: int(start[-1])]
    across = xp.zeros_like(s)
    if chebyshev_nodes > 1:
        low_edge, width = (xp.take(xp.asarray(e, **host), strip) for e in (edges[:-1], np.diff(edges)))
        across = 2 * (s - low_edge) / width - 1
    place = xp.stack([xp.take(position - xp.floor(position), keys), xp.take(across, keys)])
    strips_, intervals = occupied // span, occupied % span + first
    grid = _grid(edges, spacing, chebyshev_nodes, strips_, intervals)
    lost = int(xp.sum(xp.astype(far, xp.int64))) * float(np.exp(-_DEEP))
    return Cells(
        grid, _nodes(grid, strips_, intervals, np.diff(start)), order, strips_, intervals, start, place, lost, high > 0
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
    """Nodes in u from a coarse picture of the keys; what the ends cut off is measured afterwards."""
    coarse, which = np.unique(strip + 1j * (interval // _COARSE), return_inverse=True)
    number = coarse.real.astype(int)
    m = grid.spacing[number] * (coarse.imag + 0.5) * _COARSE
    s = 0.5 * (grid.edges[number] + grid.edges[number + 1])
    return nodes(m, s, np.bincount(which, weights=count))


def interpolate(
    cells: Cells,
    which: Int[np.ndarray, "k"],
    functions: Float[np.ndarray, "q g"],
    log_reference: Float[np.ndarray, "g"],
) -> tuple[Int[Array, "keys"], Float[Array, "keys q"]]:
    """The keys of some cells, and `functions * exp(log_reference)` at each of them."""
    xp, place = compat.array_namespace(cells.place), cells.place
    columns = xp.asarray(np.column_stack([functions.T, log_reference]), **_where(place))
    reads, column = ORDER * cells.grid.nodes, cells.column
    keys, rows = [], []
    for run in _runs(which, cells.start):
        begin, end = int(cells.start[run[0]]), int(cells.start[run[-1] + 1])
        keys.append(cells.order[begin:end])
        along, across = lagrange(place[0, begin:end]), chebyshev(place[1, begin:end], cells.grid.nodes)
        weights = xp.reshape(along[:, :, None] * across[:, None, :], (end - begin, reads))
        for c in run:
            here = weights[int(cells.start[c]) - begin : int(cells.start[c + 1]) - begin, :]
            value = here @ columns[int(column[c]) : int(column[c]) + reads, :]
            rows.append(value[:, :-1] * xp.exp(value[:, -1:]))
    return xp.concat(keys), xp.concat(rows)


def _runs(which: np.ndarray, start: np.ndarray, size: int = 1 << 14) -> list[np.ndarray]:
    """Neighbouring cells, taken together until they hold about `size` keys."""
    runs, run = [], [int(which[0])]
    for c in which[1:]:
        if c != run[-1] + 1 or start[c + 1] - start[run[0]] > size:
            runs.append(np.array(run))
            run = []
        run.append(int(c))
    return [*runs, np.array(run)]


def put(n: int, keys: Int[Array, "k"], rows: Float[Array, "k q"]) -> Float[Array, "n q"]:
    """Rows brought to the order of the n keys; zero elsewhere."""
    xp = compat.array_namespace(rows)
    out = xp.zeros((n, rows.shape[1]), **_where(rows))
    if compat.is_jax_array(out):
        return out.at[keys].set(rows)
    out[keys, :] = rows
    return out
