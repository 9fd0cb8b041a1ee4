"""Where each token stood before, in memory of the text's length: the places sorted by token, and
where each token begins among them.

Rejected: lists of pairs, whose number grows with the square of the text (16 million for a book
chapter of 32,768 tokens).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.trained.rows.tokens import Tokens
from headwright.types import Int


@dataclass(frozen=True)
class Repeats:
    """`order` are the places sorted by token; the token at `order[i]` stood at `order[begins[i] :
    i]` before."""

    order: Int[np.ndarray, "n"]
    begins: Int[np.ndarray, "n"]

    @staticmethod
    def of(ids: Int[np.ndarray, "n"]) -> Repeats:
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        begins = np.searchsorted(ordered, ordered)
        return Repeats(order.astype(np.int32), begins.astype(np.int32))


# What the kernel takes of them.
REPEATS = ("order", "begins")


def partners(tokens: Tokens) -> Int[np.ndarray, "2 t"]:
    """Of each row the first token, and the one before it; -1 where there is none."""
    t = tokens.real_queries.size
    rows = np.arange(t)
    first = np.full(t, tokens.first)
    before = np.full(t, -1)
    if tokens.ids is not None:
        real = tokens.real_queries[1:] & tokens.real_keys[:-1]
        before[1:] = np.where(real, rows[:-1], -1)
    return np.stack([first, before]).astype(np.int32)
