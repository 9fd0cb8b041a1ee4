"""One pass over the values of all keys: everything that the mean and the covariance need of them.

Key i has A_i, and (D_i, A_i h_1(i), ..) in a row of the table of its group, unless it is faint.
With values counted from a centre c,

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

_CACHED = 1 << 12  # rows of values in work at once on the host
_PARTS = 8  # of all rows, for threads
_SOME = 500  # values from which their centre is found
_ROUNDED = 1.2e-7  # relative, of a number in single precision


@dataclass(frozen=True)
class GroupTable:
    """(D, A h_1, ..) of the keys whose rows are numbered from `start` on, which is 1 or more;
    `everybody` says that these are all keys."""

    rows: Float[Array, "slots k"]
    start: int
    everybody: bool

    def chosen(self, row: Int[Array, "b"]) -> Int[Array, "c"]:
        """Which of these keys have a row here."""
        xp = compat.array_namespace(row)
        stop = self.start + int(self.rows.shape[0])
        return xp.nonzero((row >= self.start) & (row < stop))[0]


@dataclass(frozen=True)
class KeyTables:
    """`weights` are A; `row[i]` is the row of key i, in one of the tables, or 0 if in none."""

    weights: PerKey
    row: Int[Array, "n"]
    groups: list[GroupTable]

    @property
    def single(self) -> Any:
        """Single precision, if a table has it, else double precision."""
        xp = compat.array_namespace(self.weights)
        dtypes = [group.rows.dtype for group in self.groups]
        return xp.float32 if xp.float32 in dtypes else self.weights.dtype


@dataclass(frozen=True)
class ValueSums:
    """The sums over all values: `weight` is `sum_i A_i`, `farthest` the largest |v_i - mean|."""

    weight: float
    mean: HostMean
    covariance: HostCovariance
    R: Float[np.ndarray, "j v"]
    farthest: float


class _Part:
    """The sums over some of the rows: of A v, of all columns of the tables, of these times v, and
    of D v v'. All but the first are taken in the precision of each table."""

    def __init__(self, tables: KeyTables, centre: Mean | None) -> None:
        self.tables = tables
        self.centre = centre
        self.total: Any = 0.0
        self.sums: Any = 0.0
        self.linear: Any = 0.0
        self.square: Any = 0.0
        self.farthest = 0.0

    def add(self, block: slice, values: Array, room: Array) -> None:
        """One block of rows; `room` is where their values are brought to another precision."""
        xp = compat.array_namespace(room)
        weight = self.tables.weights[block]
        values = xp.astype(values, weight.dtype, copy=False)
        values = values if self.centre is None else values - self.centre
        # The first to read them, as it is fast where they come from far.
        rounded = put(room[: values.shape[0], :], ..., values)
        largest = float(xp.max(rounded))
        smallest = float(xp.min(rounded))
        self.farthest = max(self.farthest, largest, -smallest)
        self.total = self.total + dot(weight, values)

        row = self.tables.row[block]
        for group in self.tables.groups:
            mine = rounded if group.rows.dtype == rounded.dtype else values
            if group.everybody:
                self._add_group(xp.take(group.rows, row - group.start, axis=0), mine)
                continue
            chosen = group.chosen(row)
            if chosen.shape[0]:
                here = xp.take(row, chosen) - group.start
                rest = xp.take(group.rows, here, axis=0)
                self._add_group(rest, xp.take(mine, chosen, axis=0))

    def _add_group(self, rest: Float[Array, "c k"], values: Float[Array, "c v"]) -> None:
        """Keys of one group; their values are overwritten."""
        xp = compat.array_namespace(rest)
        double = self.total.dtype
        ones = xp.ones(rest.shape[0], dtype=rest.dtype, device=compat.device(rest))
        self.sums = self.sums + xp.astype(dot(rest.T, ones), double)
        self.linear = self.linear + xp.astype(dot(rest.T, values), double)
        values *= xp.sqrt(rest[:, :1])
        self.square = self.square + xp.astype(values.T @ values, double)

    def on_host(self) -> tuple[np.ndarray, ...]:
        """The four sums."""
        return tuple(to_numpy(x) for x in (self.total, self.sums, self.linear, self.square))


def add_values(V: Values, tables: KeyTables) -> ValueSums:
    """Add up all values, a part of them in each thread."""
    weights = tables.weights
    xp = compat.array_namespace(weights)
    n = int(V.shape[0])
    centre = _centre(V, weights)

    @np.errstate(invalid="ignore", over="ignore")  # a thread has its own
    def add_up(rows: slice) -> tuple[tuple[np.ndarray, ...], float]:
        """The sums over some of the rows, block by block."""
        part = _Part(tables, centre)
        inner = blocks(rows.stop - rows.start, _CACHED, weights)
        shape = (inner[0].stop, V.shape[1])
        room = xp.empty(shape, dtype=tables.single, device=compat.device(weights))
        for one in inner:
            block = slice(rows.start + one.start, rows.start + one.stop)
            part.add(block, V[block, :], room)
        return part.on_host(), part.farthest

    parts = blocks(n, max(_CACHED, -(-n // _PARTS)), weights)
    found, farthest = zip(*in_threads(add_up, parts, weights), strict=True)
    total, sums, linear, square = (np.sum(x, axis=0) for x in zip(*found, strict=True))
    weight = float(xp.sum(weights))
    d = total / weight
    R = linear[1:] - sums[1:, None] * d
    T = linear[0]
    S = square - np.outer(d, T) - np.outer(T, d)
    S = S + np.outer(d, d) * sums[0]
    return ValueSums(
        weight=weight,
        mean=d if centre is None else to_numpy(centre) + d,
        covariance=R.T @ R + S,
        R=R,
        farthest=float(max(farthest) * (1 + _ROUNDED) + np.abs(d).max()),
    )


def _centre(V: Values, like: Array) -> Mean | None:
    """A point near the values, from some of them; None if they lie around zero anyway."""
    xp = compat.array_namespace(like)
    every = max(1, int(V.shape[0]) // _SOME)
    some = xp.astype(V[::every, :], like.dtype, copy=False)
    centre = xp.mean(some, axis=0)
    around_zero = xp.abs(centre) <= xp.std(some, axis=0)
    return None if bool(xp.all(around_zero)) else centre
