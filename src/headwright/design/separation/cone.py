"""Do unit vectors surround the origin? Either some y has `a_i . y < 0` for all i, or `sum_i lam_i
a_i = 0` with lam >= 0, sum lam = 1. One strictly convex problem finds whichever holds:

    min over lam >= 0 of   |A' lam|^2 / 2 + (1 - sum lam)^2 / 2 + ridge |lam|^2 / 2 .

Its dual has one variable s = (y, t) and `lam = max(A y + t, 0)`, and is piecewise quadratic, so
Newton's method ends after a handful of steps. A step needs the active rows only: their Gram matrix
while they are few, the d x d normal matrix otherwise. Rejected: min-norm-point and simplex methods,
which add one row per step (several hundred steps at d = 384), and log-sum-exp Newton, whose Hessian
is never sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_lapack_funcs

from headwright.types import Array, Float, Query

# Tried in turn: a large ridge keeps steps well conditioned, a small one resolves thin margins.
_RIDGES = (1e-4, 1e-7, 1e-10)
_MOST_STEPS = 60
# Below this share of d + 1 active rows the Gram matrix is cheaper than the normal matrix.
_GRAM_SHARE = 0.8
# From so many active rows per column on, their normal matrix is so well conditioned that steps in
# single precision are as good: their error shrinks with the steps.
_WELL_CONDITIONED = 1.5
# Refinements of weights, and the residual that single precision may leave: far below the smallest
# share that `surrounds` can prove.
_REFINEMENTS = 3
_BALANCED = 1e-9
_SOLVERS = {
    np.dtype(t): get_lapack_funcs(("potrf", "potrs"), dtype=t) for t in (np.float32, np.float64)
}


@dataclass(frozen=True)
class Balance:
    """`direction` y with `A y < 0`; or `surrounded`, and `shares` are lam with `A' lam = 0` up to
    rounding. When neither was found the shares still name the rows that matter, for an exact method
    to start from."""

    direction: Query | None
    surrounded: bool
    shares: Float[Array, "w"]
    state: Float[Array, "c"]  # the dual variable, to start from when rows are added


def balance(A: Float[Array, "w d"], start: Float[Array, "c"] | None = None) -> Balance:
    """Separate the rows of A (unit vectors) from the origin, or surround it by them."""
    B = np.empty((len(A), A.shape[1] + 1))
    B[:, :-1] = A
    B[:, -1] = 1.0
    rows = _ActiveRows(B)
    s = rows.minimiser(_RIDGES[0]) if start is None else start
    for ridge in _RIDGES:
        s = _newton(rows, ridge=ridge, s=s)
        z = B @ s
        if (z - s[-1]).max() < 0:
            return Balance(direction=s[:-1], surrounded=False, shares=_shares(z), state=s)
        lam = rows.exact_weights(z > 0)
        if lam is not None:
            return Balance(direction=None, surrounded=True, shares=_shares(lam), state=s)
    return Balance(direction=None, surrounded=False, shares=_shares(z), state=s)


def _shares(z: np.ndarray) -> np.ndarray:
    lam = np.maximum(z, 0.0)
    return lam / max(lam.sum(), np.finfo(float).tiny)


def _newton(rows: _ActiveRows, *, ridge: float, s: np.ndarray) -> np.ndarray:
    """Minimise `ridge |s|^2 / 2 - t + |max(B s, 0)|^2 / 2`; stop early once all rows are
    separated."""
    B = rows.B
    z = B @ s
    for _ in range(_MOST_STEPS):
        active = z > 0
        step = rows.step(active, ridge, s=s, z=z)
        dz = B @ step
        tau = _line_search(s, step, z=z, dz=dz, ridge=ridge)
        s = s + tau * step
        z = z + tau * dz
        separated = (z - s[-1]).max() < 0
        # Where the same rows are active at both ends the objective is one quadratic between them.
        settled = np.array_equal(z > 0, active)
        if separated or settled:
            break
    return s


class _ActiveRows:
    """Linear systems on some rows of B. Their normal matrix is kept: from step to step few rows
    come and go."""

    def __init__(self, B: np.ndarray) -> None:
        self.B = B
        self._rows = B
        self._active = np.zeros(len(B), bool)
        self._normal = np.zeros((B.shape[1], B.shape[1]))

    def step(self, active: np.ndarray, ridge: float, *, s: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Newton's: to the minimiser while the active rows stay the active ones,

        (ridge I + B'B)^-1 (e - ridge s - B'z),   e the last unit vector, z = B s."""
        count = int(active.sum())
        d = self.B.shape[1]
        if count < _GRAM_SHARE * d:
            return self._by_gram_matrix(active, ridge) - s
        rest = -(np.where(active, z, 0.0) @ self.B) - ridge * s
        rest[-1] += 1.0
        H = self._normal_matrix(active).copy()
        H.flat[:: d + 1] += ridge
        return _solve(H, rest)

    def minimiser(self, ridge: float) -> np.ndarray:
        """If all rows were active."""
        count, d = self.B.shape
        everywhere = np.ones(count, bool)
        return self.step(everywhere, ridge, s=np.zeros(d), z=np.zeros(count))

    def _by_gram_matrix(self, active: np.ndarray, ridge: float) -> np.ndarray:
        # Woodbury: (ridge I + B'B)^-1 e = (e - B'(ridge I + BB')^-1 B e) / ridge, and B e = 1.
        B = self.B[active]
        G = B @ B.T
        G.flat[:: len(B) + 1] += ridge
        inner = _solve(G, np.ones(len(B))) if len(B) else np.zeros(0)
        s = -(inner @ B)
        s[-1] += 1.0
        return s / ridge

    def _normal_matrix(self, active: np.ndarray) -> np.ndarray:
        joined = np.flatnonzero(active & ~self._active)
        left = np.flatnonzero(self._active & ~active)
        count = int(active.sum())
        coarse = count >= _WELL_CONDITIONED * self.B.shape[1]
        precision = np.dtype(np.float32 if coarse else np.float64)
        if precision != self._normal.dtype:
            self._rows = self.B.astype(precision, copy=False)
            self._normal = self._product(np.flatnonzero(active))
        elif len(joined) + len(left) < count:
            self._normal += self._product(joined)
            self._normal -= self._product(left)
        else:
            self._normal = self._product(np.flatnonzero(active))
        self._active = active
        return self._normal

    def _product(self, rows: np.ndarray) -> np.ndarray:
        B = self._rows if len(rows) == len(self._rows) else self._rows[rows]
        return B.T @ B

    def exact_weights(self, active: np.ndarray) -> np.ndarray | None:
        """Without the ridge: `lam = B s` with `B'B s = e` on the active rows solves `B' lam = e`.
        Positive, or None."""
        P = self.B[active]
        if len(P) < P.shape[1]:
            return None
        normal = self._normal_matrix(active)
        lam = _weights(P, normal)
        coarse = normal.dtype == np.float32
        if coarse and (lam is None or np.abs(_missing(P, lam)).max() > _BALANCED):
            lam = _weights(P, P.T @ P)
        if lam is None or lam.min() <= 0:
            return None
        weights = np.zeros(len(self.B))
        weights[active] = lam
        return weights


def _weights(P: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    """`lam = P s` with `P' lam = e`, refined; None if P has dependent columns."""
    factor, back = _SOLVERS[normal.dtype]
    triangle, failed = factor(normal.T, lower=1)
    if failed:
        return None
    lam = np.zeros(len(P))
    for _ in range(_REFINEMENTS):
        correction, _ = back(triangle, _missing(P, lam), lower=1)
        lam = lam + P @ correction
    return lam


def _missing(P: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """`e - P' lam`."""
    missing = -(lam @ P)
    missing[-1] += 1.0
    return missing


def _solve(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    factor, back = _SOLVERS[M.dtype]
    triangle, failed = factor(M.T, lower=1)  # symmetric, and the transpose is in LAPACK's order
    if failed:
        return np.linalg.lstsq(M, b, rcond=None)[0]
    return back(triangle, b, lower=1)[0]


def _line_search(
    s: np.ndarray, step: np.ndarray, *, z: np.ndarray, dz: np.ndarray, ridge: float
) -> float:
    """The whole step when the objective still falls at its end, else its minimum along the step:
    Newton's method on the slope, which is piecewise linear and increasing, kept inside a shrinking
    bracket."""
    linear = ridge * (s @ step) - step[-1]
    quadratic = ridge * (step @ step)
    low, high = 0.0, 1.0
    tau = 1.0
    for _ in range(_MOST_STEPS):
        positive = np.maximum(z + tau * dz, 0.0)
        slope = linear + tau * quadratic + positive @ dz
        if tau == 1.0 and slope <= 0:
            return 1.0
        if slope > 0:
            high = tau
        else:
            low = tau
        rising = dz[positive > 0]
        goal = tau - slope / (quadratic + rising @ rising)
        if not low < goal < high:
            goal = (low + high) / 2
        if abs(goal - tau) <= 1e-9:
            break
        tau = goal
    return tau
