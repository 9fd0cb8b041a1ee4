"""What is made of a few whole rows per text: how alike two heads are, and the small picture of each
head."""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.types import Array, Bool, Float, Int

# Rows per text whose weights are kept for a moment, spread evenly over the text: one in so many,
# within these limits.
_ONE_IN = 16
_FEWEST = 32
_MOST = 128
# The picture has at most this many cells a side, whatever the length of the text.
_CELLS = 32


def sample(real: Bool[np.ndarray, "t"]) -> Int[np.ndarray, "s"]:
    """The rows looked at, evenly over the real ones."""
    rows = np.flatnonzero(real)
    wanted = min(max(rows.size // _ONE_IN, _FEWEST), _MOST)
    evenly = np.linspace(0, rows.size - 1, min(wanted, rows.size))
    return rows[evenly.astype(int)]


def cosines(xp: Any, kept: Float[Array, "h s n"]) -> Float[Array, "h h"]:
    """Cosine between the rows of every two heads, summed over the rows."""
    unit = kept / xp.linalg.vector_norm(kept, axis=-1, keepdims=True)
    rows = xp.permute_dims(unit, (1, 0, 2))
    products = rows @ xp.matrix_transpose(rows)
    return xp.sum(products, axis=0)


def ranges(n: int) -> tuple[int, int]:
    """Keys in each range of the picture, and how many ranges n keys make."""
    width = -(-n // _CELLS)
    return width, -(-n // width)


def binned(xp: Any, kept: Float[Array, "h s k"], n: int) -> Float[Array, "h s b"]:
    """The mass of each row in up to 32 equal ranges of the n keys; keys after those in `kept` have
    none."""
    h, s, k = kept.shape
    width, cells = ranges(n)

    seen = kept[..., : min(k, n)]
    rest = cells * width - seen.shape[2]
    missing = xp.zeros((h, s, rest), dtype=kept.dtype, device=compat.device(kept))
    whole = xp.concat([seen, missing], axis=-1)

    folded = xp.reshape(whole, (h, s, cells, width))
    return xp.sum(folded, axis=-1)


def averaging(s: int) -> Float[np.ndarray, "a s"]:
    """What averages neighbouring rows of s down to the picture's height."""
    height = min(s, _CELLS)
    edges = np.unique(np.linspace(0, s, height + 1).astype(int))
    rows = np.arange(s)
    inside = (rows >= edges[:-1, None]) & (rows < edges[1:, None])
    return inside / np.diff(edges)[:, None]


def squeezed(rows: Float[np.ndarray, "h s b"]) -> Float[np.ndarray, "h a b"]:
    """Neighbouring sampled rows averaged down to the picture's height."""
    return averaging(rows.shape[1]) @ rows
