"""Some keys whose logits have about the same deviations, in both heads: how many of their separable
terms `rho^k P_k(u) P'_k(u')` are needed, and how much is left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from headwright.noise.heads.hermite import Lattice, Logit, OnNodes, Points, Which
from headwright.types import Float, HostPerKey, Int

# Of the squares of all P_k: covers the error of the lattice where what is left out is a difference.
_UNSURE = 1e-9

_LOOK = 2  # terms between two looks at what is left out

Orders = Float[np.ndarray, "k n u"]


# The two heads have nodes of their own.
NodesOfHead = Float[np.ndarray, "_u"]


class Factor(NamedTuple):
    """A function of u for each key, and its derivative; or bounds of both."""

    value: OnNodes
    slope: OnNodes

    def times(self, other: Factor) -> Factor:
        """The product of two functions."""
        slope = self.value * other.slope + self.slope * other.value
        return Factor(self.value * other.value, slope)

    def some(self, which: np.ndarray) -> Factor:
        """For some of the keys."""
        return Factor(self.value[which], self.slope[which])


class Terms(NamedTuple):
    """P_1 .. P_K of one head, and their derivatives."""

    value: Orders
    slope: Orders


@dataclass(frozen=True)
class Measure:
    """What an error of L_i is seen with: e^Psi (sum r |x| + |x'|), added up over u, in either
    head."""

    density: tuple[NodesOfHead, NodesOfHead]
    r_sum: tuple[NodesOfHead, NodesOfHead]

    def of(self, x: Factor, y: Factor) -> HostPerKey:
        """Of a product x(u) y(u'), key by key."""
        rows = (self.r_sum[0] * x.value + x.slope) @ self.density[0]
        columns = (self.r_sum[1] * y.value + y.slope) @ self.density[1]
        return rows * columns


@dataclass(frozen=True)
class OneHead:
    """The logits of some keys in one head."""

    s: HostPerKey
    lattice: Lattice | Points
    logit: Logit

    @property
    def size(self) -> Factor:
        """The root of the sum of the squares of all P_k, and of all their derivatives."""
        return Factor(self.logit.size, self.logit.slope)

    def terms(self, count: int) -> Terms:
        """The first terms."""
        series = self.logit.terms(self.lattice, self.s)
        found = [next(series) for _ in range(count)]
        return Terms(*(np.stack(column) for column in zip(*found, strict=True)))


@dataclass(frozen=True)
class Block:
    """Some keys: their numbers, the correlations of their logits, and both heads."""

    keys: Int[np.ndarray, "n"]
    rho: HostPerKey
    heads: tuple[OneHead, OneHead]

    def some(self, which: Which, counts: tuple[int, int]) -> Block:
        """Some of the keys, on the first nodes of either head."""
        heads = [
            OneHead(
                one.s[which],
                one.lattice.restricted(which, count),
                one.logit.restricted(which, count),
            )
            for one, count in zip(self.heads, counts, strict=True)
        ]
        return Block(self.keys[which], self.rho[which], (heads[0], heads[1]))

    def powers(self, count: int) -> Float[np.ndarray, "k n 1"]:
        """rho^k"""
        orders = np.arange(1, count + 1)[:, None]
        return (self.rho**orders)[:, :, None]

    def expanded(self, measure: Measure, share: float, rough_share: float) -> Expansion:
        """As many terms as it takes for what is left out to be seen with at most `share`, all keys
        together; the first `few` of them miss at most `rough_share`."""
        remainders = [_Remainder(one) for one in self.heads]
        most = min(one.lattice.most for one in self.heads)
        few: list[tuple[int, Factor, Factor]] = []
        for count in range(_LOOK, most + 1, _LOOK):
            for remainder in remainders:
                remainder.advance(_LOOK)
            rest = (remainders[0].factor(), remainders[1].factor())
            left_out = np.abs(self.rho) ** (count + 1) * measure.of(*rest)
            total = float(left_out.sum())
            last = count == most
            if not few and (total <= rough_share or last):
                few.append((count, *rest))
            if few and (total <= share or last):
                break
        a, b = (remainder.terms() for remainder in remainders)
        return Expansion(a, b, rest, left_out, few[0])


class Expansion(NamedTuple):
    """The terms of a block, bounds of what is left out (in either head, and as it is seen, key by
    key), and the same for the first few terms alone."""

    a: Terms
    b: Terms
    rest: tuple[Factor, Factor]
    left_out: HostPerKey
    few: tuple[int, Factor, Factor]

    @property
    def count(self) -> int:
        return self.a.value.shape[0]


class _Remainder:
    """The terms of one head one after the other, and the squares of those that are left."""

    def __init__(self, one: OneHead) -> None:
        self.size = one.size
        self.series = one.logit.terms(one.lattice, one.s)
        self.found: list[tuple[OnNodes, OnNodes]] = []
        self.values = (1.0 + _UNSURE) * self.size.value**2
        self.slopes = (1.0 + _UNSURE) * self.size.slope**2

    def advance(self, count: int) -> None:
        """Some more terms."""
        for value, slope in islice(self.series, count):
            self.found.append((value, slope))
            self.values -= value * value
            self.slopes -= slope * slope

    def factor(self) -> Factor:
        """Bounds of the root of the sum of all squares that are left."""
        values = np.maximum(self.values, _UNSURE * self.size.value**2)
        slopes = np.maximum(self.slopes, _UNSURE * self.size.slope**2)
        return Factor(np.sqrt(values), np.sqrt(slopes))

    def terms(self) -> Terms:
        """All terms so far."""
        return Terms(*(np.stack(column) for column in zip(*self.found, strict=True)))
