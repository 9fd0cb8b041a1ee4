"""The setting of stations 6 to 12: n = 20 keys with orthonormal means, values e_1 .. e_n (so the
output is the weights), and the slow honest route to every number: draw the keys themselves, attend,
average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad

from headwright.attention import multihead, weights
from headwright.keys import GaussianKeys
from headwright.noise import moments
from headwright.tour.station import DRAWN, EXACT, Comparison

N = 20
A = 0
B = 1
BETA = 30.0
MEANS = np.eye(N)
BOTH = MEANS[A] + MEANS[B]
TARGET = BOTH / 2

# The heads of the exercise, one query per row: one that asks for both keys, or one for each
ONE_HEAD = BETA * BOTH[None, :]
TWO_HEADS = BETA * MEANS[[A, B]]

# gamma ~ N(1, 1/2), the random length
LENGTH_VARIANCE = 0.5

DRAWS = 20_000
BLOCK = 2_000  # draws made at a time: 20 x 20 numbers each
# A sampled number may be this many standard errors off: one false alarm in 1.7 million
SIGMAS = 5.0


def long_or_short(*who: int) -> GaussianKeys:
    """Keys at their means, but those named have a random length gamma ~ N(1, 1/2)."""
    variances = dict.fromkeys(who, LENGTH_VARIANCE)
    return GaussianKeys(MEANS).radial(variances)


def draw_weights(Q: np.ndarray, keys: GaussianKeys, seed: int) -> np.ndarray:
    """Mixed weights of the heads for `DRAWS` draws of all keys in R^d: nothing analytic, and so a
    true check."""
    rng = np.random.default_rng(seed)
    mixed = []
    for _ in range(DRAWS // BLOCK):
        K = keys.sample(rng, BLOCK)
        # z[s, h, i] = k_i . q_h in draw s; the mean over h mixes the heads equally.
        alpha = weights(np.einsum("snd,hd->shn", K, Q))
        mixed.append(alpha.mean(axis=1))
    return np.concatenate(mixed)


def draw_lengths(keys: GaussianKeys, seed: int) -> np.ndarray:
    """gamma of key a in `DRAWS` draws."""
    rng = np.random.default_rng(seed)
    return keys.sample(rng, DRAWS)[:, A, A]


def sampled(values: Any) -> tuple[float, float]:
    """Mean, and the tolerance that sampling error deserves."""
    standard_error = float(values.std() / np.sqrt(len(values)))
    return float(values.mean()), SIGMAS * standard_error


def sampled_share(events: np.ndarray) -> tuple[float, float]:
    """How often something happened, and the tolerance of that."""
    return sampled(events.astype(float))


def over_gamma(f: Callable[[float], float]) -> float:
    """E f(gamma) for gamma ~ N(1, 1/2), by adaptive quadrature."""

    def integrand(gamma: float) -> float:
        return f(gamma) * np.exp(-((gamma - 1) ** 2)) / np.sqrt(np.pi)

    integral = quad(integrand, -6, 8, points=[0.0, 1.0], limit=400, epsabs=1e-12)
    return float(integral[0])


def standardised(gamma: float) -> float:
    """(gamma - mean) / deviation of the random length: the argument of the normal law."""
    return (gamma - 1) * math.sqrt(2)


def squared_errors(alpha: np.ndarray) -> np.ndarray | np.float64:
    """|| alpha - target ||^2 of one draw or of many."""
    return ((alpha - TARGET) ** 2).sum(axis=-1)


def exact_squared_error(Q: np.ndarray, keys: GaussianKeys) -> float:
    """E || c - target ||^2 = || E c - target ||^2 + trace Cov(c), from the exact engine."""
    m = moments(Q, keys, MEANS)
    bias = ((m.mean - TARGET) ** 2).sum()
    return float(bias + np.trace(m.covariance))


def squared_error_at(Q: np.ndarray, gamma: float) -> float:
    """|| c - target ||^2 of these heads when key a has this length."""
    K = MEANS.copy()
    K[A] *= gamma
    output = multihead(Q, K, MEANS).output
    return float(squared_errors(output))


def squared_error_by_routes(quantity: str, Q: np.ndarray, seed: int) -> Comparison:
    """E || c - target ||^2 of these heads, key a of random length."""
    keys = long_or_short(A)
    drawn, tolerance = sampled(squared_errors(draw_weights(Q, keys, seed)))
    routes = {
        "exact": exact_squared_error(Q, keys),
        "integral over gamma": over_gamma(lambda gamma: squared_error_at(Q, gamma)),
        DRAWN: drawn,
    }
    return Comparison(quantity, routes, tolerance + EXACT)
