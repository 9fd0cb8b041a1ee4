"""What float64 arithmetic proves. Both verdicts of the reachability engine rest on a-priori error
bounds, never on a tolerance: a computed number counts only when it clears the largest error its
computation can have.

    gamma_m = m u / (1 - m u),   u = 2^-53:   |fl(x.y) - x.y| <= gamma_m |x|.|y|   in any order of summation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from headwright.types import Float

UNIT = 2.0**-53
# Products this small may have lost digits to underflow, which the bounds above ignore.
TINY = np.finfo(float).tiny * 2.0**60
(_factor,) = get_lapack_funcs(("potrf",), dtype=float)


def gamma(m: int) -> float:
    return m * UNIT / (1 - m * UNIT)


def certain_margins(
    K: Float[np.ndarray, "n d"], base: Float[np.ndarray, "d"], q: Float[np.ndarray, "d"]
) -> Float[np.ndarray, "n"]:
    """Lower bounds on `(base - k_i) . q` that hold in exact arithmetic. The difference of two
    floats is accurate to one unit in the last place of each coordinate, so the bound shrinks with
    the difference, not with the keys."""
    X = base - K
    error = gamma(K.shape[1] + 3) * np.linalg.norm(X, axis=1) * np.linalg.norm(q)
    return X @ q - error * (1 + 1e-6) - TINY


def surrounds(
    rows: Float[np.ndarray, "r d"], lam: Float[np.ndarray, "r"], free: Float[np.ndarray, "f d"]
) -> bool:
    """True proves: positive coefficients near `lam` on the vectors behind `rows`, and free ones on
    those behind `free`, sum to exactly 0. Rows are unit vectors, each correct to 4 units per
    coordinate; sum lam = 1.

    With residual `r = sum lam a + sum mu e` and `H = sum lam a a' + sum e e'`, the corrections
    `-lam_i a_i'H^-1 r` and `-e'H^-1 r` remove it, and keep `lam_i (1 - a_i'H^-1 r) > 0` when `|r| <
    lambda_min(H)`. `lambda_min(H) > theta` is proven by a Cholesky factorisation of `H - theta I`
    that runs to its end.
    """
    (count, d), mu = rows.shape, np.zeros(len(free))
    if len(free):
        mu = -np.linalg.lstsq(free.T, lam @ rows, rcond=None)[0]
    residual = lam @ rows + mu @ free
    weight = 1.0 + np.abs(mu).sum()
    slack = gamma(count + len(free) + d + 20) * (1 + 1e-6)
    H = (rows * lam[:, None]).T @ rows + free.T @ free
    # The errors of H, of its factorisation and of the rows are each at most slack times the trace 1
    # + f.
    theta = np.linalg.norm(residual) * (1 + 1e-6) + slack * (weight + 4 * (1 + len(free)))
    H.flat[:: d + 1] -= theta
    return bool(lam.min() > TINY) and _factor(H, lower=1)[1] == 0
