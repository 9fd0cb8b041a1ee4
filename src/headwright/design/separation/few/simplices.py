"""Simplices between an apex c within the hull and facets (d corners v_i each): where a point x lies
in one of them,

    x - c = sum_i lam_i (v_i - c),

with the largest error of the coordinates lam. Inside: lam_i > 0 and sum lam < 1, each by more than
that error. The apex is a combination of corners with uneven weights, so that few keys of a lattice
lie between two simplices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.design.proofs.float_bounds import gamma
from headwright.types import Array, Float, Int, Keys, Query

# Corners whose combination is the apex: enough for it to lie well inside.
_APEX_CORNERS = 64
ABOVE = 1 + 1e-6  # room for the rounding of a norm or of a bound itself


@dataclass(frozen=True)
class Apex:
    """The point `weights @ X[corners]`, for points X no longer than `size`."""

    X: Keys
    size: float
    corners: Int[Array, "v"]
    weights: Float[Array, "v"]

    @classmethod
    def within(cls, X: Keys, *, size: float, corners: Int[Array, "c"]) -> Apex:
        some = np.linspace(0, len(corners) - 1, min(len(corners), _APEX_CORNERS))
        weights = np.random.default_rng(0).uniform(0.5, 1.5, len(some))
        return cls(X, size, corners[some.astype(int)], weights / weights.sum())

    @cached_property
    def point(self) -> Query:
        return self.weights @ self.X[self.corners]

    @property
    def blur(self) -> float:
        """How far a computed `x - c` may be off: the weights of c, their sum, and the products."""
        return gamma(2 * len(self.corners) + 10) * self.size

    def seen(self, points: Int[Array, "*p"]) -> Float[Array, "*p d"]:
        return self.X[points] - self.point


@dataclass(frozen=True)
class Inverses:
    """Of matrices M with rows v_i - c: Z near the inverse of M, `bound >= |M^-1|` and `defect >= |Z
    M - I|`; an infinite bound where the floats do not tell:

    |M^-1| <= 2 |Z|  if  |Z M - I| <= 1/2."""

    M: Float[Array, "f d d"]
    Z: Float[Array, "f d d"]
    lengths: Float[Array, "f"]  # |Z|
    bound: Float[Array, "f"]
    defect: Float[Array, "f"]

    @classmethod
    def of(cls, apex: Apex, corners: Int[Array, "f d"]) -> Inverses:
        d = corners.shape[1]
        M = apex.seen(corners)
        flat = np.linalg.det(M) == 0
        M[flat] = np.eye(d)
        Z = np.linalg.inv(M)
        lengths = _sizes(Z)
        defect = _sizes(Z @ M - np.eye(d))
        # Rounding of the product, and every row of M that is known up to its blur.
        defect += lengths * (gamma(d + 2) * _sizes(M) + d * apex.blur)
        unknown = flat | ~(defect <= 0.5)
        return cls(M, Z, lengths, np.where(unknown, np.inf, 2 * lengths), defect)


def _sizes(M: Float[Array, "f d d"]) -> Float[Array, "f"]:
    """Frobenius norms, rounded up: above the spectral ones."""
    return np.sqrt(np.einsum("fde,fde->f", M, M)) * ABOVE


def coordinates(
    apex: Apex, points: Int[Array, "a"], corners: Int[Array, "f d"], which: Int[Array, "a"]
) -> tuple[Float[Array, "a d"], Float[Array, "a"]]:
    """lam of each point in the simplex `corners[which]`, and the largest error of a coordinate and
    of their sum's d-th part:

    |lam - exact| <= |M^-1| |lam M - (x - c)|."""
    d = corners.shape[1]
    inverses = Inverses.of(apex, corners)
    x = apex.seen(points)
    lam = np.einsum("ad,ade->ae", x, inverses.Z[which])
    residual = np.einsum("ae,aed->ad", lam, inverses.M[which]) - x
    total = np.abs(lam).sum(axis=1) + 1
    rounding = (2 * gamma(d + 4) * apex.size + apex.blur) * total
    missed = np.sqrt(np.einsum("ad,ad->a", residual, residual)) * ABOVE + rounding
    return lam, inverses.bound[which] * missed * ABOVE + gamma(d + 4) * total
