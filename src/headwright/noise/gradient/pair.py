"""E[c . c'] of two heads correlated through their keys, and its derivatives with respect to the law
of the logits.

Each key enters through a_jk = E[e^{jy + ky'} exp(-e^y - e^{y'})], and the derivatives of these are
of the same kind: X a_jk = j a_jk - a_{j+1,k} for the first mean, Y likewise for the second, X^2/2,
Y^2/2 and XY for the variances and the covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.errors import HeadwrightError
from headwright.noise.gradient.head import HeadTable, LogitsGradient
from headwright.noise.heads.bivariate import PairTable, bivariate
from headwright.noise.heads.pair import TINY, OnPairs, ratio
from headwright.types import HostPerKey, HostValues

# Keys whose mean weight stays below this in both heads have no gradient worth a table
_SILENT = 1e-12
_MEMORY = 2 << 30  # bytes of tables


@dataclass(frozen=True)
class PairGradient:
    """E[c_g . c_h], its derivatives by the logits of either head, and by their covariances."""

    value: float
    first: LogitsGradient
    second: LogitsGradient
    covariances: HostPerKey


def pair_gradient(g: HeadTable, h: HeadTable, c: HostPerKey, V: HostValues) -> PairGradient:
    """`E[c_g . c_h]` and its derivatives; `c` is the covariance of the two logits of each key."""
    heard = np.flatnonzero(np.maximum(g.weights, h.weights) > _SILENT)
    if 16 * 8 * heard.size * g.nodes.u.size * h.nodes.u.size > _MEMORY:
        raise HeadwrightError(
            f"wanted heads correlated through few keys; got {heard.size} keys that matter; "
            "try: fewer keys, or queries along which the noise is uncorrelated"
        )
    tables = [_table(g, h, i, c[i]) for i in heard]
    density = _density(g, h, heard, tables)
    rho = np.stack([ratio(t, 1, 0) for t in tables], axis=-1)
    rho_ = np.stack([ratio(t, 0, 1) for t in tables], axis=-1)
    rest = np.setdiff1d(np.arange(c.size), heard)
    R_rest = g.t.r[:, rest] @ V[rest]
    S_rest = h.t.r[:, rest] @ V[rest]
    R = R_rest[:, None, :] + rho @ V[heard]
    S = S_rest[None, :, :] + rho_ @ V[heard]

    squares = (V * V).sum(axis=1)
    inside = (R * S).sum(axis=-1)
    for i, t in zip(heard, tables, strict=True):
        apart = ratio(t, 1, 0) * ratio(t, 0, 1)
        alone = ratio(t, 1, 1) - apart
        inside += squares[i] * alone
    by_log = density * inside

    parts = np.zeros((5, c.size))
    for i, t in zip(heard, tables, strict=True):
        by = _By(
            log=by_log,
            rho=density * (S @ V[i] - squares[i] * ratio(t, 0, 1)),
            rho_=density * (R @ V[i] - squares[i] * ratio(t, 1, 0)),
            tau=density * squares[i],
        )
        parts[:, i] = _of_one_key(t, by)
    first = LogitsGradient(parts[0], parts[1])
    second = LogitsGradient(parts[2], parts[3])
    return PairGradient(float(by_log.sum()), first, second, parts[4])


def _table(g: HeadTable, h: HeadTable, i: Any, c: float) -> PairTable:
    """The two logits of key i on all pairs of nodes."""
    m = np.array([g.m[i], h.m[i]])
    s = np.array([g.s[i], h.s[i]])
    return bivariate((g.nodes, h.nodes), m, s, c=c, top=3)


def _density(g: HeadTable, h: HeadTable, heard: np.ndarray, tables: list[PairTable]) -> OnPairs:
    """Weights of the nodes times e^Psi."""
    rest = np.setdiff1d(np.arange(g.m.size), heard)
    rows = g.t.psi[:, rest].sum(axis=1)
    columns = h.t.psi[:, rest].sum(axis=1)
    total = rows[:, None] + columns[None, :]
    phis = [np.maximum(t[0, 0], TINY) for t in tables]
    total = total + sum(np.log(phi) for phi in phis)
    of_rows = g.nodes.weight[:, None]
    weight = of_rows * h.nodes.weight[None, :]
    return weight * np.exp(total)


@dataclass(frozen=True)
class _By:
    """Derivatives of the functional with respect to ln Phi, rho, rho' and tau of one key."""

    log: OnPairs
    rho: OnPairs
    rho_: OnPairs
    tau: OnPairs


def _of_one_key(t: PairTable, by: _By) -> list[float]:
    """Derivatives with respect to m, s^2, m', s'^2 and c of one key."""
    b = {(j, k): ratio(t, j, k) for j in range(4) for k in range(4) if j + k <= 4}
    # d(a_jk/Phi) = (d a_jk)/Phi - (a_jk/Phi) (d Phi)/Phi: what multiplies dPhi/Phi is gathered
    # first.
    by_phi = by.log - by.rho * b[1, 0]
    by_phi = by_phi - by.rho_ * b[0, 1]
    by_phi = by_phi - by.tau * b[1, 1]
    seen = {(0, 0): by_phi, (1, 0): by.rho, (0, 1): by.rho_, (1, 1): by.tau}

    def by_m(j: int, k: int) -> OnPairs:
        return j * b[j, k] - b[j + 1, k]

    def by_s(j: int, k: int) -> OnPairs:
        twice = j * j * b[j, k] - (2 * j + 1) * b[j + 1, k]
        return 0.5 * (twice + b[j + 2, k])

    def by_m_(j: int, k: int) -> OnPairs:
        return k * b[j, k] - b[j, k + 1]

    def by_s_(j: int, k: int) -> OnPairs:
        twice = k * k * b[j, k] - (2 * k + 1) * b[j, k + 1]
        return 0.5 * (twice + b[j, k + 2])

    def by_c(j: int, k: int) -> OnPairs:
        first = j * k * b[j, k] - j * b[j, k + 1]
        return first - k * b[j + 1, k] + b[j + 1, k + 1]

    found = []
    for move in (by_m, by_s, by_m_, by_s_, by_c):
        terms = [weight * move(j, k) for (j, k), weight in seen.items()]
        found.append(sum(float(term.sum()) for term in terms))
    return found
