"""Sums over keys on all pairs of nodes of two heads: light keys by products of matrices, the others
by a table each (`tables`).

For a light key L = ln(1 + eta) is replaced by eta = sum_k rho^k P_k(u) Q_k(u'). With X^2 the sum of
all P_k^2 and Y^2 that of all Q_k^2, |eta| <= |rho| X Y, so that for |rho| X Y <= 1/10

    |L - eta| <= 5/8 rho^2 X^2 Y^2;

the derivatives of both sides obey the same, where dX^2 is the sum of all squares of derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headwright.noise.heads.block import Block, Expansion, Factor, Terms
from headwright.noise.heads.hermite import OnNodes
from headwright.types import Float, HostPerKey, HostValues

LIGHT = 0.1  # the largest |rho| X X' of a light key
_SECOND_ORDER = 0.625

OnPairs = Float[np.ndarray, "u w"]
OnPairsByKey = Float[np.ndarray, "n u w"]
OnPairsByValue = Float[np.ndarray, "v u w"]


@dataclass(frozen=True)
class Sizes:
    """A function of u and u', its derivatives by u, by u' and by both; or bounds of them."""

    table: Float[np.ndarray, "4 u w"]

    def add(self, factor: HostPerKey, x: Factor, y: Factor) -> None:
        """`sum_i factor_i x_i(u) y_i(u')`"""
        rows = np.concatenate(x, axis=1) * factor[:, None]
        product = rows.T @ np.concatenate(y, axis=1)
        count, width = self.table.shape[1:]
        # by u, by u'
        parts = product.reshape(2, count, 2, width).transpose(2, 0, 1, 3)
        self.table[:] += parts.reshape(4, count, width)


class KeyTables(NamedTuple):
    """L of some keys on all pairs of nodes, and its derivatives."""

    L: OnPairsByKey
    by_u: OnPairsByKey
    by_w: OnPairsByKey
    by_both: OnPairsByKey


class Seen(NamedTuple):
    """Integrals of the derivatives of L under a weight on all pairs of nodes, key by key: of dL
    over u, of d'L over u', of dd'L and of dL d'L over both. `product_error` bounds that of the
    last."""

    by_u: OnNodes
    by_w: OnNodes
    by_both: HostPerKey
    product: HostPerKey | float
    product_error: float


class Light(NamedTuple):
    """Light keys, the number of their terms, and the terms (times rho^k in the first head) where
    there is room for them."""

    block: Block
    count: int
    terms: tuple[Terms, Terms] | None

    @property
    def keys(self) -> np.ndarray:
        return self.block.keys

    @property
    def r(self) -> list[OnNodes]:
        return [one.logit.r for one in self.block.heads]

    @property
    def bytes(self) -> int:
        return sum(table.nbytes for terms in self.terms or () for table in terms)

    def both(self) -> tuple[Terms, Terms]:
        """The terms of either head, made again where they were not kept."""
        if self.terms is not None:
            return self.terms
        a, b = (one.terms(self.count) for one in self.block.heads)
        return _times_powers(a, self.block), b

    def seen(self, W: OnPairs) -> Seen:
        """Under a weight on all pairs of nodes."""
        a, b = self.both()
        under_slope = b.slope @ W.T
        by_w = np.sum(a.value * under_slope, axis=0)
        by_both = np.sum(a.slope * under_slope, axis=(0, 2))
        by_u = np.sum(b.value * (a.slope @ W), axis=0)
        return Seen(by_u, by_w, by_both, 0.0, self._largest_product(W))

    def _largest_product(self, W: OnPairs) -> float:
        """|dL d'L| <= 4 rho^2 X dX Y dY"""
        x, y = (one.size.value * one.size.slope for one in self.block.heads)
        products = 4 * self.block.rho**2 * np.sum((x @ W) * y, axis=1)
        return float(products.max())


@dataclass(frozen=True)
class Sums:
    """`exponent` is sum L; `R` is -sum C dL, `S` is -sum D d'L (of light keys by their first terms,
    which misses `rough` derivatives); `sizes` bounds sum |L|, `left_out` its error."""

    exponent: OnPairs
    R: OnPairsByValue
    S: OnPairsByValue
    sizes: Sizes
    left_out: Sizes
    rough: Sizes

    @staticmethod
    def zero(shape: tuple[int, int], values: int) -> Sums:
        several = (Sizes(np.zeros((4, *shape))) for _ in range(3))
        R, S = np.zeros((2, values, *shape))
        return Sums(np.zeros(shape), R, S, *several)

    def add_light(self, light: Light, found: Expansion, values: tuple[HostValues, ...]) -> None:
        """Keys whose L is eta, up to second order."""
        block = light.block
        terms = light.both()
        self.exponent[:] += _product(terms[0].value, terms[1].value)

        count, *rest = found.few
        a, b = (_single(one, count) for one in terms)
        C, D = (rows[block.keys].astype(np.float32) for rows in values)
        for j in range(C.shape[1]):
            self.R[j] -= _product(a.slope * C[:, j, None], b.value)
            self.S[j] -= _product(a.value, b.slope * D[:, j, None])

        rho = np.abs(block.rho)
        sizes = [one.size for one in block.heads]
        squares = [size.times(size) for size in sizes]
        self.sizes.add(2 * rho, *sizes)
        for bound, terms, left in (
            (self.left_out, found.count, found.rest),
            (self.rough, count, rest),
        ):
            bound.add(rho ** (terms + 1), *left)
            bound.add(_SECOND_ORDER * rho**2, *squares)

    def add_tables(
        self, keys: np.ndarray, tables: KeyTables, values: tuple[HostValues, ...]
    ) -> None:
        """Keys with a table each."""
        C, D = (rows[keys] for rows in values)
        self.exponent[:] += tables.L.sum(axis=0)
        self.R[:] -= np.tensordot(C, tables.by_u, axes=(0, 0))
        self.S[:] -= np.tensordot(D, tables.by_w, axes=(0, 0))
        for j, table in enumerate(tables):
            self.sizes.table[j] += np.abs(table).sum(axis=0)


def scaled(found: Expansion, block: Block) -> tuple[Terms, Terms]:
    """rho^k P_k, and P'_k."""
    return _times_powers(found.a, block), found.b


def _times_powers(a: Terms, block: Block) -> Terms:
    """rho^k P_k"""
    powers = block.powers(a.value.shape[0])
    return Terms(a.value * powers, a.slope * powers)


def _single(terms: Terms, count: int) -> Terms:
    """The first terms in single precision: enough for products of two small sums."""
    return Terms(*(part[:count].astype(np.float32) for part in terms))


def _product(a: np.ndarray, b: np.ndarray) -> OnPairs:
    """Summed over terms and keys."""
    return a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])
