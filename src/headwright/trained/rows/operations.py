"""What is taken from a block of logits while it exists, and the plain way to take it: one array
operation each.

`fused.block` gives the same numbers in one pass over each row, where numba is installed and the
logits are in single precision on the host; the way here is for every other library, device and
precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import put
from headwright.trained.rows.largest import HIDDEN, Largest
from headwright.trained.rows.tokens import Pairs
from headwright.types import Array, Bool, Float, Int

# With e = exp(z - best): best - second (inf where one key is seen), sum e without the top key, sum
# e (z - best), sum e^2, e of the first token, sum e over separators, and the place of the best
# (whole numbers, exact below 2^24).
NAMES = ("margin", "leak", "shifted", "square", "first", "separators", "top")


@dataclass(frozen=True)
class Asked:
    """What is looked up in the weights of some rows. Row i sees the keys before `seen[i]`, if
    nothing else hides them; the block may be wider than any row."""

    seen: Int[np.ndarray, "r"]
    first: int
    separators: Bool[np.ndarray, "n"]
    pairs: Pairs


@dataclass(frozen=True)
class Block:
    """`e = exp(z - best)`, 0 for hidden keys, in the memory of the logits where the library can
    write; `numbers` in the order of `NAMES`; `patterns`, the share of the weights on each pattern's
    pairs, summed over the rows."""

    e: Float[Array, "h r n"]
    numbers: Float[Array, "h s r"]
    patterns: Float[Array, "h p"]


def block(z: Float[Array, "h r n"], asked: Asked) -> Block:
    """The numbers of logits whose width is a multiple of `largest.COLUMNS`."""
    xp, device, width = compat.array_namespace(z), compat.device(z), z.shape[-1]
    low = int(asked.seen.min())
    if low < width:
        late = xp.asarray(np.arange(low, width)[None, :] >= asked.seen[:, None], device=device)
        z = put(z, (..., slice(low, width)), xp.where(late, HIDDEN, z[..., low:]))
    largest = Largest.of(z)
    z -= largest.best[..., None]
    e = xp.exp(z)
    z *= e
    leak = largest.leak(e)
    separators = xp.asarray(_fitted(asked.separators, width), dtype=z.dtype, device=device)
    numbers = (
        largest.best - largest.second,
        leak,
        xp.sum(z, axis=-1),
        xp.linalg.vector_norm(e, axis=-1) ** 2,
        e[..., asked.first],
        xp.matmul(e, separators),
        # A padded query may see no key at all; its top key must still be one of the text's.
        xp.astype(xp.where(largest.top < asked.separators.size, largest.top, 0), z.dtype),
    )
    return Block(e, xp.stack(numbers, axis=1), _patterns(e, 1.0 + leak, asked.pairs))


def _fitted(marks: Bool[np.ndarray, "n"], width: int) -> Bool[np.ndarray, "w"]:
    return np.pad(marks[:width], (0, max(width - marks.size, 0)))


def _patterns(
    e: Float[Array, "h r n"], total: Float[Array, "h r"], pairs: Pairs
) -> Float[Array, "h p"]:
    xp, device = compat.array_namespace(e), compat.device(e)
    flat, found = xp.reshape(e, (e.shape[0], -1)), []
    for rows, columns in pairs:
        place, row = (xp.asarray(x, device=device) for x in (rows * e.shape[2] + columns, rows))
        found.append(xp.sum(xp.take(flat, place, axis=1) / xp.take(total, row, axis=1), axis=-1))
    return (
        xp.stack(found, axis=1)
        if found
        else xp.zeros((e.shape[0], 0), dtype=e.dtype, device=device)
    )
