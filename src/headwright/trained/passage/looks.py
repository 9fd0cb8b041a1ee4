"""Where some queries of a text look: their heaviest keys in every head of a layer.

Only these queries' weights are computed, a few rows at a time, and only the heavy ones are kept, so
that no map of all queries and keys exists.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.library import torch
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float, Int

# Keys with less weight than this are the rest; and no query names more keys than this.
LEAST = 0.01
MOST_KEYS = 16
# Of the queries looked at, one in so many is a token that was there before: what heads that look
# for repetitions answer to.
_ONE_IN_REPEATED = 3
# Weights that are there at once.
_BUDGET = 2**22


@dataclass(frozen=True)
class Passage:
    """One text, for one stack of the model: the places of the queries looked at, and the tokens of
    all queries and keys (the same text but in cross attention). `special` are places of keys."""

    queries: tuple[int, ...]
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    special: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"<Passage of {len(self.key_tokens)} tokens, {len(self.queries)} queries looked at>"


@dataclass(frozen=True)
class Looks:
    """One head: `keys[i]` of the i-th query, heaviest first, and their `weights[i]`."""

    keys: tuple[Int[np.ndarray, "_"], ...]
    weights: tuple[Float[np.ndarray, "_"], ...]

    def __repr__(self) -> str:
        return f"<Looks of {len(self.keys)} queries>"


def chosen_queries(tokens: Tokens, size: int) -> Int[np.ndarray, "r"]:
    """Queries spread evenly over the text, and some of those whose token was there before."""
    real = np.flatnonzero(tokens.real_queries)
    repeated = _repeated(tokens)
    few = _evenly(repeated, size // _ONE_IN_REPEATED)
    spread = _evenly(np.setdiff1d(real, few), size - few.size)
    return np.union1d(few, spread)


def _repeated(tokens: Tokens) -> Int[np.ndarray, "r"]:
    if tokens.ids is None:
        return np.zeros(0, dtype=int)
    _, first = np.unique(tokens.ids, return_index=True)
    again = np.setdiff1d(np.arange(tokens.ids.size), first)
    return again[tokens.real_queries[again]]


def _evenly(places: Int[np.ndarray, "p"], size: int) -> Int[np.ndarray, "r"]:
    """The last place is among them: there a causal query sees the whole text."""
    if not size or not places.size:
        return np.zeros(0, dtype=int)
    steps = np.linspace(places.size - 1, 0, min(size, places.size))
    return places[np.unique(np.round(steps).astype(int))]


@dataclass(frozen=True)
class Heaviest:
    """The heaviest keys of every head of a layer, still where the model runs: a copy from there
    waits for all work before it."""

    keys: Int[Array, "h r k"]
    weights: Float[Array, "h r k"]

    def looks(self) -> list[Looks]:
        """Head by head, on the host."""
        pairs = zip(to_numpy(self.keys), to_numpy(self.weights), strict=True)
        return [_heavy(keys, weights) for keys, weights in pairs]


def heaviest(heads: Heads, queries: Int[np.ndarray, "r"]) -> Heaviest:
    """Of every head of the layer, for these queries."""
    h = heads.q.shape[0]
    n = heads.k.shape[1]
    at_once = max(1, _BUDGET // (h * n))
    keys = []
    weights = []
    for start in range(0, queries.size, at_once):
        some = weights_of(heads, queries[start : start + at_once])
        top = torch.topk(some, min(MOST_KEYS, n), dim=-1)
        weights.append(top.values)
        keys.append(top.indices)
    return Heaviest(torch.cat(keys, dim=1), torch.cat(weights, dim=1))


def _heavy(keys: Int[np.ndarray, "r k"], weights: Float[np.ndarray, "r k"]) -> Looks:
    kept = weights >= LEAST
    return Looks(
        keys=tuple(row[heavy] for row, heavy in zip(keys, kept, strict=True)),
        weights=tuple(row[heavy] for row, heavy in zip(weights, kept, strict=True)),
    )


def weights_of(heads: Heads, queries: Int[np.ndarray, "r"]) -> Float[Array, "h r n"]:
    """All weights of these queries, in single precision at least."""
    rows = torch.as_tensor(queries, device=compat.device(heads.q))
    wide = torch.promote_types(heads.q.dtype, torch.float32)
    hk, n, d = heads.k.shape

    # z = softcap tanh(scale q.k / softcap) + bias, -inf where the key is hidden
    q = heads.q[:, rows].to(wide).reshape(hk, heads.group * len(queries), d)
    z = heads.scale * q @ heads.k.to(wide).transpose(1, 2)
    z = z.reshape(-1, len(queries), n)
    if heads.softcap is not None:
        z = heads.softcap * torch.tanh(z / heads.softcap)
    if heads.bias is not None:
        z = z + heads.bias[:, rows].to(wide)
    if heads.mask is not None:
        z = z.masked_fill(~heads.mask[:, rows], -torch.inf)
    if heads.causal:
        late = torch.arange(n, device=rows.device) > rows[:, None]
        z = z.masked_fill(late, -torch.inf)
    if heads.sinks is not None:
        # One more logit without a key takes its share.
        sinks = heads.sinks.to(wide)[:, None, None].expand(-1, len(queries), 1)
        z = torch.cat([z, sinks], dim=-1)
    return torch.softmax(z, dim=-1)[..., :n]
