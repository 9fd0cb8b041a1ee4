"""A query as it will be stored: float64, float32 or bfloat16, with the rounding errors steered.

A mixture needs the logits on S to keep their differences. Rounding every coordinate to the nearest
bfloat16 moves them by about 1e-3; choosing each coordinate's lower or upper neighbour so that the
errors cancel in the directions k_a - k0 (error feedback, largest steps first, so that the small
ones mop up) keeps them a thousand times better.
"""

from __future__ import annotations

import numpy as np

from headwright.errors import InputError
from headwright.types import Array, Float, Query

# name -> bits of the float32 pattern that are dropped; None: float64, nothing is dropped.
_DROPPED: dict[str, int | None] = {"float64": None, "float32": 0, "bfloat16": 16}
STORAGES = tuple(_DROPPED)


def checked(storage: str) -> str:
    if storage not in _DROPPED:
        raise InputError(
            wanted=f"storage one of {', '.join(STORAGES)}",
            got=repr(storage),
            attempt="storage='bfloat16'",
        )
    return storage


def representable(q: Float[Array, "*h d"], storage: str) -> bool:
    """Is every coordinate exactly a number of that format?"""
    if storage == "float64":
        return True
    flat = np.asarray(q, dtype=float).ravel()
    low, high = neighbours(flat, storage)
    return bool(np.all((low == flat) & (high == flat)))


def neighbours(q: Query, storage: str) -> tuple[Query, Query]:
    """The largest number of the format <= q and the smallest >= q, coordinate by coordinate."""
    dropped = _DROPPED[storage]
    if dropped is None:
        return q, q
    with np.errstate(over="ignore"):
        single = q.astype(np.float32)
    if not np.all(np.isfinite(single)):
        raise InputError(
            wanted=f"a query that fits in {storage}",
            got="coordinates beyond 3e38",
            attempt="float64",
        )

    # Cut toward zero: clear the dropped bits of a float32 that is not beyond q.
    beyond = np.abs(single.astype(float)) > np.abs(q)
    single = np.where(beyond, np.nextafter(single, np.float32(0.0)), single)
    kept = np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    bits = single.view(np.uint32) & kept
    inner = bits.view(np.float32).astype(float)

    # One step of the format away from zero, unless q is the inner number itself.
    next_bits = bits + np.uint32(1 << dropped)
    outer = next_bits.view(np.float32).astype(float)
    outer = np.where(inner == q, q, np.copysign(np.abs(outer), q))
    return np.minimum(inner, outer), np.maximum(inner, outer)


def rounded(q: Query, directions: Float[Array, "r d"], storage: str) -> Query:
    """q in the given format, with `directions @ q` kept as well as the format allows."""
    low, high = neighbours(np.asarray(q, dtype=float), storage)
    out = np.where(q - low <= high - q, low, high)
    if storage == "float64" or not directions.shape[0]:
        return out

    # Unit rows: near-duplicate keys have short differences but equal say.
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    E = directions / np.where(length > 0, length, 1.0)

    drift = np.zeros(E.shape[0])
    step = (high - low) * np.linalg.norm(E, axis=0)
    for j in np.argsort(-step):
        down = drift + E[:, j] * (low[j] - q[j])
        up = drift + E[:, j] * (high[j] - q[j])
        if down @ down <= up @ up:
            out[j] = low[j]
            drift = down
        else:
            out[j] = high[j]
            drift = up
    return out
