"""What is known about the tokens of one text before any head is looked at: which keys are special,
and which (query, key) pairs make a pattern.

A pattern is a sparse set of pairs, so its score costs a lookup and never a t x n mask. The pairs of
a block of rows are built when first asked for and kept for the other layers while there are few of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from headwright.types import Bool, Int

# Kept pairs: 2^22 numbers of 4 bytes are 16 MB. A text beyond that (one token repeated thousands of
# times) has its pairs rebuilt for every layer instead.
_MOST_KEPT = 2**22


def _previous(tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.arange(tokens.size)[None, :] == rows[:, None] - 1


def _duplicate(tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """An earlier place of the same token."""
    return (tokens[None, :] == tokens[rows, None]) & (
        np.arange(tokens.size)[None, :] < rows[:, None]
    )


def _induction(tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The place right after an earlier place of the same token."""
    after = np.zeros((rows.size, tokens.size), dtype=bool)
    after[:, 1:] = _duplicate(tokens, rows)[:, :-1]
    return after


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
            yield (
                np.repeat(np.arange(bounds.size - 1), np.diff(bounds)),
                self.columns[bounds[0] : bounds[-1]],
            )


@dataclass
class Marks:
    """`queries[i]`, `keys[j]`: this place is real and not padding; `separators[j]`: key j is
    punctuation or a special token. `tokens` is None where queries and keys are not one text (cross
    attention, images): it has no patterns then."""

    queries: Bool[np.ndarray, "t"]
    keys: Bool[np.ndarray, "n"]
    separators: Bool[np.ndarray, "n"]
    tokens: Int[np.ndarray, "n"] | None = None
    _kept: dict[tuple[int, int], Pairs] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The first real key, which is not key 0 under left padding."""
        return int(np.argmax(self.keys))

    @property
    def patterns(self) -> tuple[str, ...]:
        return () if self.tokens is None else tuple(PATTERNS)

    def pairs(self, start: int, stop: int) -> Pairs:
        """The pairs of all patterns in rows `start..stop-1`; padding takes no part."""
        if (start, stop) not in self._kept:
            pairs = self._find(np.arange(start, stop))
            if (
                sum(kept.columns.size for kept in self._kept.values()) + pairs.columns.size
                > _MOST_KEPT
            ):
                return pairs
            self._kept[start, stop] = pairs
        return self._kept[start, stop]

    def _find(self, rows: Int[np.ndarray, "r"]) -> Pairs:
        bounds, columns, size = np.zeros((len(self.patterns), rows.size + 1), dtype=np.int32), [], 0
        for p, name in enumerate(self.patterns):
            assert self.tokens is not None, "patterns are empty without tokens"
            hit = PATTERNS[name](self.tokens, rows) & self.queries[rows, None] & self.keys[None, :]
            columns.append(np.nonzero(hit)[1].astype(np.int32))
            bounds[p, 1:] = np.cumsum(hit.sum(axis=1))
            bounds[p] += size
            size += columns[-1].size
        return Pairs(bounds, np.concatenate(columns) if columns else np.zeros(0, dtype=np.int32))

    def rows_with(self, pattern: str) -> int:
        """Queries that have a key of this pattern: the score is a mean over them."""
        if pattern not in self._counts:
            self._counts[pattern] = self._count(pattern)
        return self._counts[pattern]

    def _count(self, pattern: str) -> int:
        assert self.tokens is not None, "patterns are empty without tokens"
        if pattern == "previous":
            return int(np.sum(self.queries[1:] & self.keys[:-1]))
        seen: set[int] = set()
        count = 0
        for real, token in zip(self.queries, self.tokens.tolist(), strict=True):
            count += real and token in seen
            if real:
                seen.add(token)
        return int(count)

    @staticmethod
    def plain(t: int, n: int) -> Marks:
        """Nothing is known of the tokens: every place is real, none is a separator."""
        return Marks(np.ones(t, dtype=bool), np.ones(n, dtype=bool), np.zeros(n, dtype=bool))
