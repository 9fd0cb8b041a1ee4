"""What is known about the tokens of one text before any head is looked at: which keys are special,
and which (query, key) pairs make a pattern.

A pattern is a sparse set of pairs, so its score costs a lookup and never a t x n mask. The pairs of
a block of rows are built when first asked for and kept for the other layers while there are few of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.types import Array, Bool, Int

# Kept pairs: 2^22 numbers of 4 bytes are 16 MB. A text beyond that (one token repeated thousands of
# times) has its pairs rebuilt for every layer instead.
_MOST_KEPT = 2**22


def _previous(ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    places = np.arange(ids.size)
    return places[None, :] == rows[:, None] - 1


def _duplicate(ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """An earlier place of the same token."""
    places = np.arange(ids.size)
    earlier = places[None, :] < rows[:, None]
    same = ids[None, :] == ids[rows, None]
    return same & earlier


def _induction(ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The place right after an earlier place of the same token."""
    after = np.zeros((rows.size, ids.size), dtype=bool)
    after[:, 1:] = _duplicate(ids, rows)[:, :-1]
    return after


# From the token numbers of a text and some of its rows to the keys of the pattern, row by row.
PATTERNS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "previous": _previous,
    "duplicate": _duplicate,
    "induction": _induction,
}


@dataclass(frozen=True)
class Pairs:
    """(row, key) pairs of some rows: the keys of pattern p in row i are `columns[bounds[p, i] :
    bounds[p, i + 1]]`."""

    bounds: Int[np.ndarray, "p r1"]
    columns: Int[np.ndarray, "c"]

    def __iter__(self) -> Iterator[tuple[Int[np.ndarray, "c"], Int[np.ndarray, "c"]]]:
        """Pattern by pattern, the rows and the keys of its pairs."""
        for bounds in self.bounds:
            rows = np.arange(bounds.size - 1)
            keys_per_row = np.diff(bounds)
            yield np.repeat(rows, keys_per_row), self.columns[bounds[0] : bounds[-1]]


@dataclass
class Tokens:
    """`real_queries[i]`, `real_keys[j]`: this place is a token and not padding; `separators[j]`:
    key j is punctuation or a special token. `ids` are the token numbers, None where queries and
    keys are not one text (cross attention, images): there are no patterns then."""

    real_queries: Bool[np.ndarray, "t"]
    real_keys: Bool[np.ndarray, "n"]
    separators: Bool[np.ndarray, "n"]
    ids: Int[np.ndarray, "n"] | None = None
    _kept: dict[tuple[int, int], Pairs] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _made: dict[Hashable, Any] = field(default_factory=dict)

    @staticmethod
    def unknown(t: int, n: int) -> Tokens:
        """Nothing is known of them: every place is real, none is a separator."""
        return Tokens(
            real_queries=np.ones(t, dtype=bool),
            real_keys=np.ones(n, dtype=bool),
            separators=np.zeros(n, dtype=bool),
        )

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` gives, made for the first layer and kept for the others."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def beside(self, name: str, array: Array) -> Array:
        """One of the arrays by its name, with the library and device of `array`. A copy to a device
        waits until all work there is done, so it is made once and not for every layer."""
        xp = compat.array_namespace(array)
        device = compat.device(array)
        key = (name, xp.__name__, str(device))
        return self.once(key, lambda: xp.asarray(getattr(self, name), device=device))

    @property
    def first(self) -> int:
        """The first real key, which is not key 0 under left padding."""
        return int(np.argmax(self.real_keys))

    @property
    def patterns(self) -> tuple[str, ...]:
        return () if self.ids is None else tuple(PATTERNS)

    def pairs(self, start: int, stop: int) -> Pairs:
        """The pairs of all patterns in rows `start..stop-1`; padding takes no part."""
        if (start, stop) in self._kept:
            return self._kept[start, stop]

        pairs = self._find(np.arange(start, stop))
        already = sum(kept.columns.size for kept in self._kept.values())
        if already + pairs.columns.size <= _MOST_KEPT:
            self._kept[start, stop] = pairs
        return pairs

    def _find(self, rows: Int[np.ndarray, "r"]) -> Pairs:
        bounds = np.zeros((len(self.patterns), rows.size + 1), dtype=np.int32)
        columns = [np.zeros(0, dtype=np.int32)]
        size = 0

        for p, name in enumerate(self.patterns):
            hit = self._hits(name, rows)
            keys = np.nonzero(hit)[1]
            columns.append(keys.astype(np.int32))
            bounds[p, 1:] = np.cumsum(hit.sum(axis=1))
            bounds[p] += size
            size += keys.size

        return Pairs(bounds, np.concatenate(columns))

    def _hits(self, pattern: str, rows: Int[np.ndarray, "r"]) -> Bool[np.ndarray, "r n"]:
        assert self.ids is not None, "patterns are empty without token numbers"
        hit = PATTERNS[pattern](self.ids, rows)
        return hit & self.real_queries[rows, None] & self.real_keys[None, :]

    def rows_with(self, pattern: str) -> int:
        """Queries that have a key of this pattern: the score is a mean over them."""
        if pattern not in self._counts:
            self._counts[pattern] = self._count(pattern)
        return self._counts[pattern]

    def _count(self, pattern: str) -> int:
        assert self.ids is not None, "patterns are empty without token numbers"
        if pattern == "previous":
            return int(np.sum(self.real_queries[1:] & self.real_keys[:-1]))

        # A token that stood here before has a duplicate and what came after it.
        seen: set[int] = set()
        count = 0
        for real, token in zip(self.real_queries, self.ids.tolist(), strict=True):
            count += real and token in seen
            if real:
                seen.add(token)
        return int(count)
