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
_ROOM = 1e-9  # in lattice intervals
_PIECE = 64  # keys a piece of a cell should have
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted


@dataclass(frozen=True)
class Cells:
    """Cells (c) of the grid that have keys, each cut into `split` x `split` pieces, of which p have keys."""

    grid: Grid
    nodes: Nodes
    strip: Int[np.ndarray, "c"]
    interval: Int[np.ndarray, "c"]
    count: Int[np.ndarray, "c"]  # keys of each cell
    split: int
    cell: Int[np.ndarray, "p"]  # of each piece
    part: Int[np.ndarray, "p 2"]  # where in its cell a piece lies, along m and along s
    piece_count: Int[np.ndarray, "p"]
    keys: Int[Array, "k"]  # the keys in reach, piece after piece
    along: Float[Array, "k"]  # where each of them lies in its piece along m, in [-1, 1]
    across: Float[Array, "k"]  # and along s
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
    parts, n = blocks(m.shape[0], _BLOCK, m), int(m.shape[0])
    # ln S >= floor in every plausible draw, and E[min(1, e^{z - floor})] <= e^{m + s^2/2 - floor}.
    floor = max(float(xp.max(m[part] - _REACH * s[part])) for part in parts)
    far = m + xp.minimum(s * s / 2, _REACH * s) < floor - _DEEP if float(xp.min(m)) < floor - _DEEP else None
    near = (m, s) if far is None else (m[~far], s[~far])
    (m_low, s_low), (m_high, s_high) = ([float(f(x)) for x in near] for f in (xp.min, xp.max))
    edges, spacing, chebyshev_nodes = strips(s_low, s_high, STEP)
    # A little room at both ends: a mean on a lattice point may be rounded to either side of it.
    first = np.floor(m_low / spacing - _ROOM)
    intervals = np.floor(m_high / spacing + _ROOM) - first + 1
    split = _split(n, int(intervals.sum()), chebyshev_nodes > 1)
    # Pieces are numbered along m, then along s, then strip by strip; the last number is for keys out of reach.
    length = intervals * split
    offset = np.cumsum(np.append(0, length * split))
    per_s = split / np.diff(edges) if chebyshev_nodes > 1 else np.zeros(1)
    strips_of = _Strips(xp, m, edges, (edges[:-1], per_s, split / spacing, length, offset[:-1] - first * split), split)

    def sort_in(part: slice) -> tuple[Array, Array, Array]:
        across, last, per_m, length, shift = strips_of.look_up(s[part])
        along = (m[part] if far is None else xp.where(far[part], m_low, m[part])) * per_m
        lattice, row = xp.floor(along), xp.clip(xp.floor(across), max=last)
        name = row * length + lattice + shift
        name = name if far is None else xp.where(far[part], float(offset[-1]), name)
        return xp.astype(name, xp.int32), 2 * (along - lattice) - 1, 2 * (across - row) - 1

    name, along, across = (xp.concat(x) for x in zip(*map(sort_in, parts), strict=True))
    order = _sort(name, int(offset[-1]))
    edge = xp.arange(int(offset[-1]) + 1, dtype=name.dtype, device=compat.device(m))
    count = np.diff(to_numpy(xp.searchsorted(xp.take(name, order), edge)))
    pieces, keys = np.flatnonzero(count), order[: int(count.sum())]
    strip = np.searchsorted(offset, pieces, side="right") - 1
    row, lattice = np.divmod(pieces - offset[strip].astype(int), length[strip].astype(int))
    interval = lattice // split + first[strip].astype(int)
    _, leader, cell = np.unique(strip + 1j * interval, return_index=True, return_inverse=True)
    cell_count = np.bincount(cell, weights=count[pieces]).astype(int)
    grid = _grid(edges, spacing, chebyshev_nodes, strip[leader], interval[leader])
    return Cells(
        grid=grid,
        nodes=_nodes(grid, strip[leader], interval[leader], cell_count),
        strip=strip[leader],
        interval=interval[leader],
        count=cell_count,
        split=split,
        cell=cell,
        part=np.stack([lattice % split, row], axis=1),
        piece_count=count[pieces],
        keys=keys,
        along=xp.take(along, keys),
        across=xp.take(across, keys),
        lost=(n - int(count.sum())) * float(np.exp(-_DEEP)),
    )


def _split(n: int, cells: int, several: bool) -> int:
    """Pieces along each side of a cell: small ones need short polynomials, but each should have many keys."""
    return next((k for k in (4, 2) if several and n >= _PIECE * cells * k * k and cells * k * k < 1 << 16), 1)


class _Strips:
    """What a key's deviation decides. Where all strips are alike, the usual case, it takes no search and no table."""

    def __init__(self, xp: Any, like: Array, edges: np.ndarray, rows: tuple[np.ndarray, ...], split: int) -> None:
        device: dict[str, Any] = {"dtype": like.dtype, "device": compat.device(like)}
        self.xp, self.rows, self.count, self.split = xp, rows, len(edges) - 1, split
        self.alike = all(np.ptp(row) <= 1e-9 * row[0] for row in rows[1:4])
        self.inner = xp.asarray(np.append(edges[1:-1], np.inf), **device)
        self.tables = [xp.asarray(row, **device) for row in rows]

    def look_up(self, s: Array) -> tuple[Array, float, Any, Any, Any]:
        """Where s lies, in pieces along s; the last such piece; pieces per unit of m; pieces along m; and the number
        of the piece at m = 0. Alike strips count as one."""
        if self.alike:
            edge, per_s, per_m, length, shift = (float(row[0]) for row in self.rows)
            return (s - edge) * per_s, self.count * self.split - 1.0, per_m, length, shift
        strip = self.xp.searchsorted(self.inner, s, side="right")
        edge, per_s, per_m, length, shift = (self.xp.take(row, strip) for row in self.tables)
        return (s - edge) * per_s, self.split - 1.0, per_m, length, shift


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
