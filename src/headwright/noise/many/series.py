"""Chebyshev series on a cell: from values on its lattice points and nodes to coefficients, from a
cell to its pieces, from Chebyshev polynomials to powers. Small matrices, made once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebvander
from scipy.special import comb, factorial

from headwright.types import Float

ORDER = 14  # lattice points per key in m


@lru_cache(maxsize=8)
def to_chebyshev(nodes: int) -> tuple[Float[np.ndarray, "a l"], Float[np.ndarray, "b c"]]:
    """Matrices from values on a cell's lattice points (and on the nodes of its strip) to Chebyshev
    coefficients along m (along s), in coordinates that run from -1 to 1 over the cell."""
    half = ORDER // 2
    points = 2.0 * np.arange(-half + 1, half + 1) - 1.0
    along = _coefficients(ORDER) @ lagrange(chebyshev_nodes(ORDER), points)
    # The last two coefficients, far below the rounding of the others, are c_k = d_k / (k! 2^(2k-1))
    # with the k-th difference d_k (the mean of the two that there are of the last but one).
    for k in (ORDER - 1, ORDER - 2):
        j = np.arange(k + 1)
        binomials = (-1.0) ** (k - j) * comb(k, j)
        difference = binomials / (factorial(k) * 2.0 ** (2 * k - 1))
        room = ORDER - 1 - k
        shifts = [np.pad(difference, (left, room - left)) for left in range(room + 1)]
        along[k] = np.mean(shifts, axis=0)
    return along, _coefficients(nodes)


@lru_cache(maxsize=8)
def to_pieces(order: int, split: int) -> Float[np.ndarray, "i a b"]:
    """T_b on [-1, 1], cut into `split` equal pieces, as a series `sum_a [i, a, b] T_a` in the
    coordinate of piece i."""
    middles = 2.0 * np.arange(split)[:, None]
    x = (chebyshev_nodes(order) + middles + 1.0 - split) / split
    lower_degrees = np.tril(np.ones((order, order))).T
    series = _coefficients(order) @ chebvander(x, order - 1)
    return lower_degrees * series


@lru_cache(maxsize=16)
def to_powers(count: int) -> Float[np.ndarray, "z a"]:
    """T_a(2 x) as a sum of powers, `sum_z [z, a] x^z`."""
    polynomials = (cheb2poly(row) for row in np.eye(count))
    columns = [np.pad(c, (0, count - c.size)) for c in polynomials]
    powers_of_two = 2.0 ** np.arange(count)[:, None]
    return powers_of_two * np.stack(columns, axis=1)


def chebyshev_nodes(count: int) -> Float[np.ndarray, "c"]:
    """The zeros of T_count, from -1 to 1."""
    angles = (np.arange(count) + 0.5) * np.pi / count
    return -np.cos(angles)


def lagrange(x: Float[np.ndarray, "u"], points: Float[np.ndarray, "p"]) -> Float[np.ndarray, "u p"]:
    """l_p(x) = prod_{o != p} (x - o) / (p - o)"""
    columns = []
    for p, others in enumerate(~np.eye(points.size, dtype=bool)):
        apart = x[:, None] - points[others]
        factors = apart / (points[p] - points[others])
        columns.append(factors.prod(axis=1))
    return np.stack(columns, 1)


def _coefficients(count: int) -> Float[np.ndarray, "c c"]:
    """Values at the Chebyshev nodes to coefficients: `(2 - [k = 0]) / count T_k(x_c)`."""
    values = chebvander(chebyshev_nodes(count), count - 1)
    matrix = values.T * (2.0 / count)
    matrix[0] *= 0.5
    return matrix
