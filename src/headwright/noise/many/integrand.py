"""The integrand of many keys, from a table on the grid and the charge of each of its columns:

    Psi(u) = psi(u) @ charge,      sum_i r_i(u) = r(u) @ charge

and the few functions phi_1, phi_2, .. of u, orthonormal under e^Psi du, that span nearly all r_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.noise import budget
from headwright.noise.head.integral import FLOOR, beyond_the_ends
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.blocks import one_blas_thread
from headwright.noise.many.cells import Cells
from headwright.noise.many.polynomials import Terms, choose, coefficients
from headwright.noise.many.tables import Table, tables
from headwright.noise.many.transfer import Transfer
from headwright.types import Float, HostPerNode

# Polynomials are tried on so many nodes, among those with so much of the largest weight.
_TRIED = 10
_SEEN = 1e-4
# Nodes with less of the largest weight than this do not decide on phi.
_RARE = 1e-7
_SOME = 500  # columns from which phi is found

OnGrid = Float[np.ndarray, "g"]


@dataclass(frozen=True)
class Integrand:
    """`table` holds psi, r and w (nodes x columns of the grid), `charge` the keys, and `missed` is
    what short polynomials miss of their sums."""

    nodes: Nodes
    table: Table
    charge: OnGrid
    missed: float

    @cached_property
    def total(self) -> HostPerNode:
        """Psi"""
        return np.minimum(self.table[0] @ self.charge, 0.0)

    @cached_property
    def density(self) -> HostPerNode:
        """Weight of a node times e^Psi."""
        return self.nodes.weight * np.exp(self.total)

    @cached_property
    def r_sum(self) -> HostPerNode:
        """Sum r over all keys."""
        return self.table[1] @ self.charge


def make_integrand(cells: Cells, transfer: Transfer) -> Integrand:
    """The table on the grid, and the keys as charges on it."""
    table = tables(cells.grid, cells.nodes)
    terms = _terms(cells, table)
    missed = terms.cost * budget.POLYNOMIALS_MEAN
    charge = transfer.charges(terms)
    return Integrand(cells.nodes, table, charge, missed)


def _terms(cells: Cells, table: Table) -> Terms:
    """How short the polynomials of psi and r may be.

    An error of Psi costs int e^Psi (sum r)^k |error| du, one of sum r costs int k e^Psi (sum
    r)^(k-1) |error| du, for first and second moments, k = 1 and 2; without the errors these
    integrals are about 1."""
    psi = cells.middle(table[0]) @ cells.count
    r = cells.middle(table[1]) @ cells.count
    orders = np.array([[1], [2]])
    weight = np.exp(psi) * r**orders
    heavy = weight > _SEEN * weight.max(axis=1, keepdims=True)
    seen = np.flatnonzero(heavy.any(axis=0))
    tried = seen[np.linspace(0, seen.size - 1, _TRIED).astype(int)]

    weight = weight[:, tried]
    share = weight / weight.sum(axis=1, keepdims=True)
    first, second = share / budget.POLYNOMIALS_MEAN
    by_psi = first + second
    by_r = (first + 2 * second) / r[tried]
    functions = table[:2, tried, :].reshape(2 * _TRIED, -1)
    polynomial = coefficients(cells, functions)
    costs = np.concatenate([by_psi, by_r])[:, None] * cells.count
    return choose(cells, polynomial, costs, sums=True)


def directions(one: Integrand) -> tuple[Float[np.ndarray, "j g"], float]:
    """g_j = int r phi_j e^Psi du on the grid for as few j as will do, and what the others would add
    to the covariance at most."""
    charge = np.abs(one.charge)
    size = np.sqrt(one.density) * (one.table[1] @ charge)
    seen = size > _RARE * size.max()
    root = np.sqrt(one.density[seen])
    r = root[:, None] * one.table[1][seen]
    # Neighbouring columns are much alike: some decide on phi, all on what it misses.
    some = slice(None, None, max(1, charge.size // _SOME))
    with one_blas_thread():
        decisive = r[:, some] * charge[some]
        triangle = np.asarray(np.linalg.qr(decisive.T, mode="r"))
        phi = np.linalg.svd(triangle.T)[0]
        g = phi.T @ r

    from_last = np.cumsum((g * g)[::-1], axis=0)
    missed = np.sqrt(from_last[::-1]) @ charge  # without g_j, g_j+1, ..
    unseen = size[~seen].sum()
    squared = (np.append(missed[1:], 0.0) + unseen) ** 2
    allowed = max(budget.DIRECTIONS, squared[-1])
    few = int(np.argmax(squared <= allowed)) + 1
    return g[:few], float(squared[few - 1])


def errors(cells: Cells, one: Integrand, A: OnGrid, weights: float) -> tuple[float, float]:
    """Ends, rule and the two identities, as in `head.integral.errors`; `weights` is `sum_i A_i`
    over the keys."""
    density = one.density
    _, r, w = one.table
    ends = beyond_the_ends(one.total, one.r_sum)
    all_weights = density @ one.r_sum
    on_grid = abs(float(all_weights) - 1.0)
    identity = on_grid + abs(weights - 1.0)
    all_pairs = (density * one.r_sum) @ r
    unmatched = all_pairs + density @ (w - r * r) - A
    pairs = float(np.abs(one.charge) @ np.abs(unmatched))
    known = FLOOR + ends + identity + cells.lost

    first = one.nodes.alias(1)
    second = one.nodes.alias(2)
    if not one.nodes.uniform:
        # Every second node, on the total weight.
        half = 2 * (density * one.r_sum)[::2].sum()
        rule = 3 * abs(half - all_weights) ** 2
        first = max(first, rule)
        second = max(second, rule)
    return float(known + first), float(known + pairs + second)
