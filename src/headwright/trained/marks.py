"""What is known about the tokens of one text before any head is looked at: which keys are special, and which
(query, key) pairs make a pattern.

A pattern is a sparse set of pairs, so its score costs a gather and never a t x n mask. The pairs of a block of
rows are built when first asked for and kept for the other layers while there are few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from headwright.types import Bool, Int

# Kept pairs per pattern: 2^21 pairs of 8-byte numbers are 32 MB. A text beyond that (one token repeated
# thousands of times) has its pairs rebuilt for every layer instead.
_MOST_KEPT = 2**21

Pairs = tuple[Int[np.ndarray, "p"], Int[np.ndarray, "p"]]


def _previous(tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.arange(tokens.size)[None, :] == rows[:, None] - 1


def _duplicate(tokens: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """An earlier place of the same token."""
    return (tokens[None, :] == tokens[rows, None]) & (np.arange(tokens.size)[None, :] < rows[:, None])


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


@dataclass
class Marks:
    """`queries[i]`, `keys[j]`: this place is real and not padding; `separators[j]`: key j is punctuation or a
    special token. `tokens` is None where queries and keys are not one text (cross attention, images): it has no
    patterns then."""

    queries: Bool[np.ndarray, "t"]
    keys: Bool[np.ndarray, "n"]
    separators: Bool[np.ndarray, "n"]
    tokens: Int[np.ndarray, "n"] | None = None
    _kept: dict[tuple[str, int], Pairs] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The first real key, which is not key 0 under left padding."""
        return int(np.argmax(self.keys))

    @property
    def patterns(self) -> tuple[str, ...]:
        return () if self.tokens is None else tuple(PATTERNS)

    def pairs(self, pattern: str, start: int, stop: int) -> Pairs:
        """Row and column numbers of the pattern in rows `start..stop-1`; padding takes no part."""
        assert self.tokens is not None, "patterns are empty without tokens"
        key = (pattern, start)
        if key not in self._kept:
            rows = np.arange(start, stop)
            hit = PATTERNS[pattern](self.tokens, rows) & self.queries[rows, None] & self.keys[None, :]
            found, columns = np.nonzero(hit)
            self._sizes[pattern] = self._sizes.get(pattern, 0) + columns.size
            if self._sizes[pattern] > _MOST_KEPT:
                return found + start, columns
            self._kept[key] = (found + start, columns)
        return self._kept[key]

    def rows_with(self, pattern: str) -> int:
        """Queries that have a key of this pattern: the score is a mean over them."""
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
