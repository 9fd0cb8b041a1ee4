"""psi, r and w beside keys on an accelerator, every entry stored.

There a product with a whole matrix takes less time than the launches that shorter tables need. What
it is asked for each column stays there; what for each node, a hundred numbers, comes to the host.
(Rejected: tables made on the host; a third of the time of ten million keys went into them.)
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import beside, like
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.grid import Grid
from headwright.noise.many.table.device_lattice import device_transform
from headwright.noise.many.table.graded import graded
from headwright.noise.many.table.host import Table
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
        xp = compat.array_namespace(keys)
        strips = [_strip(grid, nodes, number, keys) for number in grid.used]
        return DeviceTable(xp.concat(strips, axis=2))

    def read(
        self, function: int, nodes: Int[np.ndarray, "k"], columns: Int[np.ndarray, "n"]
    ) -> Float[Array, "k n"]:
        """One function at some nodes, in some columns of the grid."""
        xp = compat.array_namespace(self.functions)
        rows = xp.take(self.functions[function, ...], beside(nodes, self.functions), axis=0)
        return xp.take(rows, beside(columns, self.functions), axis=1)

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


def _strip(grid: Grid, nodes: Nodes, number: int, keys: PerKey) -> Float[Array, "3 u columns"]:
    """All entries of a strip. Those of graded nodes come from the host: where deviations are that
    wide, tables of narrow keys are short."""
    s = grid.deviations(number)
    m = grid.lattice(number)
    if not nodes.uniform:
        return like(graded(nodes.u, m, s).reshape(3, nodes.u.size, -1), keys)
    xp = compat.array_namespace(keys)
    device = compat.device(keys)
    one = Shared.of(grid, nodes, number)
    functions = device_transform(one.start, one.step, one.count, s=s, keys=keys)
    node = xp.arange(nodes.u.size, device=device)
    point = xp.arange(m.size, device=device)
    place = one.per_u * node[:, None] + one.per_m * point
    found = xp.take(functions, xp.reshape(place, (-1,)), axis=1)
    return xp.reshape(found, (3, nodes.u.size, -1))
