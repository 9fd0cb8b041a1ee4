"""The nearest reachable mixture, when the exact one is out of reach.

    KL(p || softmax(K q + bias)) = LSE(z) - p.z + sum p ln p

is convex in q; its minimiser is the reachable mixture nearest to p. It is 0 exactly when ln p -
bias lies in col(K) + span(1). If p vanishes somewhere the infimum may lie at infinity: Newton then
stops where nothing is left to gain, and the query is as sharp as rounding lets it matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.types import Array, Float, Keys, Query

_STEPS = 200
# Gains below this are rounding of a divergence of size one.
_NO_GAIN = 1e-15


@dataclass(frozen=True)
class Nearest:
    """The query, its Kullback-Leibler divergence from the target, and whether Newton ran to its
    end."""

    query: Query
    divergence: float
    converged: bool


def nearest(K: Keys, p: Float[Array, "n"], bias: Float[Array, "n"] | None = None) -> Nearest:
    """Minimise KL(p || softmax(K q + bias)) by damped Newton."""
    centre = p @ K  # z may be shifted by a constant: centred keys keep the numbers small
    rows = K - centre
    b = np.zeros(K.shape[0]) if bias is None else bias
    size = float(np.einsum("ij,ij->i", rows, rows).mean()) or 1.0
    q, z, damping = np.zeros(K.shape[1]), b, 1e-3
    value, alpha = _divergence(z, p)
    for _ in range(_STEPS):
        # gradient K'(alpha - p), Hessian Cov_alpha(K)
        gradient = (alpha - p) @ rows
        mean = alpha @ rows
        hessian = (rows * alpha[:, None]).T @ rows - np.outer(mean, mean)
        hessian[np.diag_indices_from(hessian)] += damping * 1e-6 * size
        step = -np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        gain = -float(gradient @ step)
        if gain <= _NO_GAIN:
            return Nearest(q, max(value, 0.0), True)
        t, along = _search(z, rows @ step, p, value=value, gain=gain)
        if t == 0.0:
            return Nearest(q, max(value, 0.0), gain <= 1e-10)
        damping = max(damping / 10, 1e-9) if t == 1.0 else damping * 4
        q, z = q + t * step, z + t * along
        value, alpha = _divergence(z, p)
    return Nearest(q, max(value, 0.0), False)


def _divergence(z: Float[Array, "n"], p: Float[Array, "n"]) -> tuple[float, Float[Array, "n"]]:
    top = z.max()
    e = np.exp(z - top)
    total = e.sum()
    on = p > 0
    # sum p (ln p - ln alpha): term by term, so that an exact match gives 0 and not a difference of
    # large sums
    log_alpha = z[on] - top - np.log(total)
    return float(np.sum(p[on] * (np.log(p[on]) - log_alpha))), e / total


def _search(
    z: Float[Array, "n"],
    along: Float[Array, "n"],
    p: Float[Array, "n"],
    *,
    value: float,
    gain: float,
) -> tuple[float, Float[Array, "n"]]:
    t = 1.0
    for _ in range(60):
        if _divergence(z + t * along, p)[0] <= value - 1e-4 * t * gain:
            return t, along
        t /= 2
    return 0.0, along
