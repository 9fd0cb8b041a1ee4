"""The integrand of many keys, from a table on the grid and the charge of each of its columns:

    Psi(u) = psi(u) @ charge,      sum_i r_i(u) = r(u) @ charge

and the few functions phi_1, phi_2, .. of u, orthonormal under e^Psi du, that span nearly all r_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import array_api_compat as compat
import numpy as np

from headwright.arrays import beside, like, picked, put
from headwright.blocks import one_blas_thread
from headwright.noise import budget
from headwright.noise.head.integral import FLOOR
from headwright.noise.head.nodes import Nodes
from headwright.noise.many.cells import Cells
from headwright.noise.many.groups import Group, Picture
from headwright.noise.many.polynomials import Terms, choose
from headwright.noise.many.table.device import AnyTable
from headwright.noise.many.table.host import PSI, R
from headwright.noise.many.transfer import Transfer
from headwright.result import to_numpy
from headwright.types import Array, Float, HostPerNode, Int, OnGrid

# Polynomials are tried on so many nodes, among those with so much of the largest weight.
_TRIED = 10
_TRIED_FAINT = 4
_SEEN = 1e-4
# Nodes with less of the largest weight than this do not decide on phi.
_RARE = 1e-7
_FEW = (12, 40)  # functions phi that are tried first, and next
_ROUNDED = 4e-15  # relative error of an integral of r^2
_SOME = 500  # columns from which phi is found


@dataclass(frozen=True)
class Integrand:
    """`table` holds psi, r and w, `charges` the keys of each group, and `missed` is what short
    polynomials miss of their sums. What is known of each node is on the host, what is known of each
    column of the grid where the table is."""

    nodes: Nodes
    table: AnyTable
    groups: list[Group]
    charges: list[OnGrid]
    missed: float

    @cached_property
    def charge(self) -> OnGrid:
        """Of all keys."""
        return _sum(self.charges)

    @cached_property
    def counted(self) -> OnGrid:
        """Of all keys that are not faint."""
        pairs = zip(self.groups, self.charges, strict=True)
        return _sum([charge for group, charge in pairs if not group.faint])

    @cached_property
    def columns(self) -> Int[np.ndarray, "k"]:
        """Those of the grid that keys read which are not faint."""
        counted = [group.cells.read for group in self.groups if not group.faint]
        return counted[0] if len(counted) == 1 else np.unique(np.concatenate(counted))

    @cached_property
    def total(self) -> HostPerNode:
        """Psi"""
        return np.minimum(self.table.sums(PSI, self.charge), 0.0)

    @cached_property
    def density(self) -> HostPerNode:
        """Weight of a node times e^Psi."""
        return self.nodes.weight * np.exp(self.total)

    @cached_property
    def r_sum(self) -> HostPerNode:
        """Sum r over all keys."""
        return self.table.sums(R, self.charge)

    @cached_property
    def own(self) -> OnGrid:
        """int r^2 e^Psi du"""
        return self.table.integrals(R, self.density[None, :], power=2)[0, :]

    def integral(self, function: int) -> OnGrid:
        """int f e^Psi du"""
        return self.table.integrals(function, self.density[None, :])[0, :]


def _sum(charges: list[OnGrid]) -> OnGrid:
    """Of one group or more."""
    return sum(charges[1:], start=charges[0])


def make_integrand(
    table: AnyTable, seen: Picture, groups: list[Group], transfers: list[Transfer]
) -> Integrand:
    """The keys as charges on the grid, each group by polynomials of its own."""
    share = 1.0 / len(groups)
    all_terms = [_terms(group, table, seen, share) for group in groups]
    pairs = zip(transfers, all_terms, strict=True)
    charges = [transfer.charges(terms) for transfer, terms in pairs]
    missed = sum(terms.cost for terms in all_terms) * budget.POLYNOMIALS_MEAN
    return Integrand(groups[0].cells.nodes, table, groups, charges, missed)


def _terms(group: Group, table: AnyTable, seen: Picture, share: float) -> Terms:
    """How short the polynomials of psi and r may be.

    An error of Psi costs int e^Psi (sum r)^k |error| du, one of sum r costs int k e^Psi (sum
    r)^(k-1) |error| du, for first and second moments, k = 1 and 2; without the errors these
    integrals are about 1."""
    orders = np.array([[1], [2]])
    weight = np.exp(seen.psi) * seen.r**orders
    heavy = weight > _SEEN * weight.max(axis=1, keepdims=True)
    where = np.flatnonzero(heavy.any(axis=0))
    count = _TRIED_FAINT if group.faint else _TRIED
    tried = where[np.linspace(0, where.size - 1, count).astype(int)]

    weight = weight[:, tried]
    of_all = weight / weight.sum(axis=1, keepdims=True)
    first, second = of_all / budget.POLYNOMIALS_MEAN
    by_psi = first + second
    by_r = (first + 2 * second) / seen.r[tried]
    columns = group.cells.read
    read = table.read((PSI, R), 2 * tried, columns)
    functions = compat.array_namespace(read[0]).concat(read)
    costs = like(np.concatenate([by_psi, by_r])[:, None], functions)
    costs = costs * like(group.cells.count, functions)
    return choose(group.cells, functions, costs, sums=True, allowed=share)


def directions(one: Integrand) -> tuple[Float[Array, "j g"], float]:
    """g_j = int r phi_j e^Psi du on the grid, where keys read it that are not faint, for as few j
    as will do, and what the others would add to the covariance at most."""
    xp = compat.array_namespace(one.charge)
    charge = xp.abs(one.counted)
    size = np.sqrt(one.density) * one.table.sums(R, charge)
    seen = np.flatnonzero(size > _RARE * size.max())
    seen = np.arange(seen[0], seen[-1] + 1)
    root = np.sqrt(one.density[seen])
    phi = _principal(one, charge, seen, root)

    columns = beside(one.columns, charge)
    own = picked(one.own, columns)
    charge = picked(charge, columns)
    for most in (*_FEW, len(phi)):  # the first few nearly always do
        weights = np.zeros((len(phi[:most]), one.density.size))
        weights[:, seen] = phi[:most] * root
        found = picked(one.table.integrals(R, weights), columns, axis=1)
        # What g_1 .. g_j leave of int r^2 e^Psi du, the nodes that do not decide included.
        left = own - xp.cumulative_sum(found * found, axis=0)
        rest = xp.sqrt(xp.clip(left, min=0.0) + _ROUNDED * own) @ charge
        squared = to_numpy(rest) ** 2
        if squared[-1] <= budget.DIRECTIONS:
            break
    allowed = max(budget.DIRECTIONS, squared[-1])
    few = int(np.argmax(squared <= allowed)) + 1
    shape = (few, one.charge.shape[0])
    g = xp.zeros(shape, dtype=charge.dtype, device=compat.device(charge))
    return put(g, (slice(None), columns), found[:few, :]), float(squared[few - 1])


def _principal(
    one: Integrand, charge: OnGrid, seen: Int[np.ndarray, "k"], root: HostPerNode
) -> Float[np.ndarray, "j k"]:
    """phi at the nodes that decide, the first the most important. Neighbouring columns are much
    alike: some decide on phi, all on what it misses."""
    some = one.columns[:: max(1, one.columns.size // _SOME)]
    of_some = picked(charge, beside(some, charge))
    (r,) = one.table.read((R,), seen, some)
    decisive = root[:, None] * to_numpy(r * of_some)
    with one_blas_thread():
        triangle = np.asarray(np.linalg.qr(decisive.T, mode="r"))
        return np.linalg.svd(triangle.T)[0].T


def unmatched(one: Integrand, A: OnGrid, B: OnGrid) -> Float[Array, ""]:
    """What the identity of all pairs of keys misses: asked for before the pass over the values, so
    that an accelerator has it by then."""
    xp = compat.array_namespace(A)
    all_pairs = one.table.integrals(R, (one.density * one.r_sum)[None, :])[0, :]
    return xp.abs(one.charge) @ xp.abs(all_pairs + B - one.own - A)


def errors(
    cells: Cells, one: Integrand, pairs: Float[Array, ""], *, weights: float
) -> tuple[float, float]:
    """Ends, rule and the two identities, as in `head.integral.errors`: `pairs` is what that of all
    pairs misses, `weights` is `sum_i A_i` over the keys."""
    density = one.density
    ends = _beyond_the_ends(one.total, one.r_sum)
    all_weights = density @ one.r_sum
    on_grid = abs(float(all_weights) - 1.0)
    identity = on_grid + abs(weights - 1.0)
    known = FLOOR + ends + identity + cells.lost

    first = one.nodes.alias(1)
    second = one.nodes.alias(2)
    if not one.nodes.uniform:
        # Every second node, on the total weight.
        half = 2 * (density * one.r_sum)[::2].sum()
        rule = 3 * abs(half - all_weights) ** 2
        first = max(first, rule)
        second = max(second, rule)
    return float(known + first), float(known + float(pairs) + second)


def _beyond_the_ends(total: HostPerNode, r_sum: HostPerNode) -> float:
    """Mass beyond the ends: 1 - e^Psi on the left, e^Psi (1 + sum r) on the right."""
    left = -np.expm1(total[0])
    right = np.exp(total[-1]) * (1.0 + r_sum[-1])
    return left + right
