"""Few nodes that stand for all. Where the density of a head is not gone, what a key of little
weight does is nearly a polynomial in e^u: for a group of such keys the values at a few nodes u_j
give all others,

    F(u) = sum_j l_j(u) F(u_j),    F = psi, r, L and its derivatives,

so that sums over keys are needed at these nodes only. The nodes, and l_j, come from a QR
decomposition with pivoting of the functions of some keys (an interpolative decomposition). What it
leaves out is measured (`groups`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from scipy.linalg import qr, solve_triangular

from headwright.noise.head.nodes import Nodes
from headwright.noise.heads.block import OneHead
from headwright.types import Float, HostPerNode, Int

_ORDERS = 4  # of the Hermite polynomials that the nodes are chosen for
_FLOOR = 1e-3  # of the largest weight: where there is none nodes must not stand for nonsense
_LEAST = 1e-200  # divides


@dataclass(frozen=True)
class FewNodes:
    """Numbers of the nodes, and what a value at each of them adds to the values at all nodes."""

    places: Int[np.ndarray, "j"]
    spread: Float[np.ndarray, "j u"]

    @staticmethod
    def all(count: int) -> FewNodes:
        """Every node stands for itself."""
        return FewNodes(np.arange(count), np.eye(count))

    @property
    def count(self) -> int:
        return self.places.size

    @cached_property
    def is_all(self) -> bool:
        return self.count == self.spread.shape[1]

    @property
    def absolute(self) -> FewNodes:
        """A bound at these nodes, spread by it, is one at all nodes."""
        return FewNodes(self.places, np.abs(self.spread))

    def of(self, grid: Nodes) -> Nodes:
        """Nodes that stand for others are not at equal distances."""
        places = self.places
        uniform = self.is_all and grid.uniform
        return Nodes(grid.u[places], grid.weight[places], grid.step, uniform)

    def on_all(self, table: Float[np.ndarray, "*r j"]) -> Float[np.ndarray, "*r u"]:
        """The values at all nodes."""
        return table if self.is_all else table @ self.spread

    def gathered(self, table: Float[np.ndarray, "*r u"]) -> Float[np.ndarray, "*r j"]:
        """Weights of all nodes, as they act on the values at these ones."""
        return table if self.is_all else table @ self.spread.T


@dataclass(frozen=True)
class Choice:
    """The nodes one after the other, the most telling first; `rest` is what is missed by so many of
    them, relative to a key and added up with the weights that it is seen with."""

    order: Int[np.ndarray, "u"]
    R: Float[np.ndarray, "_f u"]
    root: HostPerNode
    rest: Float[np.ndarray, "_f"]

    @staticmethod
    def of(some: OneHead, keys: int, seen: HostPerNode) -> Choice:
        """By the functions of the first keys of a block, with the weights `seen`."""
        weight = np.maximum(seen, _FLOOR * seen.max())
        root = np.sqrt(weight)
        functions = _functions(some, weight)[:, :keys].reshape(-1, weight.size)
        _, R, order = map(np.asarray, qr(functions * root, mode="economic", pivoting=True))
        # sum_u weight |F| <= (sum_u weight)^(1/2) (sum_u weight F^2)^(1/2)
        squares = np.cumsum(np.sum(R * R, axis=1)[::-1])[::-1]
        return Choice(order, R, root, np.sqrt(squares * weight.sum()))

    def nodes(self, tolerance: float) -> FewNodes:
        """As few as miss no more, or all if they would be most of them."""
        size = self.root.size
        enough = np.flatnonzero(self.rest <= tolerance)
        count = int(enough[0]) if enough.size else size
        if 2 * count > size:
            return FewNodes.all(size)
        R = self.R[:count]
        spread = np.empty((count, size))
        spread[:, self.order] = solve_triangular(R[:, :count], R)
        places = self.order[:count]
        return FewNodes(places, spread * self.root[places, None] / self.root)


def _functions(some: OneHead, weight: HostPerNode) -> Float[np.ndarray, "f n u"]:
    """psi, r and its square, and the first P_k, of keys of the same size."""
    logit = some.logit
    terms = [value for value, _ in islice(logit.terms(some.points, some.s), _ORDERS)]
    kinds = (
        (logit.psi, [logit.psi]),
        (logit.r, [logit.r, logit.r * logit.r]),
        (logit.size, terms),
    )
    rows = []
    for size, tables in kinds:
        whole = np.maximum(np.abs(size) @ weight, _LEAST)
        rows += [table / whole[:, None] for table in tables]
    return np.stack(rows)
