"""Some keys whose logits have about the same deviations, in both heads: how many of their separable
terms `rho^k P_k(u) P'_k(u')` are needed, and how much is left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from headwright.noise.heads.hermite import Logit, OnNodes, Points
from headwright.noise.heads.pair import PairLaw
from headwright.types import Float, HostPerKey, HostPerNode, Int

# Of the squares of all P_k: covers the error of the lattice where what is left out is a difference.
_UNSURE = 1e-9

_LOOK = 2  # terms between two looks at what is left out

Orders = Float[np.ndarray, "k n u"]


# Chosen from all, more or fewer.
SomeKeys = Int[np.ndarray, "_k"]
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
    """What an error of L_i is seen with: e^Psi (sum r |x| + |x'|), added up over u, in either head.
    These are the weights of x and of x' at each node."""

    value: tuple[NodesOfHead, NodesOfHead]
    slope: tuple[NodesOfHead, NodesOfHead]

    def of(self, x: Factor, y: Factor) -> HostPerKey:
        """Of a product x(u) y(u'), key by key."""
        rows = x.value @ self.value[0] + x.slope @ self.slope[0]
        columns = y.value @ self.value[1] + y.slope @ self.slope[1]
        return rows * columns

    def of_tables(self, tables: Float[np.ndarray, "4 u w"]) -> float:
        """Of a function of u and u' and its derivatives by u, by u' and by both."""
        weights = ((a, b) for b in (self.value[1], self.slope[1]) for a in self.first)
        return float(sum(a @ table @ b for table, (a, b) in zip(tables, weights, strict=True)))

    @property
    def first(self) -> tuple[NodesOfHead, NodesOfHead]:
        """Of the first head."""
        return self.value[0], self.slope[0]


@dataclass(frozen=True)
class OneHead:
    """The logits of some keys in one head."""

    u: NodesOfHead
    m: HostPerKey
    s: HostPerKey
    points: Points
    logit: Logit

    @staticmethod
    def of(u: HostPerNode, m: HostPerKey, s: HostPerKey, *, longest: float) -> OneHead:
        """On nodes u, by a rule for g whose points lie no further apart than `longest`."""
        points = Points.of(u, m, s, longest=longest)
        return OneHead(u, m, s, points, Logit.of(points))

    @property
    def size(self) -> Factor:
        """The root of the sum of the squares of all P_k, and of all their derivatives."""
        return Factor(self.logit.size, self.logit.slope)


@dataclass(frozen=True)
class Block:
    """Some keys: their numbers, the correlations of their logits, and both heads."""

    keys: Int[np.ndarray, "n"]
    rho: HostPerKey
    heads: tuple[OneHead, OneHead]
    longest: float

    @staticmethod
    def of(
        law: PairLaw, keys: SomeKeys, u: tuple[NodesOfHead, NodesOfHead], *, longest: float
    ) -> Block:
        """On nodes u of either head."""
        heads = [
            OneHead.of(nodes, m, s, longest=longest)
            for nodes, m, s in zip(u, law.m[:, keys], law.s[:, keys], strict=True)
        ]
        correlation = law.c[keys] / (law.s[0, keys] * law.s[1, keys])
        return Block(keys, np.clip(correlation, -1.0, 1.0), (heads[0], heads[1]), longest)

    def effect(self, measure: Measure) -> HostPerKey:
        """How much the correlation of each key does, or more."""
        x, y = (one.size for one in self.heads)
        return np.abs(self.rho) * measure.of(x, y)

    def powers(self, count: int) -> Float[np.ndarray, "k n 1"]:
        """rho^k"""
        orders = np.arange(1, count + 1)[:, None]
        return (self.rho**orders)[:, :, None]

    def expanded(self, measure: Measure, share: float) -> Expansion:
        """As many terms as it takes for what is left out to be seen with at most `share`, all keys
        together."""
        remainders = [_Remainder(one) for one in self.heads]
        most = min(one.points.most for one in self.heads)
        for count in range(_LOOK, most + 1, _LOOK):
            for remainder in remainders:
                remainder.advance(_LOOK)
            rest = (remainders[0].factor(), remainders[1].factor())
            left_out = np.abs(self.rho) ** (count + 1) * measure.of(*rest)
            if left_out.sum() <= share:
                break
        a, b = (remainder.terms() for remainder in remainders)
        return Expansion(a, b, rest, left_out)


class Expansion(NamedTuple):
    """The terms of a block, and bounds of what is left out (in either head, and as it is seen, key
    by key)."""

    a: Terms
    b: Terms
    rest: tuple[Factor, Factor]
    left_out: HostPerKey

    @property
    def count(self) -> int:
        return self.a.value.shape[0]


class _Remainder:
    """The terms of one head one after the other, and the squares of those that are left."""

    def __init__(self, one: OneHead) -> None:
        self.size = one.size
        self.series = one.logit.terms(one.points, one.s)
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
