"""Points on a facet, where the error bound of a float cannot tell inside from outside. If the keys
have few digits, whole numbers decide; if not, a point no farther from a facet than rounding counts
as inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import gamma
from headwright.design.separation.few.simplices import ABOVE
from headwright.types import Array, Bool, Float, Int, Keys

# Most digits of keys on a grid; and products of 64-bit integers that leave room for a sum.
_GRID_BITS = 24
_LARGEST_PRODUCT = 2.0**58


@dataclass(frozen=True)
class Grid:
    """Keys with few digits, as whole numbers: every coordinate in units of a power of two of its
    own. None where there are too many digits."""

    whole: Int[Array, "n d"] | None

    @classmethod
    def of(cls, K: Keys) -> Grid:
        exponents = np.frexp(np.abs(K).max(axis=0))[1]
        if not _whole(np.ldexp(K[:1], _GRID_BITS - exponents)).all():
            return cls(None)  # as almost always
        scaled = np.ldexp(K, _GRID_BITS - exponents)
        if not _whole(scaled).all():
            return cls(None)
        whole = scaled.astype(np.int64)
        # The largest power of two that divides them all is not needed.
        digits = np.bitwise_or.reduce(np.abs(whole), axis=0)
        return cls(whole // np.maximum(digits & -digits, 1))

    def combined(
        self,
        points: Int[Array, "a"],
        corners: Int[Array, "f d"],
        which: Int[Array, "a"],
        lam: Float[Array, "a d"],
    ) -> Float[Array, "a d"]:
        """The exact coefficients near lam, rounded once, of points that are convex combinations of
        `corners[which]`; zeros for other points. They are fractions with one denominator D, a minor
        of the matrix of the corners:

        sum_i l_i v_i = D x,   sum_i l_i = D,   l_i = round(D lam_i) >= 0,   in whole numbers."""
        if self.whole is None or len(points) == 0:
            return np.zeros(lam.shape)
        V = self.whole[corners]
        D = np.rint(_largest_minors(V - V[:, :1]))
        # Beyond this the products below would leave 64 bits.
        fits = D * np.abs(self.whole).max() < _LARGEST_PRODUCT
        D = np.where(fits, D, 0).astype(np.int64)[which]
        weights = np.rint(lam * D[:, None]).astype(np.int64)
        balanced = np.einsum("ai,aid->ad", weights, V[which]) == D[:, None] * self.whole[points]
        convex = (weights.sum(axis=1) == D) & (weights >= 0).all(axis=1)
        proven = convex & balanced.all(axis=1) & (D > 0)
        return np.where(proven[:, None], weights / np.maximum(D, 1)[:, None], 0.0)


def _whole(x: Float[Array, "n d"]) -> Bool[Array, "n d"]:
    return np.rint(x) == x


def _largest_minors(E: Int[Array, "f d d"]) -> Float[Array, "f"]:
    """Of the d - 1 edges from the first corner (row 0 is zero): the largest determinant that
    remains when one coordinate is left out."""
    edges = E[:, 1:].astype(float)
    d = E.shape[2]
    minors = [np.abs(np.linalg.det(np.delete(edges, c, axis=2))) for c in range(d)]
    return np.max(minors, axis=0)


def distance_to(
    K: Keys, points: Int[Array, "a"], corners: Int[Array, "a d"], lam: Float[Array, "a d"]
) -> Float[Array, "a"]:
    """How far each point may be from its corners' combination with the weights `lam >= 0` brought
    to sum 1, at most:

    |sum_i w_i (v_i - x)|,   with differences that are exact to one unit."""
    weights = lam / lam.sum(axis=1, keepdims=True)
    apart = K[corners] - K[points][:, None]
    lengths = np.sqrt(np.einsum("aid,aid->ai", apart, apart))
    missed = np.einsum("ai,aid->ad", weights, apart)
    error = gamma(K.shape[1] + 2) * np.einsum("ai,ai->a", weights, lengths)
    return (np.sqrt(np.einsum("ad,ad->a", missed, missed)) + error) * ABOVE
