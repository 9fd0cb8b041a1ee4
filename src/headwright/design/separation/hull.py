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
from itertools import count

import numpy as np
from flint import fmpz_mat
from scipy.linalg import qr

from headwright.design.separation.exact_rows import ExactRows
from headwright.types import Array, Float, Int, Keys, Query

Columns = Int[Array, "r"]

_BLOCK = 4096
# Relative variance below which the rank is settled by an orthogonal factorisation of the keys
# themselves.
_CLEAR_RANK = 1e-11


def blocks(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK))


def copies(K: Keys) -> Int[Array, "n"]:
    """For each key the number of the first key equal to it in every coordinate. Copies have equal
    checksums; should others have one too, another checksum tells them apart."""
    first = np.arange(len(K))
    for draw in count():
        checksum = _checksums(K, np.random.default_rng(draw))
        in_order = np.sort(checksum)
        repeated = in_order[1:][in_order[1:] == in_order[:-1]]
        if len(repeated) == 0:
            return first
        alike = np.flatnonzero(np.isin(checksum, repeated))
        alike = alike[np.argsort(checksum[alike], kind="stable")]
        same_sum = checksum[alike[1:]] == checksum[alike[:-1]]
        same = (K[alike[1:]] == K[alike[:-1]]).all(axis=1)
        if np.array_equal(same, same_sum):
            begins = np.append(True, ~same)
            first[alike] = alike[begins][np.cumsum(begins) - 1]
            return first
    raise AssertionError  # count() does not end


def _checksums(K: Keys, rng: np.random.Generator) -> np.ndarray:
    """A sum of the bits of every row with odd factors, modulo 2^64."""
    odd = 2 * rng.integers(2**63, size=K.shape[1], dtype=np.uint64) + np.uint64(1)
    sums = np.empty(len(K), np.uint64)
    for part in blocks(len(K)):
        bits = (K[part] + 0.0).view(np.uint64)  # -0.0 becomes 0.0, which is equal to it
        # Numbers with few digits have zeros below, and so would their products.
        bits ^= bits >> np.uint64(32)
        sums[part] = bits @ odd
    return sums


def second_moments(K: Keys) -> tuple[Query, Float[Array, "d d"]]:
    """Mean and covariance, a block of keys at a time."""
    mean = np.full(len(K), 1 / len(K)) @ K  # one product: faster than `K.mean` on short rows
    C = np.zeros((K.shape[1], K.shape[1]))
    for part in blocks(len(K)):
        X = K[part] - mean
        C += X.T @ X
    return mean, C / len(K)


def used_columns(K: Keys, *, resolution: float) -> Columns:
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


def dimension(K: Keys, columns: Columns, *, resolution: float) -> int:
    """Of the keys' affine hull: the coordinates in use; at resolution 0 the rank of the
    differences, exactly."""
    if resolution > 0:
        return len(columns)
    _, C = second_moments(K)
    if _clearly_full(C):
        return len(columns)
    exact = ExactRows(K, 0)
    differences = [exact[i][0] for i in range(len(K))]
    return fmpz_mat(differences).rank()


def _clearly_full(C: Float[Array, "d d"]) -> bool:
    variances = np.linalg.eigvalsh(C)
    return bool(variances[0] > _CLEAR_RANK * variances[-1])


def _pivots(K: Keys, mean: Query, *, resolution: float) -> Columns:
    largest = np.abs(K).max(axis=0)
    ranges = [np.abs(K[part] - mean).max(axis=0) for part in blocks(len(K))]
    spread = np.max(ranges, axis=0)
    # Powers of two: exact, and no coordinate counts less for being small.
    scale = np.ldexp(1.0, -np.frexp(np.where(spread > 0, spread, 1.0))[1])

    R = np.zeros((0, K.shape[1]))
    for part in blocks(len(K)):
        rows = (K[part] - mean) * scale
        R = np.linalg.qr(np.vstack([R, rows]), mode="r")
    R, order = qr(R, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    rounding = resolution * np.sqrt(len(K)) * float((largest * scale).max())
    rank = int((np.abs(np.diag(R)) > rounding).sum())
    return np.sort(order[:rank])
