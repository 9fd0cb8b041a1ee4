"""The problem of one head (`solve.coordinates`), with as many digits as its longest query needs.

A query of length 1e10 on unit keys is held by differences of 1e-10 between weighted sums of keys:
in float64 the products K y and lam K are then rounding and nothing else, whatever the coordinates.
So these products are taken with 256 bits. Numbers per key (u, lam) are of size one and stay
float64. The keys are taken as they are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from headwright.design.target import Bias, PerKey, Target
from headwright.types import Array, Keys, Query

# Lengths up to 1e15 put condition numbers of 1e30 into the Newton matrix, and near-twins inside S
# square theirs in the Gram matrix.
_BITS = 256
# In more dimensions many digits take seconds.
MOST_DIMENSIONS = 192


@contextmanager
def many_digits(bits: int = _BITS) -> Iterator[None]:
    """Balls made inside have so many bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def column(numbers: Sequence[Any]) -> Any:
    return arb_mat(len(numbers), 1, [arb(x) for x in numbers])


def matrix(rows: Array) -> Any:
    flat = [arb(x) for x in rows.ravel().tolist()]
    return arb_mat(rows.shape[0], rows.shape[1], flat)


def dot(a: Any, b: Any) -> Any:
    """Of two columns."""
    return (a.transpose() * b)[0, 0]


def to_floats(numbers: Any) -> PerKey:
    """The entries of a matrix, rounded to float64."""
    return np.array([float(x) for x in numbers.entries()])


@dataclass(frozen=True)
class Frame:
    """`E` holds the differences k_a - k0 inside S as rows, `shadow` is (E E')^-1 E, and `q0` the
    least-norm query with the wanted logits on S; None stands for an S of one key."""

    K: Keys
    support: tuple[int, ...]
    bias: Bias
    level: Any  # ln p_0 - bias_0
    q0: Any
    E: Any
    shadow: Any

    @classmethod
    def of(cls, K: Keys, face: Target, bias: Bias) -> Frame:
        """ZeroDivisionError where the keys of S are affinely dependent."""
        inside = list(face.support)
        goal = [arb(p).log() for p in face.shares.tolist()]
        if bias is not None:
            goal = [g - arb(b) for g, b in zip(goal, bias[inside].tolist(), strict=True)]
        if len(inside) == 1:
            zero = column([0.0] * K.shape[1])
            return cls(K, face.support, bias, goal[0], zero, None, None)
        ones = matrix(np.ones((len(inside) - 1, 1)))
        first = matrix(K[inside[:1]])
        E = matrix(K[inside[1:]]) - ones * first
        shadow = (E * E.transpose()).solve(E)
        rise = column([g - goal[0] for g in goal[1:]])
        q0 = shadow.transpose() * rise
        return cls(K, face.support, bias, goal[0], q0.mid(), E, shadow.mid())

    def off(self, y: Any) -> Any:
        """A column without its components along the differences inside S."""
        if self.E is None:
            return y
        return (y - self.shadow.transpose() * (self.E * y)).mid()

    def rows(self, which: Array) -> tuple[Any, Any]:
        """x_i = P(k0 - k_i), and c_i = (k_i - k0).q0 + bias_i + ln p_0 - bias_0."""
        ones = matrix(np.ones((len(which), 1)))
        apart = ones * matrix(self.K[[self.support[0]]]) - matrix(self.K[which])
        c = ones * self.level - apart * self.q0
        if self.bias is not None:
            c = c + column(self.bias[which].tolist())
        if self.E is not None:
            apart = apart - (apart * self.E.transpose()) * self.shadow
        return apart.mid(), c.mid()

    def query(self, y: Any) -> Query:
        return to_floats(self.q0 + y)
