"""A strip of the grid on uniform nodes: psi, r and w as functions on one lattice.

u + m lies on a lattice, so what is stored is far shorter than nodes times columns, and sums over
either are products with small matrices that are constant along their diagonals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from headwright.noise.head.nodes import Nodes
from headwright.noise.many.grid import Grid
from headwright.types import Float, HostPerNode, Int

_TOGETHER = 16  # lattice points that share one matrix in an integral over u


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
