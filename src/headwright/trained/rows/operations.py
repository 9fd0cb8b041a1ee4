"""What is taken from a block of logits while it exists, and the plain way to take it: one array
operation each.

`compiled.row_numbers` gives the same numbers in one pass over each row, where numba is installed
and the logits are in single precision on the host; the way here is for every other library, device
and precision.
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
# e (z - best), e of the first token, sum e over separators, and the place of the best (whole
# numbers, exact below 2^24).
NAMES = ("margin", "leak", "shifted", "first", "separators", "top")


@dataclass(frozen=True)
class Lookup:
    """What is looked up in the weights of some rows. Row i sees the keys before `seen[i]`, if
    nothing else hides them; the logits may be wider than any row."""

    seen: Int[np.ndarray, "r"]
    first: int
    separators: Bool[np.ndarray, "n"]
    pairs: Pairs


@dataclass(frozen=True)
class RowNumbers:
    """`e = exp(z - best)`, 0 for hidden keys, in the memory of the logits where the library can
    write; `numbers` in the order of `NAMES`; `patterns`, the share of the weights on each pattern's
    pairs, summed over the rows."""

    e: Float[Array, "h r n"]
    numbers: Float[Array, "h s r"]
    patterns: Float[Array, "h p"]


def row_numbers(z: Float[Array, "h r n"], lookup: Lookup) -> RowNumbers:
    """The numbers of logits whose width is a multiple of `largest.COLUMNS`."""
    xp = compat.array_namespace(z)
    z = _hide_late(z, lookup.seen)
    largest = Largest.of(z)

    z -= largest.best[..., None]
    e = xp.exp(z)
    z *= e
    leak = largest.leak(e)

    marked = _fitted(lookup.separators, z.shape[-1])
    separators = xp.asarray(marked, dtype=z.dtype, device=compat.device(z))
    # A padded query may see no key at all; its top key must still be one of the text's.
    top = xp.where(largest.top < lookup.separators.size, largest.top, 0)
    numbers = (
        largest.best - largest.second,
        leak,
        xp.sum(z, axis=-1),
        e[..., lookup.first],
        xp.matmul(e, separators),
        xp.astype(top, z.dtype),
    )
    patterns = _pattern_shares(e, 1.0 + leak, lookup.pairs)
    return RowNumbers(e, xp.stack(numbers, axis=1), patterns)


def _hide_late(z: Float[Array, "h r n"], seen: Int[np.ndarray, "r"]) -> Float[Array, "h r n"]:
    """Row i sees no key from `seen[i]` on."""
    xp = compat.array_namespace(z)
    width = z.shape[-1]
    low = int(seen.min())
    if low >= width:
        return z
    late = np.arange(low, width)[None, :] >= seen[:, None]
    late = xp.asarray(late, device=compat.device(z))
    return put(z, (..., slice(low, width)), xp.where(late, HIDDEN, z[..., low:]))


def _fitted(separators: Bool[np.ndarray, "n"], width: int) -> Bool[np.ndarray, "w"]:
    missing = max(width - separators.size, 0)
    return np.pad(separators[:width], (0, missing))


def _pattern_shares(
    e: Float[Array, "h r n"], total: Float[Array, "h r"], pairs: Pairs
) -> Float[Array, "h p"]:
    """Of the weights e / total: what lies on each pattern's pairs, summed over the rows."""
    xp = compat.array_namespace(e)
    device = compat.device(e)
    flat = xp.reshape(e, (e.shape[0], -1))

    shares = []
    for rows, columns in pairs:
        place = xp.asarray(rows * e.shape[2] + columns, device=device)
        row = xp.asarray(rows, device=device)
        weights = xp.take(flat, place, axis=1) / xp.take(total, row, axis=1)
        shares.append(xp.sum(weights, axis=-1))

    if not shares:
        return xp.zeros((e.shape[0], 0), dtype=e.dtype, device=device)
    return xp.stack(shares, axis=1)
