"""The nearest reachable mixture, when the exact one is out of reach.

    KL(p || softmax(K q + bias)) = LSE(z) - p.z + sum p ln p

is convex in q; its minimiser is the reachable mixture nearest to p. It is 0 exactly when ln p -
bias lies in col(K) + span(1). If p vanishes somewhere the infimum may lie at infinity: Newton then
stops where nothing is left to gain, and the query is as sharp as rounding lets it matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.target import Bias, PerKey
from headwright.types import Keys, Query

_STEPS = 200
# Gains below this are rounding of a divergence of size one.
_NO_GAIN = 1e-15
# Where no step gains any more, what Newton still promises is below this, or it did not converge.
_LITTLE_GAIN = 1e-10
# Added to the diagonal of the Hessian, times the damping and the mean square of the keys.
_DAMPING_UNIT = 1e-6


@dataclass(frozen=True)
class Nearest:
    """The query, its Kullback-Leibler divergence from the target, and whether Newton ran to its
    end."""

    query: Query
    divergence: float
    converged: bool


def nearest(K: Keys, p: PerKey, bias: Bias = None) -> Nearest:
    """Minimise KL(p || softmax(K q + bias)) by damped Newton."""
    centre = p @ K  # z may be shifted by a constant: centred keys keep the numbers small
    rows = K - centre
    size = float(np.einsum("ij,ij->i", rows, rows).mean()) or 1.0
    q = np.zeros(K.shape[1])
    z = np.zeros(K.shape[0]) if bias is None else bias
    damping = 1e-3
    value, alpha = _divergence(z, p)
    for _ in range(_STEPS):
        gradient = (alpha - p) @ rows
        step = _newton_step(rows, alpha, gradient, damping * _DAMPING_UNIT * size)
        gain = -float(gradient @ step)
        if gain <= _NO_GAIN:
            return Nearest(q, max(value, 0.0), True)
        along = rows @ step
        t = _search(z, along, p, value=value, gain=gain)
        if t == 0.0:
            return Nearest(q, max(value, 0.0), gain <= _LITTLE_GAIN)
        damping = max(damping / 10, 1e-9) if t == 1.0 else damping * 4
        q = q + t * step
        z = z + t * along
        value, alpha = _divergence(z, p)
    return Nearest(q, max(value, 0.0), False)


def _newton_step(rows: Keys, alpha: PerKey, gradient: Query, damping: float) -> Query:
    """The Hessian is Cov_alpha(K)."""
    mean = alpha @ rows
    hessian = (rows * alpha[:, None]).T @ rows - np.outer(mean, mean)
    hessian[np.diag_indices_from(hessian)] += damping
    return -np.linalg.lstsq(hessian, gradient, rcond=None)[0]


def _divergence(z: PerKey, p: PerKey) -> tuple[float, PerKey]:
    """KL(p || alpha), and alpha = softmax(z)."""
    top = z.max()
    e = np.exp(z - top)
    total = e.sum()
    on = p > 0
    # sum p (ln p - ln alpha): term by term, so that an exact match gives 0 and not a difference of
    # large sums
    log_alpha = z[on] - top - np.log(total)
    terms = p[on] * (np.log(p[on]) - log_alpha)
    return float(np.sum(terms)), e / total


def _search(z: PerKey, along: PerKey, p: PerKey, *, value: float, gain: float) -> float:
    """The first of 1, 1/2, 1/4, ... of the step that gains in proportion; 0 if none does."""
    t = 1.0
    for _ in range(60):
        there, _ = _divergence(z + t * along, p)
        if there <= value - 1e-4 * t * gain:
            return t
        t /= 2
    return 0.0
