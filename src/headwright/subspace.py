"""Getting v_a back out of v_a + v_b when v_a lies in span(A) and v_b in span(B).

Orthogonal spans: `M = Q_A Q_A'` (for orthonormal A simply `A A'`). Spans that are not orthogonal
but meet only in 0: the oblique projector onto span(A) along span(B). With `P = I - Q_B Q_B'` and `R
= P Q_A`,

    M = Q_A R^+,    M Q_A = I on span(A),    M Q_B = 0,    ||M|| = 1 / sigma_min(R) = 1 / sin(angle)

and that norm is the noise amplification: infinite when the spans meet, 1 when they are orthogonal.
`A'` alone is a different object, the m coordinates of v_a, and is returned as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat

from headwright import inputs
from headwright.errors import InputError
from headwright.types import Array, Float


@dataclass(frozen=True)
class Extraction:
    """`matrix @ (v_a + v_b) = v_a`, a vector of R^d; `coordinates @ (v_a + v_b)` are its m
    coefficients in the basis A; `amplification` is the factor by which noise in the sum can grow.
    """

    matrix: Float[Array, "d d"]
    coordinates: Float[Array, "m d"]
    amplification: float
    method: str  # "orthogonal" or "oblique"


def extract(A: Any, B: Any) -> Extraction:
    """The matrix that keeps span(A) and removes span(B); columns of `A` `(d, m)` and `B` `(d, p)`
    are bases.

    >>> print(hw.extract([[1], [0]], [[0], [1]]).matrix)
    [[1. 0.]
     [0. 0.]]
    """
    xp, (A, B) = inputs.arrays(A=A, B=B)
    inputs.shape("A", A, "d", "m")
    inputs.shape("B", B, A.shape[0], "p")
    Q_A = _orthonormal("A", A)
    Q_B = _orthonormal("B", B)
    overlap = Q_B.T @ Q_A
    R = Q_A - Q_B @ overlap
    # Once more: the first pass leaves rounding of the size of what it removed
    R = R - Q_B @ (Q_B.T @ R)
    smallest = 0.0
    if Q_A.shape[1] + Q_B.shape[1] <= A.shape[0]:
        smallest = float(xp.min(xp.linalg.svdvals(R)))
    eps = float(xp.finfo(A.dtype).eps)
    rounding = A.shape[0] * eps
    if smallest <= rounding:
        raise InputError(
            wanted="subspaces that meet only in 0",
            got=f"span(A) and span(B) share a direction (sine of the angle {smallest:.1e})",
            attempt="remove the common direction from one basis: no matrix can tell which part it "
            "came from",
        )
    inverse = xp.linalg.pinv(A)
    if float(xp.max(xp.abs(overlap))) <= rounding:
        matrix = Q_A @ Q_A.T
        return Extraction(matrix, inverse @ matrix, 1.0, "orthogonal")
    matrix = Q_A @ xp.linalg.pinv(R)
    return Extraction(matrix, inverse @ matrix, 1.0 / smallest, "oblique")


def _orthonormal(name: str, A: Float[Array, "d m"]) -> Float[Array, "d r"]:
    """An orthonormal basis of the columns' span. Dependent columns are dropped, a zero matrix is
    refused."""
    xp = compat.array_namespace(A)
    U, S, _ = xp.linalg.svd(A, full_matrices=False)
    largest = float(xp.max(S))
    if largest == 0.0:
        raise InputError(
            wanted=f"{name} with a nonzero column",
            got="all zeros",
            attempt="pass a basis of the subspace",
        )
    eps = float(xp.finfo(A.dtype).eps)
    negligible = largest * max(A.shape) * eps
    counted = xp.astype(S > negligible, xp.int64)
    return U[:, : int(xp.sum(counted))]
