"""Numbers of each key, made of the functions that were brought to it and stored as they are found:
its two weights, and columns for the pass over the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import picked, put
from headwright.noise.many.cells import Cells
from headwright.types import Array, Bool, Float, Int, PerKey

Places = Float[Array, "l w"]
# From the first function and the others on some lines to A, to B and to what is stored of them.
Finish = Callable[[Array, Array], tuple[Array, Array, list[Array]]]


class Weights:
    """A_i = E[alpha_i] and B_i = E[alpha_i^2], key by key."""

    def __init__(self, m: PerKey) -> None:
        xp = compat.array_namespace(m)
        kind = {"dtype": m.dtype, "device": compat.device(m)}
        # Unlike `zeros_like`, `zeros` leaves it to the threads that write to touch the memory
        # first.
        self.mean = xp.zeros(m.shape, **kind)
        self.square = xp.zeros(m.shape, **kind)


class Columns:
    """Numbers of some keys, column by column, in the order of all keys: whoever goes through these
    one after the other reads them from end to end. `member` says which keys these are, and `upto`
    how many there are up to each key; both are None if every key is one of them. The weights of all
    keys are shared with other groups."""

    def __init__(self, cells: Cells, weights: Weights, count: int, dtype: Any) -> None:
        xp = compat.array_namespace(cells.m)
        device = compat.device(cells.m)
        some = int(cells.keys.shape[0])
        self.weights = weights
        # Rows of one array, which is large enough for large pages of memory.
        self.arrays = list(xp.zeros((count, some), dtype=dtype, device=device))
        self.member: Bool[Array, "n"] | None = None
        self.upto: Int[Array, "n"] | None = None
        if some < cells.m.shape[0]:
            nobody = xp.zeros(cells.m.shape, dtype=xp.bool, device=device)
            self.member = put(nobody, cells.keys, True)
            self.upto = xp.cumulative_sum(self.member, dtype=xp.int64)

    def store(self, keys: Int[Array, "l w"], A: Places, B: Places, others: list[Places]) -> None:
        """Both weights of some keys, and what each column has for them."""
        weights = self.weights
        weights.mean = put(weights.mean, keys, A)
        weights.square = put(weights.square, keys, B)
        rows = keys
        if self.upto is not None:
            xp = compat.array_namespace(keys)
            rows = xp.reshape(picked(self.upto, xp.reshape(keys, (-1,))), keys.shape) - 1
        for j, column in enumerate(others):
            self.arrays[j] = put(self.arrays[j], rows, column)

    def within(self, block: slice) -> tuple[Int[Array, "c"] | None, slice]:
        """Which keys of a block have numbers here (None for all of them), and where."""
        if self.member is None or self.upto is None:
            return None, block
        chosen = compat.array_namespace(self.member).nonzero(self.member[block])[0]
        last = int(self.upto[block.stop - 1])
        return chosen, slice(last - int(chosen.shape[0]), last)


class Rows:
    """The same for all keys of an accelerator, row by row: what is written to memory at a time has
    to be about as long as a row. Keys out of reach have zeros."""

    def __init__(self, m: PerKey, count: int) -> None:
        xp = compat.array_namespace(m)
        shape = (m.shape[0], 2 + count)
        self.array = xp.zeros(shape, dtype=m.dtype, device=compat.device(m))

    def store(self, keys: Int[Array, "l w"], A: Places, B: Places, others: list[Places]) -> None:
        """Both weights of some keys, and the other columns."""
        xp = compat.array_namespace(A)
        stacked = xp.stack([A, B, *others])
        # Numbers of one key beside each other: to stack them so at once takes six times as long.
        room = xp.empty((*A.shape, stacked.shape[0]), dtype=A.dtype, device=compat.device(A))
        rows = put(room, ..., xp.permute_dims(stacked, (1, 2, 0)))
        self.array = put(self.array, keys, rows)

    @property
    def mean(self) -> PerKey:
        return self._column(0)

    @property
    def square(self) -> PerKey:
        return self._column(1)

    def _column(self, k: int) -> PerKey:
        """A copy: whoever keeps one column does not keep all of them."""
        xp = compat.array_namespace(self.array)
        return xp.asarray(self.array[:, k], copy=True)


def to_keys(common: Float[np.ndarray, "j"]) -> Finish:
    """From ln A, and ln (B / A^2) and h_j = g_j / A - common_j, to A, B, and (D, A h_1, ..) with D
    = B - sum_j g_j^2.

    As sum_i A_i (v_i - mean) = 0, A h_j adds the values up to the same R_j as g_j, and without
    cancellation."""

    def finish(
        first: Float[Array, "l w"], others: Float[Array, "l f w"]
    ) -> tuple[Float[Array, "l w"], Float[Array, "l w"], list[Float[Array, "l w"]]]:
        xp = compat.array_namespace(first)
        A = xp.exp(first)
        B = _square(first, others)
        a = xp.astype(A, others.dtype, copy=False)
        D = xp.astype(B, others.dtype, copy=False)
        columns = []
        for j, constant in enumerate(common.tolist(), start=1):
            h = others[:, j, :]
            g = (h + constant) * a
            D = D - g * g
            columns.append(h * a)
        return A, B, [xp.where(D > 0.0, D, 0.0), *columns]

    return finish


def to_faint_keys(
    first: Float[Array, "l w"], others: Float[Array, "l f w"]
) -> tuple[Float[Array, "l w"], Float[Array, "l w"], list[Float[Array, "l w"]]]:
    """From ln A and ln (B / A^2) to A and B."""
    xp = compat.array_namespace(first)
    return xp.exp(first), _square(first, others), []


def _square(first: Float[Array, "l w"], others: Float[Array, "l f w"]) -> Float[Array, "l w"]:
    """B from ln A and ln (B / A^2). Of a key that rarely takes any weight B is about A, and B / A^2
    is beyond single precision."""
    xp = compat.array_namespace(first)
    ratio = xp.astype(others[:, 0, :], first.dtype, copy=False)
    return xp.exp(2.0 * first + ratio)
