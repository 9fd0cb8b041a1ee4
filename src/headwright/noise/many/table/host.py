"""psi, r and w at every node u for every column of a grid.

On uniform nodes u + m lies on one lattice: what is stored of a strip is a function on it, far
shorter than nodes times columns, and sums over either are products with small matrices that are
constant along their diagonals. Graded nodes lie anywhere: there ln(-psi), ln r and ln w, nearly
straight lines, are interpolated, and every entry is stored. (Rejected: storing every entry always,
200 MB for a grid of 40,000 columns, of which memory had more work than the processor.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from headwright.blocks import blocks, in_threads
from headwright.noise.head.lattice import lattice_effort, lattice_transform
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.grid import Grid
from headwright.noise.many.series import lagrange
from headwright.types import Float, HostPerNode, Int, OnGrid

# The functions of a table.
PSI = 0
R = 1
W = 2
# Graded nodes are served as far as -psi to the right is below this, and w to the left above that.
_GONE = 600.0
_TINY = 1e-290
# E^{-2 x} and a normal density are below `_TINY` beyond these.
_LEFT = 340.0
_BOTH = 37.0
# Table points per lattice interval on graded nodes, and how many of them an interpolation takes.
_FINER = 2
_AROUND = 12
# What an entry of the table costs on the lattice and off it, in exponentials.
_READ = 1.0
_INTERPOLATED = 14.0
_PART = 1 << 19  # entries of the table given to a thread, about
_TOGETHER = 16  # lattice points that share one matrix in an integral over u

Lattice = Float[np.ndarray, "j"]
Deviations = Float[np.ndarray, "c"]
StripTable = Float[np.ndarray, "3 u j c"]


@dataclass(frozen=True)
class Strip:
    """One strip: function f at node k, lattice point j and Chebyshev node c is `functions[f, per_u
    k + per_m j, c]`, for so many nodes and lattice points."""

    functions: Float[np.ndarray, "3 p c"]
    nodes: int
    points: int
    per_u: int
    per_m: int

    @property
    def chebyshev(self) -> int:
        """Nodes in s."""
        return self.functions.shape[2]

    @property
    def apart(self) -> bool:
        """Do no two nodes have an entry in common? Then the nodes are the rows of a matrix."""
        return self.per_m == 1 and self.per_u >= self.points

    def read(
        self, function: int, nodes: Int[np.ndarray, "k"], columns: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "k n"]:
        """One function at some nodes, in some columns of this strip."""
        j, c = np.divmod(columns, self.chebyshev)
        row = self.per_u * nodes[:, None] + self.per_m * j
        return np.take(self.functions[function], row * self.chebyshev + c)

    def sums(self, function: int, charge: Float[np.ndarray, "j c"]) -> HostPerNode:
        """sum_jc f(k, j, c) charge(j, c)"""
        values = self.functions[function]
        if self.apart:
            return self._matrix(values) @ charge.ravel()
        # On the whole lattice for each j, and then along its diagonals.
        each = values @ charge.T
        along, across = each.strides
        steps = (self.per_u * along, self.per_m * along + across)
        return as_strided(each, (self.nodes, self.points), steps, writeable=False).sum(axis=1)

    def integrals(
        self, function: int, weights: Float[np.ndarray, "i u"], power: int
    ) -> Float[np.ndarray, "i columns"]:
        """sum_k weights(i, k) f(k, j, c)^power"""
        values = self.functions[function]
        if power > 1:
            values = values**power
        if self.apart:
            return weights @ self._matrix(values)
        # `_TOGETHER` lattice points are served by one matrix that repeats the weights along its
        # diagonals.
        count = len(weights)
        length = self.per_u * (self.nodes - 1) + self.per_m * (_TOGETHER - 1) + 1
        matrix = np.zeros((count, _TOGETHER, length))
        steps = (matrix.strides[0], 8 * (length + self.per_m), 8 * self.per_u)
        as_strided(matrix, (count, _TOGETHER, self.nodes), steps)[:] = weights[:, None, :]

        several = -(-self.points // _TOGETHER)
        stride = self.per_m * _TOGETHER
        padded = np.zeros((max(len(values), stride * (several - 1) + length), self.chebyshev))
        padded[: len(values)] = values
        steps = (padded.strides[0], stride * padded.strides[0], 8)
        shape = (length, several, self.chebyshev)
        windows = as_strided(padded, shape, steps, writeable=False).reshape(length, -1)
        found = (matrix.reshape(-1, length) @ windows).reshape(count, _TOGETHER, *shape[1:])
        in_order = np.swapaxes(found, 1, 2).reshape(count, -1, self.chebyshev)
        return in_order[:, : self.points].reshape(count, -1)

    def _matrix(self, values: Float[np.ndarray, "p c"]) -> Float[np.ndarray, "u columns"]:
        """Nodes by columns, where nothing overlaps."""
        along, across = values.strides
        shape = (self.nodes, self.points * self.chebyshev)
        return as_strided(values, shape, (self.per_u * along, across), writeable=False)


@dataclass(frozen=True)
class Table:
    """psi, r and w on a grid, by the strips that have keys."""

    grid: Grid
    strips: list[Strip]

    def read(
        self, function: int, nodes: Int[np.ndarray, "k"], columns: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "k n"]:
        """One function at some nodes, in some columns of the grid."""
        out = np.empty((nodes.size, columns.size))
        for strip, number in zip(self.strips, self.grid.used, strict=True):
            start, stop = self.grid.offsets[number : number + 2]
            mine = np.flatnonzero((columns >= start) & (columns < stop))
            out[:, mine] = strip.read(function, nodes, columns[mine] - start)
        return out

    def sums(self, function: int, charge: OnGrid) -> HostPerNode:
        """`f @ charge` at every node."""

        def of_strip(strip: Strip, here: slice) -> HostPerNode:
            """Its share."""
            mine = charge[here].reshape(strip.points, strip.chebyshev)
            return strip.sums(function, mine)

        return np.sum(self._by_strip(of_strip), axis=0)

    def integrals(
        self, function: int, weights: Float[np.ndarray, "i u"], *, power: int = 1
    ) -> Float[np.ndarray, "i g"]:
        """`weights @ f^power` in every column."""
        found = self._by_strip(lambda strip, _: strip.integrals(function, weights, power))
        return np.concatenate(found, axis=1)

    def _by_strip(self, function: Callable[[Strip, slice], np.ndarray]) -> list[np.ndarray]:
        """A function of each strip and of its columns, in order."""
        used = self.grid.used
        offsets = self.grid.offsets.tolist()
        parts = _parts(self.grid, self.strips[0].nodes)

        def some(part: slice) -> list[np.ndarray]:
            """Of neighbouring strips."""
            pairs = zip(self.strips[part], used[part], strict=True)
            return [function(strip, slice(*offsets[k : k + 2])) for strip, k in pairs]

        return [one for part in in_threads(some, parts, self.grid.edges) for one in part]


def tables(grid: Grid, nodes: Nodes) -> Table:
    """psi, r and w at every node u for every column of the grid."""
    used = grid.used

    def fill(part: slice) -> list[Strip]:
        """Some strips."""
        return [_strip(grid, nodes, number) for number in used[part]]

    parts = _parts(grid, nodes.u.size)
    return Table(grid, [strip for some in in_threads(fill, parts, nodes.u) for strip in some])


def _parts(grid: Grid, nodes: int) -> list[slice]:
    """Strips given to a thread at a time."""
    used = len(grid.used)
    strips = max(1, _PART * used // (3 * nodes * grid.size))
    return blocks(used, strips, grid.edges)


@dataclass(frozen=True)
class Shared:
    """One lattice that u and m have in common: `start + step * (0 .. count - 1)`, with so many
    steps for each of u and of m."""

    start: float
    step: float
    count: int
    per_u: int
    per_m: int

    @staticmethod
    def of(grid: Grid, nodes: Nodes, number: int) -> Shared:
        """That of a strip, for uniform nodes."""
        m = grid.lattice(number)
        spacing = float(grid.spacing[number])
        finest = min(nodes.step, spacing)
        per_u = round(nodes.step / finest)
        per_m = round(spacing / finest)
        count = per_u * (nodes.u.size - 1) + per_m * (m.size - 1) + 1
        return Shared(float(nodes.u[0] + m[0]), finest, count, per_u, per_m)


def _strip(grid: Grid, nodes: Nodes, number: int) -> Strip:
    """One strip, from one lattice that u and m have in common if there is one."""
    m = grid.lattice(number)
    s = grid.deviations(number)
    if not nodes.uniform:
        return Strip(graded(nodes.u, m, s).reshape(3, -1, s.size), nodes.u.size, m.size, m.size, 1)
    one = Shared.of(grid, nodes, number)
    t = lattice_transform(one.start, one.step, one.count, s=s)
    return Strip(np.stack([t.psi, t.r, t.w]), nodes.u.size, m.size, one.per_u, one.per_m)


def graded(u: HostPerNode, m: Lattice, s: Deviations) -> StripTable:
    """Every entry of a strip off the lattice: tabulated `_FINER` times as finely as m is and
    interpolated, with the same weights for all m. All three functions are zero where they are
    negligible, to the left; where phi underflows, to the right, no weight is left: psi is -`_GONE`
    there. So the table is as long as the strip's keys reach, whatever the range of u."""
    out = np.zeros((3, u.size, m.size, s.size))
    step = (m[1] - m[0]) / _FINER
    here = _served(u, m, s)
    out[0, here.stop :] = -_GONE
    if here.start == here.stop:
        return out

    # Counted from the right end, where u is not large: a table from its left end would begin at
    # -1e100.
    end = u[here][-1]
    place = (u[here] - end) / step
    at = np.floor(place).astype(int)
    before = _AROUND // 2 - 1
    around = np.arange(_AROUND) - float(before)
    weights = lagrange(place - at, around)
    rows = at[:, None] - at[0]
    index = rows + _FINER * np.arange(m.size)
    start = end + m[0] + step * (at[0] - before)
    count = int(index.max()) + _AROUND
    t = lattice_transform(start, step, count, s=s)
    for c in range(s.size):
        functions = np.stack([-t.psi[:, c], t.r[:, c], t.w[:, c]])
        out[:, here, :, c] = _interpolated(functions, index, weights)
    return out


def _interpolated(functions: np.ndarray, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """psi, r and w from -psi, r and w on the table, at the `_AROUND` points from each index on."""
    logs = np.log(np.maximum(functions, _TINY))
    around = sliding_window_view(logs, _AROUND, axis=1)[:, index]
    # Both conditions hold for all points up to some place.
    alive = functions[0] < _GONE
    unseen = np.count_nonzero(alive & (functions[2] <= _TINY))
    reach = np.count_nonzero(alive)

    right = index + _AROUND > reach
    inside = (index >= unseen) & ~right
    logs = (around @ weights[:, :, None])[..., 0]
    found = np.where(inside, np.exp(logs), 0.0)
    found[0][right] = _GONE
    found[0] *= -1
    return found


def _served(u: HostPerNode, m: Lattice, s: Deviations) -> slice:
    """The nodes at which some key of the strip is to be served. To the left of them w is below
    `_TINY`, as e^{2x} or as a normal density; to the right of them -psi is above `_GONE`."""
    widest = s.max()
    left = -(_LEFT + _BOTH * widest) - m[-1]
    right = np.log(_GONE) + _BOTH * widest - m[0]
    return slice(*np.searchsorted(u, [left, right]))


def table_cost(grid: Grid, nodes: Nodes) -> float:
    """What `tables` costs, in exponentials."""
    cost = 0.0
    for strip in grid.used:
        s = grid.deviations(strip)
        m = grid.lattice(strip)
        step = float(grid.spacing[strip])
        u = nodes.u
        entry = _READ
        if nodes.uniform:
            step = min(nodes.step, step)
        else:
            step /= _FINER
            u = u[_served(u, m, s)]
            entry = _INTERPOLATED
        length = float(np.ptp(u)) if u.size else 0.0
        whole = length + m[-1] - m[0]
        points = whole / step + _AROUND
        cost += points * lattice_effort(step, s)
        cost += entry * u.size * m.size * s.size
    return cost
