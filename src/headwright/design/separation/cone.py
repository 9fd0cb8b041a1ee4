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
_factor, _back = get_lapack_funcs(("potrf", "potrs"), dtype=float)


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
    B = np.hstack([A, np.ones((len(A), 1))])
    rows = _ActiveRows(B)
    s = rows.minimiser(np.ones(len(B), bool), _RIDGES[0]) if start is None else start
    z = B @ s
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
        step = rows.minimiser(active, ridge) - s
        dz = B @ step
        tau = _line_search(s, step, z=z, dz=dz, ridge=ridge)
        s = s + tau * step
        z = z + tau * dz
        separated = (z - s[-1]).max() < 0
        settled = tau == 1.0 and np.array_equal(z > 0, active)
        if separated or settled:
            break
    return s


class _ActiveRows:
    """Linear systems on some rows of B. Their normal matrix is kept: from step to step few rows
    come and go."""

    def __init__(self, B: np.ndarray) -> None:
        self.B = B
        self._active = np.zeros(len(B), bool)
        self._normal = np.zeros((B.shape[1], B.shape[1]))

    def minimiser(self, active: np.ndarray, ridge: float) -> np.ndarray:
        """`(ridge I + B'B)^-1 e` on the active rows, e the last unit vector: the minimiser while
        they stay the active ones."""
        count = int(active.sum())
        d = self.B.shape[1]
        if count < _GRAM_SHARE * d:
            # Woodbury: (ridge I + B'B)^-1 e = (e - B'(ridge I + BB')^-1 B e) / ridge, and B e = 1.
            B = self.B[active]
            G = B @ B.T
            G.flat[:: count + 1] += ridge
            inner = _solve(G, np.ones(count)) if count else np.zeros(0)
            s = -(inner @ B)
            s[-1] += 1.0
            return s / ridge
        e = np.zeros(d)
        e[-1] = 1.0
        H = self._normal_matrix(active).copy()
        H.flat[:: d + 1] += ridge
        return _solve(H, e)

    def _normal_matrix(self, active: np.ndarray) -> np.ndarray:
        joined = np.flatnonzero(active & ~self._active)
        left = np.flatnonzero(self._active & ~active)
        if len(joined) + len(left) < active.sum():
            self._normal += self._product(joined)
            self._normal -= self._product(left)
        else:
            self._normal = self._product(np.flatnonzero(active))
        self._active = active
        return self._normal

    def _product(self, rows: np.ndarray) -> np.ndarray:
        B = self.B if len(rows) == len(self.B) else self.B[rows]
        return B.T @ B

    def exact_weights(self, active: np.ndarray) -> np.ndarray | None:
        """Without the ridge: `lam = B s` with `B'B s = e` on the active rows solves `B' lam = e`.
        Positive, or None."""
        P = self.B[active]
        if len(P) < P.shape[1]:
            return None
        factor, failed = _factor(self._normal_matrix(active).T, lower=1)
        if failed:
            return None
        lam = np.zeros(len(P))
        missing = np.zeros(P.shape[1])
        missing[-1] = 1.0
        for _ in range(2):  # one step of refinement
            correction, _ = _back(factor, missing, lower=1)
            lam = lam + P @ correction
            missing = -(lam @ P)
            missing[-1] += 1.0
        if lam.min() <= 0:
            return None
        weights = np.zeros(len(self.B))
        weights[active] = lam
        return weights


def _solve(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    factor, failed = _factor(M.T, lower=1)  # symmetric, and the transpose is in LAPACK's order
    if failed:
        return np.linalg.lstsq(M, b, rcond=None)[0]
    return _back(factor, b, lower=1)[0]


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
