"""psi, r and w beside keys on an accelerator, every entry stored.

There a product with a whole matrix takes less time than the launches that shorter tables need, and
what comes to the host is as short as a row. (Rejected: the tables of the host; a third of the time
of ten million keys went into them.)
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import like
from headwright.noise.many.table.host import Strip, Table
from headwright.result import to_numpy
from headwright.types import Array, Float, HostPerNode, Int, PerKey


@dataclass(frozen=True)
class DeviceTable:
    """What `Table` answers, from arrays on a device."""

    functions: Float[Array, "3 u g"]

    @staticmethod
    def of(table: Table, keys: PerKey) -> DeviceTable:
        """The entries of a table, beside the keys."""
        xp = compat.array_namespace(keys)
        return DeviceTable(xp.concat([_entries(strip, keys) for strip in table.strips], axis=2))

    def read(
        self, function: int, nodes: Int[np.ndarray, "k"], columns: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "k n"]:
        """One function at some nodes, in some columns of the grid."""
        xp = compat.array_namespace(self.functions)
        device = compat.device(self.functions)
        rows = xp.take(self.functions[function, ...], xp.asarray(nodes, device=device), axis=0)
        return to_numpy(xp.take(rows, xp.asarray(columns, device=device), axis=1))

    def sums(self, function: int, charge: Float[np.ndarray, "g"]) -> HostPerNode:
        """`f @ charge` at every node."""
        return to_numpy(self.functions[function, ...] @ like(charge, self.functions))

    def integrals(
        self, function: int, weights: Float[np.ndarray, "i u"], *, power: int = 1
    ) -> Float[np.ndarray, "i g"]:
        """`weights @ f^power` in every column."""
        values = self.functions[function, ...]
        if power > 1:
            values = values**power
        return to_numpy(like(weights, self.functions) @ values)


AnyTable = Table | DeviceTable


def _entries(strip: Strip, keys: PerKey) -> Float[Array, "3 u columns"]:
    """All entries of a strip: its short functions, read at every node and lattice point."""
    xp = compat.array_namespace(keys)
    device = compat.device(keys)
    functions = like(strip.functions, keys)
    count = strip.chebyshev
    node = xp.arange(strip.nodes, device=device)
    point = xp.arange(strip.points, device=device)
    place = strip.per_u * node[:, None] + strip.per_m * point
    found = xp.take(functions, xp.reshape(place, (-1,)), axis=1)
    return xp.reshape(found, (3, strip.nodes, strip.points * count))
