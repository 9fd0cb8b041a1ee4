"""One head's problem, in the coordinates that are free: a fixed part of the query, and the rest.

With shares p on S, base key k0 = K[S[0]] and wanted logit differences on S,

    (k_a - k0).q = (ln p_a - bias_a) - (ln p_0 - bias_0),        q = q0 + y

with q0 the least-norm solution and y orthogonal to every k_a - k0. Every other key then has u_i(y)
= c_i - x_i.y with x_i = k0 - k_i and c = u(0), and exactly

    leak / (1 - leak) = sum_{i not in S} exp(u_i(y)),        ||q||^2 = ||q0||^2 + ||y||^2 .

The rows x_i are never formed: one product with K gives them all. Keys of S carry c = -inf, so they
drop out of every sum without copying the keys. (Rejected: eliminating the equalities with a QR of
all keys, n d m work and a second copy of K.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.design.proofs.proof import Contradiction
from headwright.design.target import Bias, PerKey, Shares, Target
from headwright.types import Array, Float, Keys, Query

_EPS = np.finfo(float).eps
# Keys this much farther from the origin than from each other are shifted to k0 before any product.
_FAR = 1e3
# Singular values of unit rows below this (relative) are the rounding of keys that fill a smaller
# space.
_HULL = 1e-13


@dataclass(frozen=True)
class HeadProblem:
    """`K` (perhaps shifted by `k0`), the support, the fixed part `q0`, an orthonormal `basis` (d,
    r) of the differences inside S, and `c` (n,), -inf on S."""

    K: Keys
    support: tuple[int, ...]
    k0: Query
    q0: Query
    basis: Float[Array, "d r"]
    c: PerKey
    twins: tuple[int, ...] = ()  # keys outside S that equal a key of S: x_i is exactly 0
    contradiction: Contradiction | None = None

    @property
    def alone(self) -> bool:
        """No key outside S: there is nothing to leak to."""
        return len(self.support) == self.K.shape[0]

    def off(self, rows: Float[Array, "*b d"]) -> Float[Array, "*b d"]:
        """Remove the components inside span(k_a - k0), twice: once leaves rounding behind."""
        if self.basis.shape[1] >= self.K.shape[1]:
            return np.zeros_like(rows)  # S fills the space: nothing is left to choose
        if self.basis.shape[1]:
            for _ in range(2):
                rows = rows - (rows @ self.basis) @ self.basis.T
        return rows

    def along(self, y: Query) -> PerKey:
        """`X y`, one product with the keys."""
        slope = self.k0 @ y - self.K @ y
        # Equal rows may be summed in different order by the product; an invented difference would
        # separate twins.
        slope[list(self.twins)] = 0.0
        return slope

    def pull(self, lam: PerKey) -> Query:
        """`X' lam` for lam on the simplex."""
        return self.off(self.k0 - lam @ self.K)

    def rows(self, which: Array) -> Float[Array, "r d"]:
        """The rows `x_i` themselves, for a few keys."""
        return self.off(self.k0 - self.K[which])


def head_problem(K: Keys, face: Target, bias: Bias) -> HeadProblem:
    """The problem of the head that serves `face`; `contradiction` is set when the equalities on S
    have no solution."""
    # The shortest key is the base: differences to it keep the digits of keys of very different
    # length.
    order = np.argsort(np.linalg.norm(K[list(face.support)], axis=1), kind="stable")
    support = tuple(face.support[i] for i in order)
    sorted_face = Target(support, face.shares[order])
    goal = sorted_face.goal(bias)
    inside = list(support)
    k0 = K[inside[0]]
    if _far_away(K, k0):
        K = K - k0
        k0 = np.zeros_like(k0)
    basis, q0, contradiction = _equalities(K[inside], goal, support)

    # u_i(0) = (k_i - k0).q0 + bias_i - (bias_0 - ln p_0)
    c = np.full(K.shape[0], goal[0]) if bias is None else bias + goal[0]
    if q0.any():
        c = c + (K @ q0 - k0 @ q0)
    c[inside] = -np.inf
    return HeadProblem(K, support, k0, q0, basis, c, _twins(K, support), contradiction)


def within_hull(problem: HeadProblem) -> HeadProblem | None:
    """The same problem for keys that fill only part of their space: y is kept inside the numerical
    affine hull.

    Directions that the unit rows k_i - k0 fill to less than `_HULL` are rounding, not geometry.
    None if there is no such direction. Costs one singular value decomposition, so it is asked only
    when the plain problem got stuck.
    """
    rows = problem.K - problem.k0
    length = np.linalg.norm(rows, axis=1)
    rows = rows[length > 0] / length[length > 0, None]
    s, right = _singular(rows)
    filled = int(np.sum(s > _HULL * s.max(initial=1.0)))
    empty = right[filled:]
    if not empty.shape[0]:
        return None

    d = problem.K.shape[1]
    basis, _ = np.linalg.qr(np.column_stack([problem.basis, empty.T]))
    return replace(problem, basis=basis[:, :d])


def _singular(rows: Float[Array, "n d"]) -> tuple[Float[Array, "r"], Float[Array, "d d"]]:
    """Singular values, and all right singular vectors."""
    if rows.shape[0] >= rows.shape[1]:
        # The triangle of a QR has the same ones, and the tall factor is never needed.
        rows = np.linalg.qr(rows, mode="r")
    _, s, right = np.linalg.svd(rows, full_matrices=True)
    return s, right


def _twins(K: Keys, support: tuple[int, ...]) -> tuple[int, ...]:
    found: set[int] = set()
    for a in support:
        same = np.flatnonzero(K[:, 0] == K[a, 0])
        equal = np.all(K[same] == K[a], axis=1)
        found.update(same[equal].tolist())
    return tuple(sorted(found - set(support)))


def _far_away(K: Keys, k0: Query) -> bool:
    sample = K[:: max(1, K.shape[0] // 256)] - k0
    spread = np.linalg.norm(sample, axis=1).max()
    return bool(np.linalg.norm(k0) > _FAR * spread > 0)


def _equalities(
    inside: Float[Array, "m d"], goal: Shares, support: tuple[int, ...]
) -> tuple[Float[Array, "d r"], Query, Contradiction | None]:
    """Basis of span(k_a - k0), the least-norm q0, and the contradiction if q0 does not satisfy them
    all.

    Rows are brought to unit length first, so near-duplicates inside S (differences of 1e-9) keep
    their full relative accuracy instead of drowning in the long rows.
    """
    d = inside.shape[1]
    E = inside[1:] - inside[0]
    if not E.shape[0]:
        return np.zeros((d, 0)), np.zeros(d), None
    length = np.linalg.norm(E, axis=1)
    # Two equal keys have no direction; their row 0 = rise stays, with length 1, and contradicts
    # unless rise = 0.
    size = np.where(length > 0, length, 1.0)
    E = E / size[:, None]
    rise = (goal[1:] - goal[0]) / size

    left, s, right = np.linalg.svd(E, full_matrices=False)
    smallest = 8 * max(E.shape) * _EPS * max(s[0], _EPS)
    rank = int(np.sum(s > smallest))
    basis = right[:rank].T
    q0 = basis @ ((left[:, :rank].T @ rise) / s[:rank])

    miss = rise - E @ q0
    goal_rounding = float(np.abs(goal).max() / size.min())
    terms = np.abs(rise).max() + np.linalg.norm(q0) + goal_rounding
    if np.abs(miss).max() <= 64 * max(E.shape) * _EPS * terms:
        return basis, q0, None
    return basis, q0, _contradiction(inside, goal, support, miss / size)


def _contradiction(
    inside: Float[Array, "m d"], goal: Shares, support: tuple[int, ...], nu: Float[Array, "r"]
) -> Contradiction:
    """The part of the goal that the differences cannot produce is orthogonal to them all: nu on the
    keys behind the first, minus its sum on the first."""
    coefficients = np.concatenate([[-nu.sum()], nu]) / np.abs(nu).max()
    longest = max(np.linalg.norm(inside, axis=1).max(), 1e-300)
    residual = float(np.linalg.norm(coefficients @ inside) / longest)
    return Contradiction(support, coefficients, float(coefficients @ goal), residual)
