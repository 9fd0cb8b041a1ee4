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

from headwright.design.target import Shares
from headwright.types import Array, Float

# What each head serves of every key's share.
Served = Float[Array, "m h"]
_INFEASIBLE = 2  # a status of HiGHS
# A key that a head serves gets at least this part of the smallest share, or the part tested would
# not be the part used.
_REAL_SHARE = 1e-3


@dataclass(frozen=True)
class Cut:
    """No head may serve all of `keys`; with `whole`, no head may serve exactly `keys` and nothing
    else."""

    keys: frozenset[int]
    whole: bool = False

    def row(self, m: int) -> Float[Array, "1 m"]:
        others = -1.0 if self.whole else 0.0
        row = np.full((1, m), others)
        row[0, sorted(self.keys)] = 1.0
        return row


@dataclass(frozen=True)
class _Sums:
    """Matrices on x: sums over heads (m rows), sums over keys (h rows), and every cut for every
    head, with its limit."""

    over_heads: Any
    over_keys: Any
    cuts: Any
    limits: Float[Array, "r"]

    @classmethod
    def of(cls, count: int, m: int, cuts: list[Cut]) -> _Sums:
        one_head = sparse.eye(count)
        over_heads = sparse.kron(sparse.eye(m), np.ones((1, count)))
        over_keys = sparse.kron(np.ones((1, m)), one_head)
        forbidden = [sparse.kron(cut.row(m), one_head) for cut in cuts]
        stacked = sparse.vstack(forbidden) if cuts else None
        limits = np.repeat([len(cut.keys) - 1.0 for cut in cuts], count)
        return cls(over_heads, over_keys, stacked, limits)


def partition(count: int, shares: Shares, cuts: list[Cut], seconds: float) -> Served | str:
    """Every key in one head, every head serves somebody. The shares served, or "none" or "time"."""
    m = shares.shape[0]
    sums = _Sums.of(count, m, cuts)
    rules = [
        LinearConstraint(sums.over_heads, 1, 1),
        LinearConstraint(sums.over_keys, 1, np.inf),
    ]
    if cuts:
        rules.append(LinearConstraint(sums.cuts, -np.inf, sums.limits))
    # Heads are interchangeable: key a sits in one of the first a + 1 heads.
    upper = np.tril(np.ones((m, count))).ravel()
    x = _solve(rules, upper, np.ones(m * count), seconds)
    if isinstance(x, str):
        return x
    return np.round(x.reshape(m, count)) * shares[:, None]


def flow(count: int, shares: Shares, cuts: list[Cut], seconds: float) -> Served | str:
    """Heads of equal weight: key a gives its share, head h takes 1 / h, and only from the keys it
    serves. Unknowns: x, then how much of its share each key gives each head."""
    m = shares.shape[0]
    sums = _Sums.of(count, m, cuts)
    size = m * count
    one = sparse.eye(size, format="csr")
    least = _REAL_SHARE * float(shares.min()) / count
    given = sparse.hstack([0 * sums.over_heads, sums.over_heads])
    taken = sparse.hstack([0 * sums.over_keys, sums.over_keys])
    rules = [
        LinearConstraint(given, shares, shares),
        LinearConstraint(taken, 1 / count, 1 / count),
        LinearConstraint(sparse.hstack([-one, one]), -np.inf, 0),
        LinearConstraint(sparse.hstack([-least * one, one]), 0, np.inf),
    ]
    if cuts:
        forbidden = sparse.hstack([sums.cuts, 0 * sums.cuts])
        rules.append(LinearConstraint(forbidden, -np.inf, sums.limits))

    integral = np.concatenate([np.ones(size), np.zeros(size)])
    x = _solve(rules, np.ones(2 * size), integral, seconds)
    if isinstance(x, str):
        return x
    serves = np.round(x[:size]) > 0
    return np.where(serves, x[size:], 0.0).reshape(m, count)


def _solve(
    rules: list[LinearConstraint], upper: Array, integral: Array, seconds: float
) -> Array | str:
    """Any x that obeys the rules, or "none" or "time"."""
    answer = milp(
        np.zeros(upper.shape[0]),
        constraints=rules,
        bounds=Bounds(0, upper),
        integrality=integral,
        options={"time_limit": seconds},
    )
    if answer.x is not None:
        return answer.x
    return "none" if answer.status == _INFEASIBLE else "time"
