"""The largest logit of every row, its place, the second largest, and the weight of all keys but the
top one.

One reduction over strided groups of keys finds all of it: the row is folded to (n/64) x 64 and the
maximum taken down the columns; the rest happens on the 64 columns' maxima and on the winner's
column. Rejected: a top-k or an arg-max over all n keys, each ten times the price of a maximum on a
CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat

from headwright.types import Array

# Shorter rows than this make the reduction slow; longer ones leave more to do afterwards.
COLUMNS = 64
# A logit that no softmax sees, and whose product with its weight 0 is still 0 (minus infinity would
# give NaN).
HIDDEN = -1e30
# Below this sum of e^(z - best) the top key's 1 drowns the digits of the others (6e-8 / 0.05 is
# about 1e-6).
_SHARP = 1.05


def padding(n: int) -> int:
    """Keys to add to n, so that rows fold into two or more lines of whole columns."""
    return max(-n % COLUMNS, 2 * COLUMNS - n)


@dataclass(frozen=True)
class Largest:
    """Per row of logits whose length is a multiple of `COLUMNS`: `best >= second`, `top` the place
    of `best`."""

    best: Array
    second: Array  # -inf where only one key is seen
    top: Array
    _column: Array
    _line: Array

    @staticmethod
    def of(z: Array) -> Largest:
        xp = compat.array_namespace(z)
        folded = _folded(xp, z)
        best, rival, column = _two(xp, xp.max(folded, axis=-2))
        _, mate, line = _two(xp, _down(xp, folded, column))

        # The second is the best of another column, or stands in the winner's own.
        second = xp.maximum(rival, mate)
        second = xp.where(second <= HIDDEN / 2, -xp.inf, second)
        top = (line * COLUMNS + column)[..., 0]
        return Largest(best, second, top, column, line)

    def leak(self, e: Array) -> Array:
        """`sum e` over all keys but the top one, for `e = exp(z - best)`."""
        xp = compat.array_namespace(e)
        rough = xp.sum(e, axis=-1)
        if not bool(xp.any(rough < _SHARP)):
            return rough - 1.0

        # Added up without the top key: first all columns but its own, then the rest of its column.
        folded = _folded(xp, e)
        beside = _without(xp, xp.sum(folded, axis=-2), self._column)
        above = _without(xp, _down(xp, folded, self._column), self._line)
        return xp.sum(beside, axis=-1) + xp.sum(above, axis=-1)


def _folded(xp: Any, z: Array) -> Array:
    lines = z.shape[-1] // COLUMNS
    return xp.reshape(z, (*z.shape[:-1], lines, COLUMNS))


def _two(xp: Any, x: Array) -> tuple[Array, Array, Array]:
    """The two largest of short rows and the place of the first (last axis kept)."""
    if compat.is_torch_array(x):
        values, places = x.topk(2, dim=-1)
        return values[..., 0], values[..., 1], places[..., :1]
    place = xp.argmax(x, axis=-1)[..., None]
    others = _without(xp, x, place, HIDDEN)
    return xp.max(x, axis=-1), xp.max(others, axis=-1), place


def _down(xp: Any, folded: Array, column: Array) -> Array:
    """Each row's chosen column, from top to bottom."""
    index = xp.broadcast_to(column[..., None, :], (*folded.shape[:-1], 1))
    # The standard's version first checks every index for its sign.
    if compat.is_torch_array(folded):
        return folded.gather(-1, index)[..., 0]
    return xp.take_along_axis(folded, index, axis=-1)[..., 0]


def _without(xp: Any, x: Array, place: Array, filler: float = 0.0) -> Array:
    places = xp.arange(x.shape[-1], device=compat.device(x))
    return xp.where(places == place, filler, x)
