"""What float64 arithmetic proves. The verdicts of `separation` and the bounds of the certificate
rest on a-priori error bounds, never on a tolerance: a computed number counts only when it clears
the largest error its computation can have.

    gamma_m = m u / (1 - m u),   u = 2^-53:
    |fl(x.y) - x.y| <= gamma_m |x|.|y|   in any order of summation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from headwright.design.target import PerKey
from headwright.types import Array, Float, Keys, Query

UNIT = 2.0**-53
# Products this small may have lost digits to underflow, which the bounds above ignore.
TINY = np.finfo(float).tiny * 2.0**60
# Bound on the relative error of exp and log of one double; the libraries in use stay below 4 units.
EXP_ERROR = 16 * UNIT
# Room for the rounding of a norm or of a bound itself.
_ABOVE = 1 + 1e-6
(_factor,) = get_lapack_funcs(("potrf",), dtype=float)


def gamma(m: int) -> float:
    return m * UNIT / (1 - m * UNIT)


def norm_of(x: Query) -> float:
    return float(np.linalg.norm(x))


def longest_row(rows: Keys) -> float:
    return float(np.linalg.norm(rows, axis=1).max())


def largest_size(x: Array) -> float:
    return float(np.abs(x).max())


def sum_of_sizes(x: Array) -> float:
    return float(np.abs(x).sum())


def certain_margins(K: Keys, base: Query, q: Query) -> PerKey:
    """Lower bounds on `(base - k_i) . q` that hold in exact arithmetic. The difference of two
    floats is accurate to one unit in the last place of each coordinate, so the bound shrinks with
    the difference, not with the keys."""
    X = base - K
    unit = gamma(K.shape[1] + 3)
    error = unit * np.linalg.norm(X, axis=1) * np.linalg.norm(q)
    return X @ q - error * _ABOVE - TINY


def surrounds(rows: Float[Array, "r d"], lam: Float[Array, "r"], free: Float[Array, "f d"]) -> bool:
    """True proves: positive coefficients near `lam` on the vectors behind `rows`, and free ones on
    those behind `free`, sum to exactly 0. Rows are unit vectors, each correct to 4 units per
    coordinate; sum lam = 1.

    With residual `r = sum lam a + sum mu e` and `H = sum lam a a' + sum e e'`, the corrections
    `-lam_i a_i'H^-1 r` and `-e'H^-1 r` remove it, and keep `lam_i (1 - a_i'H^-1 r) > 0` when `|r| <
    lambda_min(H)`. `lambda_min(H) > theta` is proven by a Cholesky factorisation of `H - theta I`
    that runs to its end.
    """
    count, d = rows.shape
    mu = np.zeros(len(free))
    if len(free):
        mu = -np.linalg.lstsq(free.T, lam @ rows, rcond=None)[0]
    residual = lam @ rows + mu @ free
    weight = 1.0 + np.abs(mu).sum()
    slack = gamma(count + len(free) + d + 20) * _ABOVE
    weighted = rows * np.sqrt(lam)[:, None]
    H = weighted.T @ weighted + free.T @ free

    # The errors of H, of its factorisation and of the rows are each at most slack times the trace 1
    # + f.
    errors = slack * (weight + 4 * (1 + len(free)))
    theta = np.linalg.norm(residual) * _ABOVE + errors
    H.flat[:: d + 1] -= theta
    _, failed = _factor(H.T, lower=1)  # symmetric, and the transpose is in LAPACK's order
    return bool(lam.min() > TINY) and failed == 0
