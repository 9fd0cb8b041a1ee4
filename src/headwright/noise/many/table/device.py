"""psi, r and w beside keys on an accelerator, every entry stored.

There a product with a whole matrix takes less time than the launches that shorter tables need. What
it is asked for each column stays there; what for each node, a hundred numbers, comes to the host.
(Rejected: tables made on the host, into which a third of the time of ten million keys went, and
strip by strip, in twenty launches each.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import beside, like, picked
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.grid import Grid
from headwright.noise.many.table.device_lattice import device_transform
from headwright.noise.many.table.host import Table, tables
from headwright.noise.many.table.strip import Shared
from headwright.result import to_numpy
from headwright.types import Array, Float, HostPerNode, Int, OnGrid, PerKey


@dataclass(frozen=True)
class DeviceTable:
    """What `Table` answers, from arrays on a device."""

    functions: Float[Array, "3 u g"]

    @staticmethod
    def of(grid: Grid, nodes: Nodes, keys: PerKey) -> DeviceTable:
        """psi, r and w at every node u for every column of the grid, beside the keys."""
        if nodes.uniform:
            return DeviceTable(_on_lattices(grid, nodes, keys))
        # Where deviations are that wide, tables of narrow keys are short.
        strips = tables(grid, nodes).strips
        entries = [strip.functions.reshape(3, nodes.u.size, -1) for strip in strips]
        return DeviceTable(like(np.concatenate(entries, axis=2), keys))

    def read(
        self,
        functions: Sequence[int],
        nodes: Int[np.ndarray, "k"],
        columns: Int[np.ndarray, "n"],
    ) -> list[Float[Array, "k n"]]:
        """Some functions at some nodes, in some columns of the grid: all are looked up together."""
        rows = picked(self.functions, beside(nodes, self.functions), axis=1)
        entries = picked(rows, beside(columns, self.functions), axis=2)
        return [entries[function, ...] for function in functions]

    def sums(self, function: int, charge: OnGrid) -> HostPerNode:
        """`f @ charge` at every node."""
        return to_numpy(self.functions[function, ...] @ charge)

    def integrals(
        self, function: int, weights: Float[np.ndarray, "i u"], *, power: int = 1
    ) -> Float[Array, "i g"]:
        """`weights @ f^power` in every column."""
        values = self.functions[function, ...]
        if power > 1:
            values = values**power
        return like(weights, self.functions) @ values


AnyTable = Table | DeviceTable


def _on_lattices(grid: Grid, nodes: Nodes, keys: PerKey) -> Float[Array, "3 u g"]:
    """The entries of all strips, read from the lattice that u and m have in common on each."""
    xp = compat.array_namespace(keys)
    used = grid.used
    lattices = [Shared.of(grid, nodes, number) for number in used]
    s = np.stack([grid.deviations(number) for number in used])
    functions = device_transform(lattices, s, keys)

    # Lattice point after lattice point of the grid: where it begins, and how far a node is from the
    # next.
    longest = functions.shape[2]
    firsts = []
    steps = []
    for k, (one, number) in enumerate(zip(lattices, used, strict=True)):
        points = np.arange(grid.count[number])
        firsts.append(k * longest + one.per_m * points)
        steps.append(np.full(points.size, one.per_u))
    first, step = (beside(np.concatenate(x), keys) for x in (firsts, steps))
    node = xp.arange(nodes.u.size, device=compat.device(keys))
    place = xp.reshape(first + step * node[:, None], (-1,))
    in_a_row = xp.reshape(functions, (3, -1, grid.chebyshev))
    return xp.reshape(picked(in_a_row, place, axis=1), (3, nodes.u.size, -1))
