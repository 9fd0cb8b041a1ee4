"""Functions of a key's (m, s), known on a small grid and interpolated to every key.

Deviations are cut into strips with Chebyshev nodes; means lie on a lattice whose spacing is a
multiple, or half, of the step in u, so that psi(u_k + m_j, s) for all k and j is one short table
read with different offsets (`tables`). A cell is one strip times one lattice interval; its keys
read the `ORDER` lattice points around them and the nodes of their strip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import array_api_compat as compat
import numpy as np

from headwright.arrays import like, picked
from headwright.noise import budget
from headwright.noise.head.nodes import STEP
from headwright.noise.many.series import chebyshev_nodes
from headwright.types import Array, Float, Int

_WIDTH = 0.25  # of a strip of deviations near zero; strips widen like s / 5
_CHEBYSHEV = 13  # nodes per strip
# Below it ln phi changes faster with m: it has singularities not far from the real axis
_LIVELY = 0.75
_ALIKE = 1.25  # how many more strips may there be so that all have one width
_EQUAL = 1e-12  # relative: deviations no further apart than this are one
_STEPS = 1 << 14  # in a table of rows
_ROOM = 1e-9  # in lattice intervals
_PIECE = 64  # keys a piece of a cell should have
_PIECES = 1 << 16  # and how many there may be: the polynomials of all are held at once

Edges = Float[np.ndarray, "strips_plus_1"]
PerStrip = Float[np.ndarray, "strips"]
CountPerStrip = Int[np.ndarray, "strips"]


@dataclass(frozen=True)
class Strips:
    """Strips of deviations, the lattice spacing of each, and the Chebyshev nodes that each has."""

    edges: Edges
    spacing: PerStrip
    chebyshev: int


@dataclass(frozen=True)
class Grid(Strips):
    """Per strip the first lattice point that its keys read, and how many they read."""

    first: CountPerStrip
    count: CountPerStrip

    @cached_property
    def offsets(self) -> Int[np.ndarray, "strips_plus_1"]:
        """Where the columns of each strip begin; a column is (lattice point, Chebyshev node)."""
        return np.concatenate([[0], np.cumsum(self.count * self.chebyshev)])

    @property
    def size(self) -> int:
        """Columns of all strips."""
        return int(self.offsets[-1])

    @property
    def used(self) -> list[int]:
        """The strips that have keys."""
        return np.flatnonzero(self.count).tolist()

    def deviations(self, strip: int) -> Float[np.ndarray, "c"]:
        """The Chebyshev nodes of a strip."""
        low = self.edges[strip]
        high = self.edges[strip + 1]
        middle = 0.5 * (low + high)
        points = middle + 0.5 * (high - low) * chebyshev_nodes(self.chebyshev)
        return np.maximum(points, 0.0)

    def lattice(self, strip: int) -> Float[np.ndarray, "j"]:
        """The lattice points of a strip."""
        numbers = self.first[strip] + np.arange(self.count[strip])
        return self.spacing[strip] * numbers


def make_strips(low: float, high: float, step: float) -> Strips:
    """Strips that cover the deviations from `low` to `high`; `step` is that of the nodes u."""
    last = np.nextafter(high, np.inf)
    if high - low <= _EQUAL * max(high, 1e-3):
        spacing = step * _multiple(np.array([low]))
        return Strips(np.array([low, last]), spacing, 1)

    edges = [low]
    while edges[-1] < high:
        width = _WIDTH * max(1.0, edges[-1] / 1.3)
        edges.append(edges[-1] + width)
    count = int(np.ceil((high - low) / _WIDTH))
    if count <= _ALIKE * (len(edges) - 1):
        # Strips all alike: keys find theirs without a search
        edges = np.linspace(low, high, count + 1)
    edges = np.array(edges)
    length = edges[-1] - low
    edges = low + (edges - low) * (high - low) / length
    edges[-1] = last
    return Strips(edges, step * _multiple(edges[:-1]), _CHEBYSHEV)


def _multiple(s: PerStrip) -> PerStrip:
    """Steps in u between lattice points for deviations of at least s. With many keys the tail of
    each decides, which falls by a factor of e over a fifth of s."""
    usual = np.maximum(1.0, np.floor(s / 3))
    return np.where(s < _LIVELY, 0.5, usual)


@dataclass(frozen=True)
class Extent:
    """`floor`, the largest m - `REACH` s, below which ln S is in no plausible draw; and the ends of
    m and of s."""

    floor: float
    m_low: float
    m_high: float
    s_low: float
    s_high: float

    @property
    def ends(self) -> tuple[float, float, float, float]:
        """Of m and of s."""
        return self.m_low, self.m_high, self.s_low, self.s_high


@dataclass(frozen=True)
class Layout:
    """Strips and the lattice intervals of each. Their pieces are numbered along m, then along s,
    then strip by strip; the last number is for keys out of reach."""

    strips: Strips
    first: PerStrip
    intervals: PerStrip
    split: int

    @property
    def length(self) -> PerStrip:
        """Pieces along m."""
        return self.intervals * self.split

    @cached_property
    def offset(self) -> Float[np.ndarray, "strips_plus_1"]:
        """The number of the first piece of each strip."""
        return np.cumsum(np.append(0, self.length * self.split))

    @property
    def last(self) -> int:
        """The number for keys out of reach."""
        return int(self.offset[-1])


def make_layout(extent: Extent, n: int) -> Layout:
    """Strips for these deviations, and as many lattice intervals as their keys need."""
    strips = make_strips(extent.s_low, extent.s_high, STEP)
    # A little room at both ends: a mean on a lattice point may be rounded to either side of it. No
    # mean is above floor + reach s, and none that counts is below floor - deep - reach s: a strip
    # of narrow keys is short, wherever the wide ones are.
    reach = budget.REACH * strips.edges[1:]
    lowest = np.maximum(extent.m_low, extent.floor - budget.DEEP - reach)
    highest = np.minimum(extent.m_high, extent.floor + reach)
    first = np.floor(lowest / strips.spacing - _ROOM)
    intervals = np.floor(highest / strips.spacing + _ROOM) - first + 1
    split = _split(n, int(intervals.sum()), strips.chebyshev > 1)
    return Layout(strips, first, intervals, split)


def _split(n: int, cells: int, several: bool) -> int:
    """Pieces along each side of a cell: small ones need short polynomials, but each should have
    many keys."""
    for split in (4, 2):
        pieces = cells * split * split
        if several and n >= _PIECE * pieces and pieces < _PIECES:
            return split
    return 1


def rows_of(strips: Strips, split: int, m: Array) -> Callable[[Array], Int[Array, "b"]]:
    """The row of pieces, counted along s, that a deviation lies in. Between edges at equal
    distances, the usual case, no search is needed."""
    xp = compat.array_namespace(m)
    rows = split if strips.chebyshev > 1 else 0
    width = np.diff(strips.edges)
    if np.ptp(width) <= 1e-9 * width[0]:
        low = float(strips.edges[0])
        # A little less, so that the largest s, too, is in the last row.
        per_s = rows / float(width.mean()) * (1 - 1e-12)
        return lambda s: xp.astype((s - low) * per_s, xp.int64)
    steps = width[:, None] * np.arange(rows) / rows
    lower = (strips.edges[:-1, None] + steps).ravel()
    return _looked_up(lower, float(strips.edges[-1]), m)


def _looked_up(
    lower: Float[np.ndarray, "rows"], high: float, m: Array
) -> Callable[[Array], Int[Array, "b"]]:
    """The row that a deviation lies in, from the lower end of each: equal steps that are shorter
    than any row say which of two rows it is, faster than a search."""
    xp = compat.array_namespace(m)
    low = float(lower[0])
    shortest = float(np.diff(lower, append=high).min())
    count = int((high - low) / shortest) + 3
    if count > _STEPS:
        inner = like(lower[1:], m)
        return lambda s: xp.searchsorted(inner, s, side="right")

    per_s = (count - 1) / (high - low)
    # A step begins a little earlier than it should, whatever rounding does.
    begin = low + (np.arange(count) - 1e-6) / per_s
    row = np.searchsorted(lower[1:], begin, side="right")
    next_row = like(np.append(lower[1:], np.inf)[row], m)
    row = xp.asarray(row, dtype=xp.int64, device=compat.device(m))

    def find(s: Array) -> Int[Array, "b"]:
        """Of some deviations."""
        step = xp.astype((s - low) * per_s, xp.int64)
        beyond = s >= picked(next_row, step)
        return picked(row, step) + xp.astype(beyond, xp.int64)

    return find
