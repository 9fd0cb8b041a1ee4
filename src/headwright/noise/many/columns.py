"""Numbers of each key, stored as they are found: its two weights, and columns for the pass over the
values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat

from headwright.arrays import put
from headwright.noise.many.cells import Cells
from headwright.types import Array, Bool, Float, Int, PerKey

Places = Float[Array, "l w"]


@dataclass(frozen=True)
class Weights:
    """A_i = E[alpha_i] and B_i = E[alpha_i^2], key by key."""

    mean: PerKey
    square: PerKey


@dataclass(frozen=True)
class Columns:
    """Numbers of some keys, column by column, in the order of all keys: whoever goes through these
    one after the other reads them from end to end. `member` says which keys these are, and `upto`
    how many there are up to each key; both are None if every key is one of them."""

    arrays: list[Float[Array, "k"]]
    member: Bool[Array, "n"] | None
    upto: Int[Array, "n"] | None

    @staticmethod
    def all(m: PerKey, count: int) -> Columns:
        """Zeros for all keys."""
        xp = compat.array_namespace(m)
        return Columns([xp.zeros_like(m) for _ in range(count)], None, None)

    @staticmethod
    def of(cells: Cells, count: int, dtype: Any) -> Columns:
        """Zeros for all keys of the cells."""
        xp = compat.array_namespace(cells.m)
        device = compat.device(cells.m)
        some = int(cells.keys.shape[0])
        arrays = [xp.zeros((some,), dtype=dtype, device=device) for _ in range(count)]
        if some == cells.m.shape[0]:
            return Columns(arrays, None, None)
        member = put(xp.zeros(cells.m.shape, dtype=xp.bool, device=device), cells.keys, True)
        return Columns(arrays, member, xp.cumulative_sum(member, dtype=xp.int64))

    def store(self, keys: Int[Array, "l w"], numbers: list[Places]) -> None:
        """Store what each column has for some keys."""
        rows = keys
        if self.upto is not None:
            xp = compat.array_namespace(keys)
            rows = xp.reshape(xp.take(self.upto, xp.reshape(keys, (-1,))), keys.shape) - 1
        for j, column in enumerate(numbers):
            self.arrays[j] = put(self.arrays[j], rows, column)

    def within(self, block: slice) -> tuple[Int[Array, "c"] | None, slice]:
        """Which keys of a block have numbers here (None for all of them), and where."""
        if self.member is None or self.upto is None:
            return None, block
        chosen = compat.array_namespace(self.member).nonzero(self.member[block])[0]
        last = int(self.upto[block.stop - 1])
        return chosen, slice(last - int(chosen.shape[0]), last)
