"""The setting of stations 6 to 12: n = 20 keys with orthonormal means, values e_1 .. e_n (so the
output is the weights), and the slow honest route to every number: draw the keys themselves, attend,
average.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad

from headwright.attention import weights
from headwright.keys import GaussianKeys
from headwright.noise import moments

N, A, B = 20, 0, 1
BETA = 30.0
MEANS = np.eye(N)
BOTH = MEANS[A] + MEANS[B]
TARGET = BOTH / 2
DRAWS, BLOCK = 20_000, 2_000
# A sampled number may be this many standard errors off: one false alarm in 1.7 million
SIGMAS = 5.0
EXACT = 1e-8  # what the exact engine promises


def long_or_short(*who: int) -> GaussianKeys:
    """Keys at their means, but those named have a random length gamma ~ N(1, 1/2)."""
    return GaussianKeys(MEANS).radial(dict.fromkeys(who, 0.5))


def draw_weights(Q: np.ndarray, keys: GaussianKeys, seed: int) -> np.ndarray:
    """Mixed weights of the heads for `DRAWS` draws of all keys in R^d: nothing analytic, and so a
    true check."""
    rng = np.random.default_rng(seed)
    blocks = (keys.sample(rng, BLOCK) for _ in range(DRAWS // BLOCK))
    # z[s, h, i] = k_i . q_h in draw s; the mean over h mixes the heads equally.
    return np.concatenate([weights(np.einsum("snd,hd->shn", K, Q)).mean(axis=1) for K in blocks])


def squared_errors(alpha: np.ndarray) -> np.ndarray | np.float64:
    """|| alpha - target ||^2 of one draw or of many."""
    return ((alpha - TARGET) ** 2).sum(axis=-1)


def exact_squared_error(Q: np.ndarray, keys: GaussianKeys) -> float:
    """E || c - target ||^2 = || E c - target ||^2 + trace Cov(c), from the exact engine."""
    m = moments(Q, keys, MEANS)
    return float(((m.mean - TARGET) ** 2).sum() + np.trace(m.covariance))


def sampled(values: Any) -> tuple[float, float]:
    """Mean, and the tolerance that sampling error deserves."""
    return float(values.mean()), SIGMAS * float(values.std() / np.sqrt(len(values)))


def over_gamma(f: Callable[[float], float]) -> float:
    """E f(gamma) for gamma ~ N(1, 1/2), by adaptive quadrature."""

    def integrand(gamma: float) -> float:
        return f(gamma) * np.exp(-((gamma - 1) ** 2)) / np.sqrt(np.pi)

    return float(quad(integrand, -6, 8, points=[0.0, 1.0], limit=400, epsabs=1e-12)[0])
