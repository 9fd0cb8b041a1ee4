"""Orthonormal keys: how sharp is sharp enough, in closed form.

For `q = beta * sum_{a in S} k_a`, m = |S|, every a in S gets `e^beta / (n - m + m e^beta)`, so

    leak(beta) = (n - m) / (n - m + m e^beta)
    beta(leak) = ln( (n - m)(1 - leak) / (m leak) )

and "beta >> 0" has a number. Scores multiplied by `scale` (say 1/sqrt d) need `beta / scale`. A
mixture p on S takes `q = sum_a (beta + ln(m p_a)) k_a`: its terms on S add up to `sum_a m p_a
e^beta = m e^beta`, and the same formulas hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright import attention, inputs
from headwright.design.target import any_target
from headwright.errors import InputError
from headwright.types import Float


@dataclass(frozen=True)
class ClosedForm:
    """A query for orthonormal keys, with the leak it has by formula and the weights it really
    gives."""

    query: Float[np.ndarray, "d"]
    sharpness: float
    leak: float
    weights: Float[np.ndarray, "n"]


def sharpness(n: int, *, leak: float, m: int = 1, scale: float = 1.0) -> float:
    """The smallest beta >= 0 that leaves at most `leak` outside m of n orthonormal keys."""
    _counts(n, m)
    leak = inputs.number("leak", leak, low=0.0, high=1.0, open_ends=True)
    scale = inputs.number("scale", scale, low=0.0, high=math.inf, open_ends=True)
    if n == m:
        return 0.0
    kept = math.log((n - m) / m) + math.log1p(-leak)
    beta = kept - math.log(leak)
    return max(0.0, beta) / scale


def leak(n: int, *, sharpness: float, m: int = 1, scale: float = 1.0) -> float:
    """The mass outside m of n orthonormal keys at a given beta: `1 / (1 + m e^beta / (n - m))`."""
    _counts(n, m)
    beta = inputs.number("sharpness", sharpness) * inputs.number("scale", scale)
    if n == m:
        return 0.0
    log_odds = beta + math.log(m / (n - m))
    return float(np.exp(-np.logaddexp(0.0, log_odds)))


def horizon(lead: float, *, leak: float) -> float:
    """The dispersion horizon n*: a key that leads all others by `lead` keeps weight >= 1 - leak iff
    n <= n*.

    n* = 1 + leak / (1 - leak) * e^lead
    """
    lead = inputs.number("lead", lead)
    leak = inputs.number("leak", leak, low=0.0, high=1.0, open_ends=True)
    with np.errstate(over="ignore"):
        return float(1.0 + leak / (1.0 - leak) * np.exp(lead))


def query(target: Any, K: Any, *, leak: float, scale: float = 1.0) -> ClosedForm:
    """The explicit query for `target`: a key's number (copy), a list (average) or `{key: share}`
    (mixture)."""
    _, (K,) = inputs.arrays(K=K)
    K = np.asarray(inputs.shape("K", K, "n", "d"), dtype=float)
    n = len(K)
    _orthonormal(K)
    shares = any_target(target, n).by_key()

    # For equal shares ln(m p_a) = 0, and this is beta * sum k_a.
    m = len(shares)
    beta = sharpness(n, leak=leak, m=m)
    heights = np.array([beta + math.log(m * p) for p in shares.values()])
    q = heights @ K[list(shares)] / scale

    weights = attention.attend(q, K, np.eye(n), scale=scale).weights
    reached = 1.0 / (1.0 + m * math.exp(beta) / (n - m)) if n > m else 0.0
    return ClosedForm(query=q, sharpness=beta / scale, leak=reached, weights=weights)


def _orthonormal(K: Float[np.ndarray, "n d"]) -> None:
    off = float(np.abs(K @ K.T - np.eye(len(K))).max())
    if off > 1e-8:
        raise InputError(
            wanted="orthonormal keys (K K' = I)",
            got=f"K K' differs from I by {off:.2g}",
            attempt="hw.design.copy / average / mixture handle any keys",
        )


def _counts(n: int, m: int) -> None:
    if n < 1 or not 1 <= m <= n:
        raise InputError(
            wanted="1 <= m <= n keys",
            got=f"n = {n}, m = {m}",
            attempt="count the keys in S and in all",
        )
