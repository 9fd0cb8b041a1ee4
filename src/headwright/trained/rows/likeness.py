"""What is made of a few whole rows per text: how alike two heads are, and the small picture of each
head."""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.types import Array, Bool, Float, Int

# Rows per text whose weights are kept for a moment, spread evenly over the text.
_FEWEST, _MOST, _SHARE = 32, 128, 16
# The picture has at most this many cells a side, whatever the length of the text.
_CELLS = 32


def sample(real: Bool[np.ndarray, "t"]) -> Int[np.ndarray, "s"]:
    """The rows looked at, evenly over the real ones."""
    rows = np.flatnonzero(real)
    size = min(max(rows.size // _SHARE, _FEWEST), _MOST, rows.size)
    return rows[np.linspace(0, rows.size - 1, size).astype(int)]


def cosines(xp: Any, kept: Float[Array, "h s n"]) -> Float[Array, "h h"]:
    """Cosine between the rows of every two heads, summed over the rows."""
    unit = kept / xp.linalg.vector_norm(kept, axis=-1, keepdims=True)
    rows = xp.permute_dims(unit, (1, 0, 2))
    return xp.sum(rows @ xp.matrix_transpose(rows), axis=0)


def binned(xp: Any, kept: Float[Array, "h s k"], n: int) -> Float[Array, "h s b"]:
    """The mass of each row in up to 32 equal ranges of the n keys; keys after those in `kept` have
    none."""
    width = -(-n // _CELLS)
    cells = -(-n // width)
    seen = kept[..., : min(kept.shape[2], n)]
    missing = xp.zeros(
        (*kept.shape[:2], cells * width - seen.shape[2]),
        dtype=kept.dtype,
        device=compat.device(kept),
    )
    return xp.sum(
        xp.reshape(xp.concat([seen, missing], axis=-1), (*kept.shape[:2], cells, width)), axis=-1
    )


def squeezed(rows: Float[np.ndarray, "h s b"]) -> Float[np.ndarray, "h a b"]:
    """Neighbouring sampled rows averaged down to the picture's height."""
    s = rows.shape[1]
    edges = np.unique(np.linspace(0, s, min(s, _CELLS) + 1).astype(int))
    return np.add.reduceat(rows, edges[:-1], axis=1) / np.diff(edges)[None, :, None]
