"""The task of every toy head: for each pair of n keys, put half of the weight on either.

A pair counts as solved when each of its two weights is at least (1 - leak) / 2:

    alpha_a >= c   and   alpha_b >= c,        c = (1 - leak) / 2 .

Then no more than `leak` goes elsewhere, and neither key has more than (1 + leak) / 2. The queries
that solve a pair form a convex set, because ln(1 / alpha_a) = LSE(z) - z_a is convex; `shortest`
lives on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from headwright.attention import weights
from headwright.errors import InputError
from headwright.types import Array, Float, Int

LEAK = 0.1
# No query is longer; the keys have length one.
LIMIT = 100.0

QUERIES = ("free", "additive")
LENGTHS = ("fixed", "random")
LOSSES = ("cross-entropy", "squared")


@dataclass(frozen=True)
class Toy:
    """What the heads of one batch have in common: n learned keys in d dimensions, `heads` queries
    for each pair, each learned by itself ("free") or the sum of a vector of either key
    ("additive"), and the loss."""

    n: int
    d: int
    heads: int = 1
    queries: str = "free"
    loss: str = "cross-entropy"

    def __post_init__(self) -> None:
        _insist("n", self.n, self.n >= 3, "at least 3 keys", "n = 24")
        _insist("d", self.d, self.d >= 2, "at least 2 dimensions", "d = 6")
        _insist("heads", self.heads, self.heads >= 1, "at least 1 head", "heads = 1")
        _insist("queries", self.queries, self.queries in QUERIES, " or ".join(QUERIES), QUERIES[0])
        _insist("loss", self.loss, self.loss in LOSSES, " or ".join(LOSSES), LOSSES[0])


def _insist(name: str, value: object, fine: bool, wanted: str, attempt: str) -> None:
    if not fine:
        raise InputError(wanted=f"{name}: {wanted}", got=repr(value), attempt=attempt)


def all_pairs(n: int) -> Int[Array, "p 2"]:
    """Every pair a < b; where a length is random, it is that of a."""
    return np.array(list(combinations(range(n), 2)))


def mixed_weights(queries: Float[Array, "h p d"], keys: Float[Array, "n d"]) -> Float[Array, "p n"]:
    """The weights of every pair's heads, averaged over the heads."""
    return weights(queries @ keys.T).mean(axis=0)


def solved(alpha: Float[Array, "p n"], pairs: Int[Array, "p 2"], leak: float = LEAK) -> Array:
    """Which pairs have both their weights."""
    rows = np.arange(len(pairs))[:, None]
    on_the_pair = alpha[rows, pairs]
    return on_the_pair.min(axis=1) >= (1 - leak) / 2
