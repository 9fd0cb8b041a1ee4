"""Proposing a split of m keys among h heads: two small mixed-integer programmes for HiGHS.

Binary x[a, h] says that head h serves key a. They know nothing of geometry but the cuts: sets no
head may serve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from headwright.types import Array, Float


@dataclass(frozen=True)
class Cut:
    """No head may serve all of `keys`; with `whole`, no head may serve exactly `keys` and nothing
    else."""

    keys: frozenset[int]
    whole: bool = False

    def row(self, m: int) -> Float[Array, "1 m"]:
        row = np.full((1, m), -1.0 if self.whole else 0.0)
        row[0, sorted(self.keys)] = 1.0
        return row


def partition(
    count: int, shares: Float[Array, "m"], cuts: list[Cut], seconds: float
) -> Float[Array, "m h"] | str:
    """Every key in one head, every head serves somebody. The shares served, or "none", or "time"."""
    m = shares.shape[0]
    give, take, forbid, limits = _shape(count, m, cuts)
    rows = [LinearConstraint(give, 1, 1), LinearConstraint(take, 1, np.inf)]
    if cuts:
        rows.append(LinearConstraint(forbid, -np.inf, limits))
    # Heads are interchangeable: key a sits in one of the first a + 1 heads.
    upper = np.tril(np.ones((m, count))).ravel()
    x = _solve(rows, upper, np.ones(m * count), seconds)
    return x if isinstance(x, str) else np.round(x.reshape(m, count)) * shares[:, None]


def flow(
    count: int, shares: Float[Array, "m"], cuts: list[Cut], seconds: float
) -> Float[Array, "m h"] | str:
    """Heads of equal weight: key a gives its share, head h takes 1 / h, and only from the keys it
    serves."""
    m = shares.shape[0]
    give, take, forbid, limits = _shape(count, m, cuts)
    size = m * count
    one = sparse.eye(size, format="csr")
    # A key that a head serves gets a real share of it, or the part tested would not be the part
    # used.
    least = 1e-3 * float(shares.min()) / count
    rows = [
        LinearConstraint(sparse.hstack([0 * give, give]), shares, shares),
        LinearConstraint(sparse.hstack([0 * take, take]), 1 / count, 1 / count),
        LinearConstraint(sparse.hstack([-one, one]), -np.inf, 0),
        LinearConstraint(sparse.hstack([-least * one, one]), 0, np.inf),
    ]
    if cuts:
        rows.append(LinearConstraint(sparse.hstack([forbid, 0 * forbid]), -np.inf, limits))
    integral = np.concatenate([np.ones(size), np.zeros(size)])
    x = _solve(rows, np.ones(2 * size), integral, seconds)
    if isinstance(x, str):
        return x
    return np.where(np.round(x[:size]) > 0, x[size:], 0.0).reshape(m, count)


def _shape(count: int, m: int, cuts: list[Cut]) -> tuple[Any, Any, Any, Float[Array, "r"]]:
    """Sums over heads (m rows), sums over keys (h rows), and every cut for every head."""
    eye = sparse.eye(count)
    give, take = sparse.kron(sparse.eye(m), np.ones((1, count))), sparse.kron(np.ones((1, m)), eye)
    forbid = sparse.vstack([sparse.kron(cut.row(m), eye) for cut in cuts]) if cuts else None
    return give, take, forbid, np.repeat([len(cut.keys) - 1.0 for cut in cuts], count)


def _solve(
    rows: list[LinearConstraint], upper: Array, integral: Array, seconds: float
) -> Array | str:
    cost, options = np.zeros(upper.shape[0]), {"time_limit": seconds}
    answer = milp(
        cost, constraints=rows, bounds=Bounds(0, upper), integrality=integral, options=options
    )
    if answer.x is not None:
        return answer.x
    return "none" if answer.status == 2 else "time"
