"""E[c . c'] of two heads correlated through their keys, and its derivatives with respect to the law
of the logits.

Each key enters through a_jk = E[e^{jy + ky'} exp(-e^y - e^{y'})], and the derivatives of these are
of the same kind: X a_jk = j a_jk - a_{j+1,k} for the first mean, Y likewise for the second, X^2/2,
Y^2/2 and XY for the variances and the covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.errors import HeadwrightError
from headwright.noise.gradient.head import HeadTable, LogitsGradient
from headwright.noise.heads.bivariate import bivariate
from headwright.noise.heads.pair import TINY, ratio
from headwright.types import Float

# Keys whose mean weight stays below this in both heads have no gradient worth a table
_SILENT = 1e-12
_MEMORY = 2 << 30  # bytes of tables


@dataclass(frozen=True)
class PairGradient:
    value: float
    first: LogitsGradient
    second: LogitsGradient
    covariances: Float[np.ndarray, "n"]


def pair_gradient(
    g: HeadTable, h: HeadTable, c: Float[np.ndarray, "n"], V: Float[np.ndarray, "n v"]
) -> PairGradient:
    """`E[c_g . c_h]` and its derivatives; `c` is the covariance of the two logits of each key."""
    heard = np.flatnonzero(np.maximum(g.weights, h.weights) > _SILENT)
    rest = np.setdiff1d(np.arange(c.size), heard)
    if 16 * 8 * heard.size * g.nodes.u.size * h.nodes.u.size > _MEMORY:
        raise HeadwrightError(
            f"wanted heads correlated through few keys; got {heard.size} keys that matter; "
            "try: fewer keys, or queries along which the noise is uncorrelated"
        )
    tables = [
        bivariate(
            (g.nodes, h.nodes),
            np.array([g.m[i], h.m[i]]),
            np.array([g.s[i], h.s[i]]),
            c=c[i],
            top=3,
        )
        for i in heard
    ]
    total = g.t.psi[:, rest].sum(axis=1)[:, None] + h.t.psi[:, rest].sum(axis=1)[None, :]
    total = total + sum(np.log(np.maximum(t[0, 0], TINY)) for t in tables)
    density = g.nodes.weight[:, None] * h.nodes.weight[None, :] * np.exp(total)
    rho, rho_ = (np.stack([ratio(t, *jk) for t in tables], axis=-1) for jk in ((1, 0), (0, 1)))
    R = (g.t.r[:, rest] @ V[rest])[:, None, :] + rho @ V[heard]
    S = (h.t.r[:, rest] @ V[rest])[None, :, :] + rho_ @ V[heard]
    squares = (V * V).sum(axis=1)
    inside = (R * S).sum(axis=-1)
    for i, t in zip(heard, tables, strict=True):
        inside += squares[i] * (ratio(t, 1, 1) - ratio(t, 1, 0) * ratio(t, 0, 1))
    by_log = density * inside
    parts = np.zeros((5, c.size))
    for i, t in zip(heard, tables, strict=True):
        by_rho = density * (S @ V[i] - squares[i] * ratio(t, 0, 1))
        by_rho_ = density * (R @ V[i] - squares[i] * ratio(t, 1, 0))
        parts[:, i] = _key(t, by_log, by_rho, by_rho_, density * squares[i])
    first, second = LogitsGradient(parts[0], parts[1]), LogitsGradient(parts[2], parts[3])
    return PairGradient(float(by_log.sum()), first, second, parts[4])


def _key(t, by_log, by_rho, by_rho_, by_tau) -> list[float]:
    """Derivatives with respect to m, s^2, m', s'^2 and c of one key."""
    b = {(j, k): ratio(t, j, k) for j in range(4) for k in range(4) if j + k <= 4}
    # d(a_jk/Phi) = (d a_jk)/Phi - (a_jk/Phi) (d Phi)/Phi: what multiplies dPhi/Phi is gathered
    # first.
    seen = {(0, 0): by_log - by_rho * b[1, 0] - by_rho_ * b[0, 1] - by_tau * b[1, 1]}
    seen |= {(1, 0): by_rho, (0, 1): by_rho_, (1, 1): by_tau}
    moves = (
        lambda j, k: j * b[j, k] - b[j + 1, k],
        lambda j, k: 0.5 * (j * j * b[j, k] - (2 * j + 1) * b[j + 1, k] + b[j + 2, k]),
        lambda j, k: k * b[j, k] - b[j, k + 1],
        lambda j, k: 0.5 * (k * k * b[j, k] - (2 * k + 1) * b[j, k + 1] + b[j, k + 2]),
        lambda j, k: j * k * b[j, k] - j * b[j, k + 1] - k * b[j + 1, k] + b[j + 1, k + 1],
    )
    return [sum(float((by * move(j, k)).sum()) for (j, k), by in seen.items()) for move in moves]
