"""Sums over keys on all pairs of nodes of two heads, and bounds of what was left out of them. Those
of a block are made on its few nodes, and spread from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headwright.noise.head.tabulated import Integrand
from headwright.noise.heads.block import Factor, SomeKeys
from headwright.noise.heads.few_nodes import FewNodes
from headwright.noise.heads.hermite import Logit
from headwright.types import Float, HostPerKey, HostPerNode, HostValues

OnPairs = Float[np.ndarray, "u w"]
OnPairsByKey = Float[np.ndarray, "n u w"]
OnPairsByValue = Float[np.ndarray, "v u w"]
BothNodes = tuple[FewNodes, FewNodes]


class KeyTables(NamedTuple):
    """L of some keys on all pairs of nodes, and its derivatives."""

    L: OnPairsByKey
    by_u: OnPairsByKey
    by_w: OnPairsByKey
    by_both: OnPairsByKey


class Kept(NamedTuple):
    """What the covariance of the weights of some keys takes: r in either head, and at each pair of
    nodes dd'L, and dd'L - r d'L - r' dL + dL d'L."""

    keys: SomeKeys
    nodes: BothNodes
    r: Float[np.ndarray, "n u"]
    r_: Float[np.ndarray, "n w"]
    by_both: Float[np.ndarray, "n p"]
    product: Float[np.ndarray, "n p"]

    @staticmethod
    def of(
        keys: SomeKeys, nodes: BothNodes, *, r: tuple[np.ndarray, np.ndarray], tables: KeyTables
    ) -> Kept:
        rows = r[0][:, :, None] - tables.by_u
        columns = r[1][:, None, :] - tables.by_w
        product = rows * columns
        product -= r[0][:, :, None] * r[1][:, None, :]
        product += tables.by_both
        flat = (keys.size, -1)
        return Kept(keys, nodes, *r, tables.by_both.reshape(flat), product.reshape(flat))


@dataclass(frozen=True)
class HeadSums:
    """Of one head alone, on all its nodes: Psi, the sums of r and of r times values, and what few
    nodes miss of the first two."""

    psi: HostPerNode
    r: HostPerNode
    R: Float[np.ndarray, "v u"]
    missed_psi: HostPerNode
    missed_r: HostPerNode

    @staticmethod
    def of(alone: Integrand, C: HostValues) -> HeadSums:
        """Of keys that are known on all nodes, with values C."""
        nothing = np.zeros_like(alone.total)
        R = C.T @ alone.r.T
        return HeadSums(alone.total.copy(), alone.r.sum(axis=1), R, nothing, nothing.copy())

    def add(self, logit: Logit, few: FewNodes, C: HostValues) -> None:
        """Keys on few nodes."""
        self.psi[:] += few.on_all(logit.psi.sum(axis=0))
        self.r[:] += few.on_all(logit.r.sum(axis=0))
        self.R[:] += few.on_all(C.T @ logit.r)


@dataclass(frozen=True)
class Sizes:
    """A function of u and u', its derivatives by u, by u' and by both; or bounds of them."""

    table: Float[np.ndarray, "4 u w"]

    @staticmethod
    def zero(shape: tuple[int, int]) -> Sizes:
        return Sizes(np.zeros((4, *shape)))

    def add(self, factor: HostPerKey, x: Factor, y: Factor) -> None:
        """`sum_i factor_i x_i(u) y_i(u')`"""
        rows = np.concatenate(x, axis=1) * factor[:, None]
        product = rows.T @ np.concatenate(y, axis=1)
        count, width = self.table.shape[1:]
        # by u, by u'
        parts = product.reshape(2, count, 2, width).transpose(2, 0, 1, 3)
        self.table[:] += parts.reshape(4, count, width)


@dataclass(frozen=True)
class Sums:
    """`exponent` is sum L; `R` is -sum C dL, `S` is -sum D d'L; `sizes` is sum |L|, `left_out`
    bounds its error."""

    exponent: OnPairs
    R: OnPairsByValue
    S: OnPairsByValue
    sizes: Sizes
    left_out: Sizes

    @staticmethod
    def zero(shape: tuple[int, int], values: int) -> Sums:
        R, S = np.zeros((2, values, *shape))
        return Sums(np.zeros(shape), R, S, Sizes.zero(shape), Sizes.zero(shape))

    def add_tables(
        self, keys: np.ndarray, tables: KeyTables, values: tuple[HostValues, HostValues]
    ) -> None:
        """Some keys."""
        C, D = (rows[keys] for rows in values)
        self.exponent[:] += tables.L.sum(axis=0)
        self.R[:] -= np.tensordot(C, tables.by_u, axes=(0, 0))
        self.S[:] -= np.tensordot(D, tables.by_w, axes=(0, 0))
        for j, table in enumerate(tables):
            self.sizes.table[j] += np.abs(table).sum(axis=0)

    def add_spread(self, few: Sums, nodes: BothNodes) -> None:
        """Sums on few nodes. Bounds are spread so that they stay bounds."""
        for mine, other in ((self.exponent, few.exponent), (self.R, few.R), (self.S, few.S)):
            mine[:] += on_all_pairs(other, nodes)
        bounds = (nodes[0].absolute, nodes[1].absolute)
        self.sizes.table[:] += np.abs(on_all_pairs(few.sizes.table, nodes))
        self.left_out.table[:] += on_all_pairs(few.left_out.table, bounds)


def on_all_pairs(
    table: Float[np.ndarray, "*r j k"], nodes: BothNodes
) -> Float[np.ndarray, "*r u w"]:
    """A table on few nodes of either head, on all of them."""
    by_w = nodes[1].on_all(table)
    return nodes[0].on_all(by_w.swapaxes(-1, -2)).swapaxes(-1, -2)


def on_few_pairs(
    weight: Float[np.ndarray, "*r u w"], nodes: BothNodes
) -> Float[np.ndarray, "*r j k"]:
    """A weight on all pairs of nodes, as it acts on tables on few of them."""
    by_w = nodes[1].gathered(weight)
    return nodes[0].gathered(by_w.swapaxes(-1, -2)).swapaxes(-1, -2)
