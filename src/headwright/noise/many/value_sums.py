"""One pass over the values of all keys: everything that the mean and the covariance need of them.

Key i has A_i, and (D_i, A_i h_1(i), ..) among the columns of its group, unless it is faint.
With values counted from a centre c,

    sum_i D_i (v_i - mean)(v_i - mean)' = S - d T' - T d' + d d' sum D,        d = mean - c,

where S and T are the sums of D (v - c)(v - c)' and D (v - c).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import dot, picked, put
from headwright.blocks import blocks, in_threads, on_host
from headwright.noise.many.columns import Columns, Rows
from headwright.result import to_numpy
from headwright.types import Array, Float, HostCovariance, HostMean, Mean, PerKey, Values

_CACHED = 1 << 13  # rows of values in work at once on the host
_ROWS = 4  # a product with three rows takes a BLAS twice as long as with four
_PARTS = 8  # of all rows, for threads
_SOME = 500  # values from which their centre is found
_ROUNDED = 1.2e-7  # relative, of a number in single precision
# Terms that are added up in single precision. However they are added, the sum of their products is
# off by at most so much of that of their sizes: a rounding for each term, and a few for what it is
# made of. Terms may well be equal, and then each of these roundings goes the same way.
SHORT = 128
SINGLE = (SHORT + 8) * 2.0**-24
_LONG = 1 << 11  # terms of a product in double precision

# Over A, A v, all columns of the groups, these times v, and over D v v'.
Sums = list[Array]


@dataclass(frozen=True)
class ValueSums:
    """The sums over all values: `weight` is `sum_i A_i`, `farthest` the largest |v_i - mean|."""

    weight: float
    mean: HostMean
    covariance: HostCovariance
    R: Float[np.ndarray, "j v"]
    farthest: float


@dataclass(frozen=True)
class Around:
    """A point near the values, if zero is none; and the largest |v_i - centre| of blocks of them
    where it is not found on the way."""

    centre: Mean | None
    farthest: list[Array]


def look(V: Values, like: PerKey) -> Around:
    """What can be known of the values before their weights are. An accelerator goes on with it
    while the host does something else."""
    around = Around(_centre(V, like), [])
    if on_host(like):
        return around
    infinity = float("inf")
    norm = compat.array_namespace(like).linalg.vector_norm
    all_blocks = _device_blocks(V, like)
    farthest = [norm(_counted(V, block, like, around), ord=infinity) for block in all_blocks]
    return Around(around.centre, farthest)


class _Part:
    """The sums over some of the rows: of A, of A v, of all columns of the groups, of these times v,
    and of D v v'. All but the first two are taken in the precision of each group."""

    def __init__(self, groups: list[Columns], centre: Mean | None) -> None:
        self.groups = groups
        self.centre = centre
        self.weight: Any = 0.0
        self.total: Any = 0.0
        self.sums: Any = 0.0
        self.linear: Any = 0.0
        self.square: Any = 0.0
        self.farthest = 0.0

    def add(self, block: slice, values: Array, room: Array) -> None:
        """One block of rows; `room` is where their values are brought to another precision."""
        xp = compat.array_namespace(room)
        weight = self.groups[0].weights.mean[block]
        values = xp.astype(values, weight.dtype, copy=False)
        values = values if self.centre is None else values - self.centre
        # The first to read them, as it is fast where they come from far.
        rounded = put(room[: values.shape[0], :], ..., values)
        largest = float(xp.max(rounded))
        smallest = float(xp.min(rounded))
        self.farthest = max(self.farthest, largest, -smallest)
        self.weight = self.weight + xp.sum(weight)
        self.total = self.total + dot(weight, values)

        for group in self.groups:
            dtype = group.arrays[0].dtype
            mine = rounded if dtype == rounded.dtype else values
            chosen, here = group.within(block)
            if chosen is not None:
                mine = picked(mine, chosen, axis=0)
            if here.start < here.stop:
                self._add_group([column[here] for column in group.arrays], mine)

    def _add_group(self, columns: list[Float[Array, "c"]], values: Float[Array, "c v"]) -> None:
        """Keys of one group; their values are overwritten."""
        xp = compat.array_namespace(values)
        double = self.total.dtype
        count = len(columns)
        nothing = [xp.zeros_like(columns[0])] * (-count % _ROWS)
        rest = xp.stack([*columns, *nothing])
        self.sums = self.sums + xp.sum(rest, axis=1, dtype=double)[:count]
        self.linear = self.linear + _product(rest, values, double)[:count, :]
        values *= xp.sqrt(rest[0, :])[:, None]
        self.square = self.square + _product(values.T, values, double)

    def on_host(self) -> Sums:
        """The five sums."""
        sums = (self.weight, self.total, self.sums, self.linear, self.square)
        return [to_numpy(x) for x in sums]


def _product(
    left: Float[Array, "k c"], right: Float[Array, "c v"], double: Any
) -> Float[Array, "k v"]:
    """`left @ right`, of which some terms at a time are added up in the precision of the factors,
    and then in double precision."""
    xp = compat.array_namespace(right)
    c, v = right.shape
    some = _LONG if right.dtype == double else SHORT
    whole = c - c % some
    total = xp.zeros((left.shape[0], v), dtype=double, device=compat.device(right))
    for part, count in ((slice(0, whole), some), (slice(whole, c), c - whole)):
        if part.start < part.stop:
            columns = xp.reshape(left[:, part].T, (-1, count, left.shape[0]))
            rows = xp.reshape(right[part, :], (-1, count, v))
            products = xp.permute_dims(columns, (0, 2, 1)) @ rows
            total += xp.sum(products, axis=0, dtype=double)
    return total


def add_values(V: Values, stored: list[Columns] | Rows, around: Around) -> ValueSums:
    """Add up all values: a part of them in each thread, with the columns of each group that is not
    faint, or as many at once as an accelerator takes."""
    centre = around.centre
    on_device = isinstance(stored, Rows)
    found = _sums_on_device(V, stored, around) if on_device else _sums_in_threads(V, stored, around)
    (weight, total, sums, linear, square), farthest = found
    d = total / weight
    R = linear[1:] - sums[1:, None] * d
    T = linear[0]
    S = square - np.outer(d, T) - np.outer(T, d)
    S = S + np.outer(d, d) * sums[0]
    return ValueSums(
        weight=float(weight),
        mean=d if centre is None else to_numpy(centre) + d,
        covariance=R.T @ R + S,
        R=R,
        farthest=float(farthest * (1 + _ROUNDED) + np.abs(d).max()),
    )


def _sums_in_threads(V: Values, groups: list[Columns], around: Around) -> tuple[Sums, float]:
    """The five sums, and the largest |v_i - centre|, by the processors."""
    weights = groups[0].weights.mean
    xp = compat.array_namespace(weights)
    n = int(V.shape[0])
    # Single precision, if a group has it.
    dtypes = [group.arrays[0].dtype for group in groups]
    lowest = xp.float32 if xp.float32 in dtypes else weights.dtype

    @np.errstate(invalid="ignore", over="ignore")  # a thread has its own
    def add_up(rows: slice) -> tuple[Sums, float]:
        """Those over some of the rows, block by block."""
        part = _Part(groups, around.centre)
        inner = blocks(rows.stop - rows.start, _CACHED, weights)
        shape = (inner[0].stop, V.shape[1])
        room = xp.empty(shape, dtype=lowest, device=compat.device(weights))
        for one in inner:
            block = slice(rows.start + one.start, rows.start + one.stop)
            part.add(block, V[block, :], room)
        return part.on_host(), part.farthest

    parts = blocks(n, max(_CACHED, -(-n // _PARTS)), weights)
    found, farthest = zip(*in_threads(add_up, parts, weights), strict=True)
    return _added(found), max(farthest)


def _sums_on_device(V: Values, stored: Rows, around: Around) -> tuple[Sums, float]:
    """The same by an accelerator: one product serves all columns and the weights, and all numbers
    come to the host together."""
    rows = stored.array
    xp = compat.array_namespace(rows)
    found = []
    for block in _device_blocks(V, rows):
        values = _counted(V, block, rows, around)
        # A, B, D, A h_1, ..
        mine = rows[block, :]
        # Both factors of the scatter are one array: the product reads half as much.
        rooted = xp.sqrt(mine[:, 2:3]) * values
        sums = (xp.sum(mine, axis=0), mine.T @ values, rooted.T @ rooted)
        found.append(xp.concat([xp.reshape(x, (-1,)) for x in sums]))

    farthest = xp.max(xp.stack(around.farthest))
    together = [sum(found[1:], start=found[0]), xp.reshape(farthest, (1,))]
    numbers = to_numpy(xp.concat(together))
    k = int(rows.shape[1])
    v = int(V.shape[1])
    each, linear, square = np.split(numbers[:-1], [k, k + k * v])
    linear = linear.reshape(k, v)
    all_sums = [each[0], linear[0], each[2:], linear[2:], square.reshape(v, v)]
    return all_sums, float(numbers[-1])


def _device_blocks(V: Values, like: Array) -> list[slice]:
    """Rows of values that an accelerator takes at once."""
    return blocks(int(V.shape[0]), _CACHED, like, int(V.shape[1]))


def _counted(V: Values, block: slice, like: Array, around: Around) -> Values:
    """Some values, counted from the centre, in the precision of the weights."""
    xp = compat.array_namespace(like)
    values = xp.astype(V[block, :], like.dtype, copy=False)
    return values if around.centre is None else values - around.centre


def _added(found: Sequence[Sums]) -> Sums:
    """The sums over all rows from those over parts of them."""
    return [np.sum(x, axis=0) for x in zip(*found, strict=True)]


def _centre(V: Values, like: Array) -> Mean | None:
    """A point near the values, from some of them; None if they lie around zero anyway."""
    xp = compat.array_namespace(like)
    every = max(1, int(V.shape[0]) // _SOME)
    some = xp.astype(V[::every, :], like.dtype, copy=False)
    centre = xp.mean(some, axis=0)
    around_zero = xp.abs(centre) <= xp.std(some, axis=0)
    return None if bool(xp.all(around_zero)) else centre
