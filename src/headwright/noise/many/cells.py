"""Keys sorted into the cells of a grid.

A key whose logit stays so low that its weight is below rounding in every plausible draw is set
aside: it belongs to no cell. The n-sized work is array-API code and stays on the device of the
keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import array_api_compat as compat
import numpy as np
from scipy import sparse

from headwright.arrays import like, picked
from headwright.blocks import blocks, in_threads
from headwright.noise import budget
from headwright.noise.head.nodes import Nodes, nodes
from headwright.noise.many.grid import Extent, Grid, Layout, Strips, make_layout, rows_of
from headwright.noise.many.series import ORDER
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float, Int, PerKey

_PART = 1 << 16  # keys given to a thread
_TINY = 1e-300
_COARSE = 4  # lattice intervals taken together when only the range of u is wanted

CellNumbers = Int[np.ndarray, "c"]
PieceNumbers = Int[np.ndarray, "p"]
PerPiece = Float[np.ndarray, "p 2"]


@dataclass(frozen=True)
class Cells:
    """Cells (c) of the grid that have keys, each cut into `split` x `split` pieces, of which p have
    keys."""

    m: PerKey
    s: PerKey
    grid: Grid
    nodes: Nodes
    strip: CellNumbers
    interval: CellNumbers
    count: CellNumbers  # keys of each cell
    split: int
    cell: PieceNumbers  # of each piece
    part: Int[np.ndarray, "p 2"]  # where in its cell a piece lies, along m and along s
    piece_count: PieceNumbers
    keys: Int[Array, "k"]  # the keys in reach, piece after piece
    lost: float  # bound on the weight of all keys out of reach

    @cached_property
    def points(self) -> Int[np.ndarray, "c l"]:
        """The `ORDER` neighbouring lattice points of the grid that the keys of each cell read; a
        point is a column of the grid for each node of its strip."""
        before = ORDER // 2 - 1
        first = self.grid.offsets[self.strip] // self.grid.chebyshev
        in_strip = self.interval - before - self.grid.first[self.strip]
        return (first + in_strip)[:, None] + np.arange(ORDER)

    @cached_property
    def read_points(self) -> Int[np.ndarray, "l"]:
        """Those that any of the keys read."""
        some = np.zeros(self.grid.size // self.grid.chebyshev, dtype=bool)
        some[self.points] = True
        return np.flatnonzero(some)

    @cached_property
    def read(self) -> Int[np.ndarray, "r"]:
        """The columns of the grid that any of the keys read."""
        count = self.grid.chebyshev
        return (count * self.read_points[:, None] + np.arange(count)).ravel()

    @property
    def first(self) -> CellNumbers:
        """The first column of the grid that the keys of each cell read; the others follow."""
        return self.grid.chebyshev * self.points[:, 0]

    @property
    def middle(self) -> CellNumbers:
        """The column of the grid near the middle of each cell."""
        count = self.grid.chebyshev
        return count * self.points[:, ORDER // 2 - 1] + count // 2

    def only(self, chosen: Bool[np.ndarray, "c"]) -> Cells:
        """Some of the cells, with their pieces and their keys."""
        xp = compat.array_namespace(self.keys)
        mine = chosen[self.cell]
        last = np.cumsum(self.piece_count)
        first = last - self.piece_count
        # Neighbouring pieces are cut out together.
        edges = np.diff(mine.astype(int), prepend=0, append=0)
        ends = zip(first[edges[:-1] > 0].tolist(), last[edges[1:] < 0].tolist(), strict=True)
        runs = [self.keys[a:b] for a, b in ends]
        number = np.cumsum(chosen) - 1
        return replace(
            self,
            strip=self.strip[chosen],
            interval=self.interval[chosen],
            count=self.count[chosen],
            cell=number[self.cell[mine]],
            part=self.part[mine],
            piece_count=self.piece_count[mine],
            keys=xp.concat(runs),
        )

    def pieces(self) -> tuple[PerPiece, PerPiece]:
        """The middle (m, s) of each piece, and pieces per unit of m and of s (none where all s are
        one)."""
        strip = self.strip[self.cell]
        spacing = self.grid.spacing[strip]
        heights = np.diff(self.grid.edges)[strip]
        width = np.stack([spacing, heights], axis=1)
        left = self.interval[self.cell] * spacing
        lower = np.stack([left, self.grid.edges[strip]], axis=1)
        where = (self.part + 0.5) / self.split
        along_s = self.split if self.grid.chebyshev > 1 else 0
        per_unit = np.array([self.split, along_s]) / np.maximum(width, _TINY)
        return lower + where * width, per_unit


@np.errstate(over="ignore")  # differences of means of 1e308, which are out of reach
def make_cells(m: PerKey, s: PerKey) -> Cells:
    """Sort keys with logits N(m_i, s_i^2) into the cells of a grid made for them."""
    # Only differences of logits count, and a lattice cannot be laid around means of 1e20. Where a
    # wide key has the largest mean, the others would lose their digits if they were counted from
    # it: they are from the surest key.
    m = m - _surest(m, s)
    extent = _extent(m, s)
    out_of_reach = _out_of_reach(m, s, extent)
    if out_of_reach is not None:
        reached = _extent(m[~out_of_reach], s[~out_of_reach])
        extent = Extent(extent.floor, *reached.ends)

    layout = make_layout(extent, int(m.shape[0]))
    numbers = _numbers(m, s, layout, out_of_reach, s_low=extent.s_low)
    order, count = _sorted(numbers, layout.last)
    return _cells(m, s, layout, order, count)


def _surest(m: PerKey, s: PerKey) -> float:
    """The largest m - `REACH` s."""
    xp = compat.array_namespace(m)

    @np.errstate(over="ignore")  # a thread has its own
    def of_some(part: slice) -> float:
        """Of some keys."""
        return float(xp.max(m[part] - budget.REACH * s[part]))

    return max(in_threads(of_some, _parts(m), m))


def _extent(m: PerKey, s: PerKey) -> Extent:
    """One pass over the keys."""
    xp = compat.array_namespace(m)

    @np.errstate(over="ignore")  # a thread has its own
    def ends(part: slice) -> Float[np.ndarray, "5"]:
        """Of some keys, brought to the host together."""
        means = m[part]
        deviations = s[part]
        sure = means - budget.REACH * deviations
        largest = [xp.max(x) for x in (sure, means, deviations)]
        smallest = [xp.min(x) for x in (means, deviations)]
        return to_numpy(xp.stack([*largest, *smallest]))

    found = np.stack(in_threads(ends, _parts(m), m))
    floor, m_high, s_high = found[:, :3].max(axis=0)
    m_low, s_low = found[:, 3:].min(axis=0)
    return Extent(floor, m_low, m_high, s_low, s_high)


def _parts(m: PerKey) -> list[slice]:
    """Keys given to a thread at a time."""
    return blocks(int(m.shape[0]), _PART, m)


def _out_of_reach(m: PerKey, s: PerKey, extent: Extent) -> Bool[Array, "n"] | None:
    """E[min(1, e^{z - floor})] <= e^{m + s^2/2 - floor}: None if no key can be that low."""
    lowest = extent.floor - budget.DEEP
    if extent.m_low >= lowest:
        return None
    xp = compat.array_namespace(m)
    reach = budget.REACH * s
    highest = m + xp.minimum(s * s / 2, reach)
    return highest < lowest


def _numbers(
    m: PerKey, s: PerKey, layout: Layout, out_of_reach: Array | None, *, s_low: float
) -> Array:
    """The piece that each key lies in."""
    xp = compat.array_namespace(m)
    split = layout.split
    rows = np.arange(layout.first.size * split)
    strip, part = np.divmod(rows, split)
    start = layout.offset[strip] + part * layout.length[strip]
    before = start - layout.first[strip] * split
    before = like(before, m)
    per_m = like((split / layout.strips.spacing)[strip], m)
    row_of = rows_of(layout.strips, split, m)

    @np.errstate(over="ignore")  # a thread has its own
    def number(block: slice) -> Array:
        """Pieces of one block of keys."""
        deviations = s[block]
        if out_of_reach is not None:
            deviations = xp.where(out_of_reach[block], s_low, deviations)
        row = row_of(deviations)
        found = xp.floor(m[block] * picked(per_m, row))
        found += picked(before, row)
        if out_of_reach is not None:
            found = xp.where(out_of_reach[block], float(layout.last), found)
        return xp.astype(found, xp.int32)

    all_blocks = blocks(int(m.shape[0]), _PART, m)
    return xp.concat(in_threads(number, all_blocks, m))


def _sorted(numbers: Array, last: int) -> tuple[Array, np.ndarray]:
    """The keys piece after piece, and how many each piece has; those numbered `last` are behind
    all others."""
    xp = compat.array_namespace(numbers)
    if compat.is_numpy_array(numbers):
        # Each key is a column with one entry; to list the entries row by row is to sort by counting
        # in one pass.
        n = numbers.size
        starts = np.arange(n + 1, dtype=numbers.dtype)
        entries = (np.zeros(n, dtype=np.int8), numbers, starts)
        by_row = sparse.csc_array(entries, shape=(last + 1, n)).tocsr()
        return by_row.indices, np.diff(by_row.indptr)[:last]
    order = xp.argsort(numbers, stable=True)
    edge = xp.arange(last + 1, dtype=numbers.dtype, device=compat.device(numbers))
    count = np.diff(to_numpy(xp.searchsorted(picked(numbers, order), edge)))
    return order, count


def _cells(m: PerKey, s: PerKey, layout: Layout, order: Array, count: np.ndarray) -> Cells:
    """The cells that have keys, and the grid around them."""
    pieces = np.flatnonzero(count)
    reached = int(count.sum())
    strip = np.searchsorted(layout.offset, pieces, side="right") - 1
    in_strip = pieces - layout.offset[strip].astype(int)
    row, lattice = np.divmod(in_strip, layout.length[strip].astype(int))

    # Cells are numbered strip by strip, as those with keys are counted.
    in_cell, within = np.divmod(lattice, layout.split)
    before = np.cumsum(np.append(0, layout.intervals)).astype(int)
    number = before[strip] + in_cell
    keys = np.bincount(number, weights=count[pieces])
    used = np.flatnonzero(keys)
    cell = np.searchsorted(used, number)
    strip = np.searchsorted(before, used, side="right") - 1
    interval = used - before[strip] + layout.first[strip].astype(int)
    cell_count = keys[used].astype(int)
    part = np.stack([within, row], axis=1)
    out_of_reach = int(m.shape[0]) - reached
    lost = out_of_reach * float(np.exp(-budget.DEEP))
    grid = _grid(layout.strips, strip, interval)
    return Cells(
        m=m,
        s=s,
        grid=grid,
        nodes=_nodes(grid, strip, interval, cell_count),
        strip=strip,
        interval=interval,
        count=cell_count,
        split=layout.split,
        cell=cell,
        part=part,
        piece_count=count[pieces],
        keys=order[:reached],
        lost=lost,
    )


def _grid(strips: Strips, strip: CellNumbers, interval: CellNumbers) -> Grid:
    """The lattice points that keys of these cells read."""
    first = np.zeros(strips.spacing.size, dtype=int)
    count = np.zeros(strips.spacing.size, dtype=int)
    for k in np.unique(strip):
        mine = interval[strip == k]
        first[k] = mine.min() - (ORDER // 2 - 1)
        count[k] = mine.max() - mine.min() + ORDER
    return Grid(strips.edges, strips.spacing, strips.chebyshev, first, count)


def _nodes(grid: Grid, strip: CellNumbers, interval: CellNumbers, count: CellNumbers) -> Nodes:
    """Nodes in u from a coarse picture of the keys, each moved down to the lower edge of its
    interval: that lengthens the right end and costs the left one a factor e^{4/3}. What the ends
    cut off is measured afterwards."""
    coarse = interval // _COARSE
    _, first, which = np.unique(strip + 1j * coarse, return_index=True, return_inverse=True)
    leader = strip[first]
    m = grid.spacing[leader] * coarse[first] * _COARSE
    s = 0.5 * (grid.edges[leader] + grid.edges[leader + 1])
    return nodes(m, s, np.bincount(which, weights=count))
