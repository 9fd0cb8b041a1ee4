"""The names a dependency picture can have, each as a matrix: True where query i sees key j."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

# Token indices of queries (column) and keys (row) -> who sees whom.
Sees = Callable[[np.ndarray, np.ndarray], np.ndarray]
# Numbers of queries and keys -> the same as a matrix.
Matrix = Callable[[int, int], np.ndarray]


@dataclass(frozen=True)
class Shape:
    """`reach` is the size at which the shape first differs from the plainer one before it."""

    name: str
    sees: Sees
    reach: int = 0

    def matrix(self, queries: int, keys: int, offset: int = 0) -> np.ndarray:
        """`offset` is the place of the first query among the keys."""
        i = np.arange(queries)[:, None] + offset
        j = np.arange(keys)[None, :]
        return np.broadcast_to(self.sees(i, j), (queries, keys)).copy()


FULL = Shape("full", lambda i, j: (i == i) & (j == j))
CAUSAL = Shape("causal", lambda i, j: j <= i)
OWN = Shape("own token only", lambda i, j: j == i)
STRICT = Shape("strictly causal (not its own)", lambda i, j: j < i)
AHEAD = Shape("causal, one token ahead", lambda i, j: j <= i + 1)
BACKWARD = Shape("itself and later tokens only", lambda i, j: j >= i)

_PLAIN = (FULL, CAUSAL, OWN, STRICT, AHEAD, BACKWARD)


def window(size: int) -> Shape:
    """`size` keys, the query's own among them."""
    return Shape(f"window={size}", lambda i, j: (j <= i) & (j > i - size), size + 1)


def window_both_sides(size: int) -> Shape:
    """As many keys on either side, the query's own counted on both."""
    return Shape(f"window={size} both sides", lambda i, j: abs(i - j) < size, size + 1)


def prefix(size: int) -> Shape:
    """Causal, and everyone sees the first `size` tokens."""
    return Shape(f"prefix={size}", lambda i, j: (j <= i) | (j < size), size + 1)


def shapes(longest: int) -> Iterator[Shape]:
    """All that can be told apart with so many tokens, the plainest first."""
    yield from _PLAIN
    for kind in (window, window_both_sides, prefix):
        for size in range(2, longest):
            yield kind(size)


@dataclass(frozen=True)
class Documents:
    """Blocks along the diagonal. `borders` are the tokens at which a new one starts."""

    borders: tuple[int, ...]
    causal: bool

    @property
    def name(self) -> str:
        return "documents, causal inside" if self.causal else "documents"

    @property
    def reach(self) -> int:
        return 0

    def matrix(self, queries: int, keys: int, offset: int = 0) -> np.ndarray:
        block = np.searchsorted(self.borders, np.arange(keys), side="right")
        rows = np.minimum(np.arange(queries) + offset, keys - 1)
        same = block[rows][:, None] == block[None, :]
        return same & CAUSAL.matrix(queries, keys, offset) if self.causal else same


def documents(moved: np.ndarray) -> Documents | None:
    """The blocks of a square picture, where it has two or more: a border is where no token before
    moves any token after it, or the other way round."""
    n = len(moved)
    borders = tuple(b for b in range(1, n) if not moved[b:, :b].any() and not moved[:b, b:].any())
    if not borders or len(borders) == n - 1:
        return None
    for causal in (False, True):
        found = Documents(borders, causal)
        if np.array_equal(found.matrix(n, n), moved):
            return found
    return None


AnyShape = Shape | Documents
