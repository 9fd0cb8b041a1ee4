"""Where each token stood before, in memory of the text's length: the places sorted by token, and
for each row the part of them that is earlier.

Rejected: lists of pairs, whose number grows with the square of the text (16 million for a book
chapter of 32,768 tokens).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.trained.rows.tokens import Tokens
from headwright.types import Bool, Int


@dataclass(frozen=True)
class Repeats:
    """Row i's token stood at `order[starts[i] : starts[i] + counts[i]]` before; `active` are the
    real rows whose token did."""

    order: Int[np.ndarray, "n"]
    starts: Int[np.ndarray, "n"]
    counts: Int[np.ndarray, "n"]
    active: Int[np.ndarray, "a"]

    @staticmethod
    def of(ids: Int[np.ndarray, "n"], real: Bool[np.ndarray, "n"]) -> Repeats:
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        first = np.searchsorted(ordered, ordered)
        starts = np.empty_like(order)
        counts = np.empty_like(order)
        starts[order] = first
        counts[order] = np.arange(ids.size) - first

        active = np.flatnonzero(real & (counts > 0))
        parts = (order, starts, counts, active)
        return Repeats(*(part.astype(np.int32) for part in parts))


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
