"""Keys sorted into the cells of a grid.

A key whose logit stays so low that its weight is below rounding in every plausible draw is set
aside: it belongs to no cell. The n-sized work is array-API code and stays on the device of the
keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.noise.head.nodes import STEP, Nodes, nodes
from headwright.noise.many.blocks import blocks
from headwright.noise.many.grid import ORDER, Grid, strips
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_REACH = 9.3  # deviations: beyond it a normal number is never seen (1e-20)
_DEEP = 43.0  # e^{-43}: a million such weights are still below 1e-12
_BLOCK = 1 << 13  # keys in work at once on the host
_ROOM = 1e-9  # in lattice intervals
_PIECE = 64  # keys a piece of a cell should have
_TINY = 1e-300
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted


@dataclass(frozen=True)
class Cells:
    """Cells (c) of the grid that have keys, each cut into `split` x `split` pieces, of which p have
    keys."""

    m: Float[Array, "n"]
    s: Float[Array, "n"]
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

    def pieces(self) -> tuple[Float[np.ndarray, "p 2"], Float[np.ndarray, "p 2"]]:
        """The middle (m, s) of each piece, and pieces per unit of m and of s (none where all s are
        one)."""
        strip, where = self.strip[self.cell], (self.part + 0.5) / self.split
        width = np.stack([self.grid.spacing[strip], np.diff(self.grid.edges)[strip]], axis=1)
        lower = np.stack([self.interval[self.cell] * width[:, 0], self.grid.edges[strip]], axis=1)
        per = np.array([self.split, self.split if self.grid.nodes > 1 else 0]) / np.maximum(
            width, _TINY
        )
        return lower + where * width, per


@np.errstate(over="ignore")  # differences of means of 1e308, which are out of reach
def make_cells(m: Float[Array, "n"], s: Float[Array, "n"]) -> Cells:
    xp, n = compat.array_namespace(m), int(m.shape[0])
    # Only differences of logits count, and a lattice cannot be laid around means of 1e20. Where a
    # wide key has the largest mean, the others would lose their digits if they were counted from
    # it: they are from the surest key.
    m = m - _ends(m, s)[0]
    floor, m_low, m_high, s_low, s_high = _ends(m, s)
    # ln S >= floor in every plausible draw, and E[min(1, e^{z - floor})] <= e^{m + s^2/2 - floor}.
    far = m + xp.minimum(s * s / 2, _REACH * s) < floor - _DEEP if m_low < floor - _DEEP else None
    if far is not None:
        _, m_low, m_high, s_low, s_high = _ends(m[~far], s[~far])
    edges, spacing, chebyshev_nodes = strips(s_low, s_high, STEP)
    # A little room at both ends: a mean on a lattice point may be rounded to either side of it. No
    # mean is above floor + reach s, and none that counts is below floor - deep - reach s: a strip
    # of narrow keys is short, wherever the wide ones are.
    reach = _REACH * edges[1:]
    first = np.floor(np.maximum(m_low, floor - _DEEP - reach) / spacing - _ROOM)
    intervals = np.floor(np.minimum(m_high, floor + reach) / spacing + _ROOM) - first + 1
    split = _split(n, int(intervals.sum()), chebyshev_nodes > 1)
    # Pieces are numbered along m, then along s, then strip by strip; the last number is for keys
    # out of reach.
    length = intervals * split
    offset = np.cumsum(np.append(0, length * split))
    strip, part = np.divmod(np.arange(spacing.size * split), split)
    before = offset[strip] + part * length[strip] - first[strip] * split
    row_of = _row_of(xp, m, edges, split if chebyshev_nodes > 1 else 0)
    per_m, before = like((split / spacing)[strip], m), like(before, m)
    # NumPy sorts numbers of 16 bits by their digits, six times faster.
    short = compat.is_numpy_array(m) and offset[-1] < 1 << 16

    def number(part: slice) -> Array:
        row = row_of(s[part] if far is None else xp.where(far[part], s_low, s[part]))
        found = xp.floor(m[part] * xp.take(per_m, row))
        found += xp.take(before, row)
        found = found if far is None else xp.where(far[part], float(offset[-1]), found)
        return xp.astype(found, np.uint16 if short else xp.int32)

    name = xp.concat([number(part) for part in blocks(n, _BLOCK, m)])
    order = xp.argsort(name, stable=True)
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
        m=m,
        s=s,
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
        lost=(n - int(count.sum())) * float(np.exp(-_DEEP)),
    )


def _ends(m: Float[Array, "n"], s: Float[Array, "n"]) -> tuple[float, float, float, float, float]:
    """The largest m - `_REACH` s, and the ends of m and of s."""
    xp = compat.array_namespace(m)

    def ends(part: slice) -> list[float]:
        a, b = m[part], s[part]
        return [float(xp.max(x)) for x in (a - _REACH * b, a, b)] + [
            float(xp.min(x)) for x in (a, b)
        ]

    found = np.array([ends(part) for part in blocks(int(m.shape[0]), _BLOCK, m)])
    (floor, m_high, s_high), (m_low, s_low) = found[:, :3].max(axis=0), found[:, 3:].min(axis=0)
    return floor, m_low, m_high, s_low, s_high


def _split(n: int, cells: int, several: bool) -> int:
    """Pieces along each side of a cell: small ones need short polynomials, but each should have
    many keys."""
    return next(
        (k for k in (4, 2) if several and n >= _PIECE * cells * k * k and cells * k * k < 1 << 16),
        1,
    )


def _row_of(
    xp: Any, m: Array, edges: Float[np.ndarray, "e"], split: int
) -> Callable[[Array], Int[Array, "b"]]:
    """The row of pieces, counted along s, that a deviation lies in. Between edges at equal
    distances, the usual case, no search is needed."""
    width = np.diff(edges)
    if np.ptp(width) <= 1e-9 * width[0]:
        low, per_s = (
            float(edges[0]),
            split / float(width.mean()) * (1 - 1e-12),
        )  # the largest s, too, is in the last row
        return lambda s: xp.astype((s - low) * per_s, xp.int64)
    inner = like((edges[:-1, None] + width[:, None] * np.arange(split) / split).ravel()[1:], m)
    return lambda s: xp.searchsorted(inner, s, side="right")


def _grid(edges, spacing, chebyshev_nodes, strip, interval) -> Grid:
    first, count = np.zeros(spacing.size, dtype=int), np.zeros(spacing.size, dtype=int)
    for k in np.unique(strip):
        mine = interval[strip == k]
        first[k] = mine.min() - (ORDER // 2 - 1)
        count[k] = mine.max() - mine.min() + ORDER
    return Grid(edges, spacing, first, count, chebyshev_nodes)


def _nodes(grid: Grid, strip, interval, count) -> Nodes:
    """Nodes in u from a coarse picture of the keys, each moved down to the lower edge of its
    interval: that lengthens the right end and costs the left one a factor e^{4/3}. What the ends
    cut off is measured afterwards."""
    _, first, which = np.unique(
        strip + 1j * (interval // _COARSE), return_index=True, return_inverse=True
    )
    number = strip[first]
    m = grid.spacing[number] * (interval[first] // _COARSE) * _COARSE
    s = 0.5 * (grid.edges[number] + grid.edges[number + 1])
    return nodes(m, s, np.bincount(which, weights=count))
