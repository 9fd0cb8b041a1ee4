"""Learned sinks: one more logit s in every row of a head, without a key and without a value.

The pass over the keys knows nothing of it, so that no loop has a case for it; the sink takes its
share afterwards, row by row. With m the best key's logit and Z = sum_j e^(z_j - m) over the keys,

    Z' = Z + e^(s - m),    p_sink = e^(s - m) / Z',    a = Z / Z',

and what is linear in the weights of the keys is a times what it was. Rejected: a further key whose
logit is s for every query. It would have to come first or last under every mask, and a text would
have a token too many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.trained.heads import Heads
from headwright.trained.rows.result import Rows
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float

# A logit further than this above (below) all others has all (none) of the weight in single
# precision, and e to its power is still a number there.
_FURTHEST = 80.0
# Rows whose pairs are found together, as in the pass over the keys, and pairs looked up at once.
_ROWS = 256
_PAIRS = 2**16


def with_sinks(rows: Rows, heads: Heads, tokens: Tokens) -> Rows:
    """What the pass over the keys gave, once the sinks have taken their share. Top key, margin and
    similarity are the keys' own; the picture keeps showing how keys share what is left to them."""
    xp = compat.array_namespace(rows.leak)
    s = xp.astype(heads.sinks, rows.leak.dtype, copy=False)[:, None]
    m = _best_logits(rows, heads)
    above = xp.clip(s - m, -_FURTHEST, _FURTHEST)

    # Z' = Z + e^(s - m)
    keys = 1.0 + rows.leak
    own = xp.exp(above)
    total = keys + own
    sink = own / total
    left = keys / total
    return replace(
        rows,
        output=rows.output * left[..., None],
        leak=rows.leak + own,
        # sum p (z - m) = a sum_keys p (z - m) + p_sink (s - m)
        shifted=left * rows.shifted + sink * above,
        first=left * rows.first,
        separators=left * rows.separators,
        patterns=_patterns(heads, tokens, m, total),
        numbers=None,  # they know of no sink
        sink=sink,
    )


def _best_logits(rows: Rows, heads: Heads) -> Float[Array, "h t"]:
    """m of every row: the top key's logit, or next to nothing where no key is seen."""
    xp = compat.array_namespace(rows.leak)
    h, t = rows.top.shape
    queries = xp.arange(t, device=compat.device(rows.top))
    best = xp.stack([_logits(heads, i, queries, rows.top[i, :]) for i in range(h)])
    nothing = xp.full_like(best, -xp.inf)
    return xp.where(rows.seen > 0, best, nothing)


def _logits(heads: Heads, head: int, queries: Array, keys: Array) -> Float[Array, "c"]:
    """Of one head at pairs of a query and a key, as they are before any mask."""
    xp = compat.array_namespace(heads.q)
    q = _wide(xp, xp.take(heads.q[head, ...], queries, axis=0))
    k = _wide(xp, xp.take(heads.k[heads.key_head(head), ...], keys, axis=0))
    z = heads.scale * xp.sum(q * k, axis=-1)
    if heads.softcap is not None:
        z = heads.softcap * xp.tanh(z / heads.softcap)
    if heads.bias is not None:
        z = z + _wide(xp, _of(heads.bias, head)[queries, keys])
    return z


def _patterns(
    heads: Heads, tokens: Tokens, m: Float[Array, "h t"], total: Float[Array, "h t"]
) -> dict[str, Float[Array, "h"]]:
    """They came summed over the rows, each of which has an a of its own: their pairs are looked up
    again, as p = e^(z - m) / Z'."""
    xp = compat.array_namespace(m)
    h, t = m.shape
    sums = {name: xp.zeros_like(m[:, 0]) for name in tokens.patterns}
    for start in range(0, t, _ROWS):
        pairs = tokens.pairs(start, min(start + _ROWS, t))
        for name, (rows, columns) in zip(tokens.patterns, pairs, strict=True):
            for part in range(0, rows.size, _PAIRS):
                chosen = slice(part, part + _PAIRS)
                queries = _indices(m, start + rows[chosen])
                keys = _indices(m, columns[chosen])
                shares = [_mass(heads, i, queries, keys, m, total) for i in range(h)]
                sums[name] = sums[name] + xp.stack(shares)
    return sums


def _mass(
    heads: Heads, head: int, queries: Array, keys: Array, m: Array, total: Array
) -> Float[Array, ""]:
    """The weight of one head on these pairs, summed."""
    xp = compat.array_namespace(m)
    z = _logits(heads, head, queries, keys)
    p = xp.exp(z - m[head, queries]) / total[head, queries]
    if heads.mask is not None:
        p = xp.where(_of(heads.mask, head)[queries, keys], p, 0.0)
    return xp.sum(p)


def _indices(like: Array, places: np.ndarray) -> Array:
    xp = compat.array_namespace(like)
    return xp.asarray(places, dtype=xp.int64, device=compat.device(like))


def _of(x: Array, head: int) -> Array:
    """A head's part of a mask or bias that may be shared by all heads."""
    return x[head if x.shape[0] > 1 else 0, ...]


def _wide(xp: Any, x: Array) -> Array:
    """Half precision is enough for weights, not for differences of logits."""
    return x if x.dtype in (xp.float32, xp.float64) else xp.astype(x, xp.float32)
