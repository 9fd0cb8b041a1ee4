"""What a head would score that weighs all keys it sees equally.

A text of one token repeated has every weight on a duplicate, and the first of four keys gets a
quarter of everything: a score says something about a head only as far as it exceeds this.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.rows.tokens import Tokens
from headwright.types import Float, Int


@dataclass(frozen=True)
class Chance:
    """Of one measure: its `value` under equal weights (NaN where these say nothing), a mean over
    `rows` queries."""

    value: float
    rows: int

    def joined(self, other: Chance) -> Chance:
        """Over the rows of both."""
        rows = self.rows + other.rows
        total = self.value * self.rows + other.value * other.rows
        return Chance(total / max(rows, 1), rows)


def chances(tokens: Tokens, seen: Int[np.ndarray, "t"], *, causal: bool) -> dict[str, Chance]:
    """`seen[i]` keys are visible to query i. Where a window hides keys of a pattern this is more
    than equal weights give, never less."""
    share = np.where(seen > 0, 1.0 / np.maximum(seen, 1), 0.0)
    real = tokens.real_queries
    before = np.cumsum(tokens.separators)
    separators = before[: seen.size] if causal else np.full(seen.size, before[-1])

    found = {
        "effective_keys": _mean(seen, real),
        "first": _mean(share, real),
        "separators": _mean(np.minimum(separators * share, 1.0), real),
    }
    if tokens.ids is None:
        return found
    earlier = _earlier_places(tokens)
    repeated = np.minimum(earlier * share, 1.0)
    found["previous"] = _mean(share, real & (np.arange(seen.size) > tokens.first))
    found["duplicate"] = _mean(repeated, earlier > 0)
    found["induction"] = found["duplicate"]  # as many places follow them
    return found


class EqualWeights:
    """What equal weights would score, once for all layers that see the same keys."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool, bytes], dict[str, Chance]] = {}

    def of(self, tokens: Tokens, heads: Heads) -> dict[str, Chance]:
        seen = _seen(heads)
        key = (id(tokens), heads.causal, seen.tobytes())
        if key not in self._known:
            self._known[key] = chances(tokens, seen, causal=heads.causal)
        return self._known[key]


def _seen(heads: Heads) -> Int[np.ndarray, "t"]:
    """Keys visible to each query. The head that sees least has the largest share for chance."""
    t = heads.q.shape[1]
    n = heads.k.shape[1]
    if heads.mask is not None:
        return to_numpy(heads.mask.sum(-1)).min(axis=0)
    return np.minimum(np.arange(t) + 1, n) if heads.causal else np.full(t, n)


def _mean(values: Float[np.ndarray, "t"] | Int[np.ndarray, "t"], among: np.ndarray) -> Chance:
    rows = int(among.sum())
    return Chance(float(values[among].mean()) if rows else 0.0, rows)


def _earlier_places(tokens: Tokens) -> Int[np.ndarray, "t"]:
    """How often each query's token was there before."""
    assert tokens.ids is not None, "only texts have tokens"
    known: Counter[int] = Counter()
    earlier = np.zeros(tokens.ids.size, dtype=int)
    for i, token in enumerate(tokens.ids.tolist()):
        if tokens.real_queries[i]:
            earlier[i] = known[token]
            known[token] += 1
    return earlier
