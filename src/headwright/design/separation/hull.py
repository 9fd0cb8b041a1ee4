"""What the keys are as points: which coincide, and how many of their coordinates they really use.

Keys of rank r < d (a projection, a low-rank head) fill an r-dimensional plane up to rounding, and
rounding must not count as geometry: off that plane every key is a corner, reached by queries of
size 1e16. So such keys are seen through r of their own coordinates, chosen by pivoting. Scores of a
query on those coordinates are scores of the keys themselves, so witnesses stay exact; proofs hold
in the other coordinates up to the stated tolerance. (Rejected: rotating to principal axes, which
rounds every key and makes no verdict exact.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpz_mat
from scipy.linalg import qr

from headwright.design.separation.rational import ExactRows
from headwright.types import Float, Int

_BLOCK = 4096
# Relative variance below which the rank is settled by an orthogonal factorisation of the keys
# themselves.
_CLEAR_RANK = 1e-11


def blocks(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK))


def copies(K: Float[np.ndarray, "n d"]) -> Int[np.ndarray, "n"]:
    """For each key the number of the first key equal to it in every coordinate. (Should two
    different keys share a hash, a copy may go unnoticed here; it is then found by the exact stage,
    as a combination of one key.)"""
    first = np.arange(len(K))
    seen: dict[int, int] = {}
    for i, row in enumerate(K):
        twin = seen.setdefault(hash((row + 0.0).tobytes()), i)  # + 0.0: -0 and 0 are one number
        if twin != i and np.array_equal(K[twin], row):
            first[i] = twin
    return first


def second_moments(
    K: Float[np.ndarray, "n d"],
) -> tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d d"]]:
    """Mean and covariance, a block of keys at a time."""
    mean = K.mean(axis=0)
    C = np.zeros((K.shape[1], K.shape[1]))
    for part in blocks(len(K)):
        X = K[part] - mean
        C += X.T @ X
    return mean, C / len(K)


def used_columns(K: Float[np.ndarray, "n d"], *, resolution: float) -> Int[np.ndarray, "r"]:
    """Coordinates on which the keys vary independently: all others are affine functions of them, up
    to `resolution` times the size of the keys. In the usual case the covariance shows that it is
    all of them. At resolution 0 every coordinate that varies is kept."""
    mean, C = second_moments(K)
    if _clearly_full(C):
        return np.arange(K.shape[1])
    if resolution == 0:
        # Only a coordinate that never changes is without doubt of no use; rounding decides about no
        # other.
        return np.flatnonzero((K != K[0]).any(axis=0))
    return _pivots(K, mean, resolution=resolution)


def dimension(
    K: Float[np.ndarray, "n d"], columns: Int[np.ndarray, "r"], *, resolution: float
) -> int:
    """Of the keys' affine hull: the coordinates in use; at resolution 0 the rank of the
    differences, exactly."""
    if resolution > 0 or _clearly_full(second_moments(K)[1]):
        return len(columns)
    exact = ExactRows(K, 0)
    return fmpz_mat([exact[i][0] for i in range(len(K))]).rank()


def _clearly_full(C: Float[np.ndarray, "d d"]) -> bool:
    spread = np.linalg.eigvalsh(C)
    return bool(spread[0] > _CLEAR_RANK * spread[-1])


def _pivots(K: np.ndarray, mean: np.ndarray, *, resolution: float) -> np.ndarray:
    largest = np.abs(K).max(axis=0)
    spread = np.max([np.abs(K[part] - mean).max(axis=0) for part in blocks(len(K))], axis=0)
    scale = np.ldexp(1.0, -np.frexp(np.where(spread > 0, spread, 1.0))[1])
    R = np.zeros((0, K.shape[1]))
    for part in blocks(len(K)):
        R = np.linalg.qr(np.vstack([R, (K[part] - mean) * scale]), mode="r")
    R, order = qr(R, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    rounding = resolution * np.sqrt(len(K)) * float((largest * scale).max())
    return np.sort(order[: int((np.abs(np.diag(R)) > rounding).sum())])
