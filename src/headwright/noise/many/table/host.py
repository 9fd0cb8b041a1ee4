"""psi, r and w at every node u for every column of a grid, strip by strip.

(Rejected: storing every entry always, 200 MB for a grid of 40,000 columns, of which memory had more
work than the processor.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.blocks import blocks, in_threads
from headwright.noise.head.lattice import lattice_effort, lattice_transform
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.grid import Grid
from headwright.noise.many.table.graded import AROUND, FINER, graded, served
from headwright.noise.many.table.strip import Shared, Strip
from headwright.types import Float, HostPerNode, Int, OnGrid

# The functions of a table.
PSI = 0
R = 1
W = 2
# What an entry of the table costs on the lattice and off it, in exponentials.
_READ = 1.0
_INTERPOLATED = 14.0
_PART = 1 << 19  # entries of the table given to a thread, about


@dataclass(frozen=True)
class Table:
    """psi, r and w on a grid, by the strips that have keys."""

    grid: Grid
    strips: list[Strip]

    def read(
        self,
        functions: Sequence[int],
        nodes: Int[np.ndarray, "k"],
        columns: Int[np.ndarray, "n"],
    ) -> list[Float[np.ndarray, "k n"]]:
        """Some functions at some nodes, in some columns of the grid."""
        found = [np.empty((nodes.size, columns.size)) for _ in functions]
        for strip, number in zip(self.strips, self.grid.used, strict=True):
            start, stop = self.grid.offsets[number : number + 2]
            mine = np.flatnonzero((columns >= start) & (columns < stop))
            for function, entries in zip(functions, found, strict=True):
                entries[:, mine] = strip.read(function, nodes, columns[mine] - start)
        return found

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


def _strip(grid: Grid, nodes: Nodes, number: int) -> Strip:
    """One strip, from one lattice that u and m have in common if there is one."""
    m = grid.lattice(number)
    s = grid.deviations(number)
    if not nodes.uniform:
        return Strip(graded(nodes.u, m, s).reshape(3, -1, s.size), nodes.u.size, m.size, m.size, 1)
    one = Shared.of(grid, nodes, number)
    t = lattice_transform(one.start, one.step, one.count, s=s)
    return Strip(np.stack([t.psi, t.r, t.w]), nodes.u.size, m.size, one.per_u, one.per_m)


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
            step /= FINER
            u = u[served(u, m, s)]
            entry = _INTERPOLATED
        length = float(np.ptp(u)) if u.size else 0.0
        whole = length + m[-1] - m[0]
        points = whole / step + AROUND
        cost += points * lattice_effort(step, s)
        cost += entry * u.size * m.size * s.size
    return cost
