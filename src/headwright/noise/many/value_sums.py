"""One pass over the values of all keys: everything that the mean and the covariance need of them.

Key i has A_i, and (D_i, A_i h_1(i), .., B_i / A_i^2), in a row of two tables. With values counted
from a centre c,

    sum_i D_i (v_i - mean)(v_i - mean)' = S - d T' - T d' + d d' sum D,        d = mean - c,

where S and T are the sums of D (v - c)(v - c)' and D (v - c).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import dot, put
from headwright.noise.many.blocks import blocks, in_threads
from headwright.result import to_numpy
from headwright.types import Array, Float, HostCovariance, HostMean, Int, Mean, PerKey, Values

_CACHED = 1 << 13  # rows of values in work at once on the host
_PARTS = 8  # of all rows, for threads
_SOME = 500  # values from which their centre is found


@dataclass(frozen=True)
class KeyTables:
    """`A` and `others`, (D, A h_1, .., B / A^2), each with a row for every slot; `row[i]` is that
    of key i."""

    A: Float[Array, "slots"]
    others: Float[Array, "slots k"]
    row: Int[Array, "n"]


@dataclass(frozen=True)
class ValueSums:
    """The sums over all values, and A and B key by key: `weight` is `sum_i A_i`, `farthest` the
    largest |v_i - mean|."""

    weights_mean: PerKey
    weights_square: PerKey
    weight: float
    mean: HostMean
    covariance: HostCovariance
    R: Float[np.ndarray, "j v"]
    farthest: float


class _Part:
    """The sums over some of the rows: of A v, of all columns of `others`, of these times v, and of
    D v v'. All but the first are taken in the precision of `others`."""

    def __init__(self, tables: KeyTables, values: Values, centre: Mean | None) -> None:
        self.tables = tables
        self.values = values
        self.centre = centre
        self.total: Any = 0.0
        self.sums: Any = 0.0
        self.linear: Any = 0.0
        self.square: Any = 0.0
        self.farthest = 0.0

    def add(self, block: slice, weight: Array, rest: Array, room: Array) -> None:
        """One block of rows; `room` is where their values are brought to another precision."""
        xp = compat.array_namespace(weight)
        double = weight.dtype
        values = xp.astype(self.values[block, :], double, copy=False)
        values = values if self.centre is None else values - self.centre
        self.total = self.total + dot(weight, values)

        values = put(room[: values.shape[0], :], ..., values)
        largest = float(xp.max(values))
        smallest = float(xp.min(values))
        self.farthest = max(self.farthest, largest, -smallest)
        ones = xp.ones_like(rest[:, 0])
        self.sums = self.sums + xp.astype(dot(rest.T, ones), double)
        self.linear = self.linear + xp.astype(dot(rest.T, values), double)
        values *= xp.sqrt(rest[:, :1])
        self.square = self.square + xp.astype(values.T @ values, double)

    def on_host(self) -> tuple[np.ndarray, ...]:
        """The four sums."""
        return tuple(to_numpy(x) for x in (self.total, self.sums, self.linear, self.square))


def add_values(V: Values, tables: KeyTables) -> ValueSums:
    """Add up all values, a part of them in each thread."""
    A, others, row = tables.A, tables.others, tables.row
    xp = compat.array_namespace(A)
    n = int(V.shape[0])
    centre = _centre(V, A)
    weights, squares = (xp.empty((n,), dtype=A.dtype, device=compat.device(A)) for _ in range(2))

    @np.errstate(invalid="ignore", over="ignore")  # a thread has its own
    def add_up(rows: slice) -> tuple[tuple[np.ndarray, ...], float]:
        """The sums over some of the rows, block by block."""
        nonlocal weights, squares
        part = _Part(tables, V, centre)
        inner = blocks(rows.stop - rows.start, _CACHED, A)
        shape = (inner[0].stop, V.shape[1])
        room = xp.empty(shape, dtype=others.dtype, device=compat.device(A))
        for one in inner:
            block = slice(rows.start + one.start, rows.start + one.stop)
            weight = xp.take(A, row[block])
            rest = xp.take(others, row[block], axis=0)
            weights = put(weights, block, weight)
            square = weight * weight * rest[:, -1]
            squares = put(squares, block, square)
            part.add(block, weight, rest, room)
        return part.on_host(), part.farthest

    parts = blocks(n, max(_CACHED, -(-n // _PARTS)), A)
    found, farthest = zip(*in_threads(add_up, parts, A), strict=True)
    total, sums, linear, square = (np.sum(x, axis=0) for x in zip(*found, strict=True))
    weight = float(xp.sum(weights))
    d = total / weight
    R = linear[1:-1] - sums[1:-1, None] * d
    T = linear[0]
    S = square - np.outer(d, T) - np.outer(T, d)
    S = S + np.outer(d, d) * sums[0]
    return ValueSums(
        weights_mean=weights,
        weights_square=squares,
        weight=weight,
        mean=d if centre is None else to_numpy(centre) + d,
        covariance=R.T @ R + S,
        R=R,
        farthest=float(max(farthest) + np.abs(d).max()),
    )


def _centre(V: Values, like: Array) -> Mean | None:
    """A point near the values, from some of them; None if they lie around zero anyway."""
    xp = compat.array_namespace(like)
    every = max(1, int(V.shape[0]) // _SOME)
    some = xp.astype(V[::every, :], like.dtype, copy=False)
    centre = xp.mean(some, axis=0)
    around_zero = xp.abs(centre) <= xp.std(some, axis=0)
    return None if bool(xp.all(around_zero)) else centre
