"""Weights of one query from both sides, in one pass over the keys: the certificate's first route.

Rounding is bounded a priori. With unit roundoff u and gamma_d = d u / (1 - d u), any order of
summation gives

    |z_hat_i - z_i| <= |scale| (gamma_{d+2} + t) ||k_i|| ||q|| + 4 u (|z_i| + |bias_i|) =: delta_i

for all keys within t = KEY_ROUNDING of those given. Every weight then lies between what z - delta
on its own side and z + delta on the other give, and the leak is at most

    leak <= N / (N + B)
    N = sum_{i not in S} exp(z_i + delta_i),    B = sum_{a in S} exp(z_a - delta_a) .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.float_bounds import EXP_ERROR, UNIT, gamma, norm_of
from headwright.design.proofs.reached import KEY_ROUNDING
from headwright.design.target import Bias, PerKey, Shares
from headwright.types import Keys, Query

# Stands for what underflow took from a product.
_UNDERFLOW = 1e-300


@dataclass(frozen=True)
class Bounds:
    """Of one query, or of a mix: the weight outside the target, and the weight of each key inside,
    from both sides."""

    least_leak: float
    leak: float
    low: Shares
    high: Shares


def float_weight_bounds(q: Query, K: Keys, inside: list[int], scale: float, bias: Bias) -> Bounds:
    """The leak and the weights inside, from both sides, for one query."""
    z = scale * (K @ q)
    if bias is not None:
        z = z + bias
    delta = _logit_error(q, K, scale, z, bias)
    top = z.max()
    # z - top rounds once more.
    delta += 4 * UNIT * (np.abs(z) + abs(top))

    # What underflows to 0 is not 0: an upper bound stays above the smallest double.
    up = np.exp(z + delta - top) * (1 + EXP_ERROR) + np.finfo(float).tiny
    down = np.exp(z - delta - top) * (1 - EXP_ERROR)
    return _normalised(up, down, inside)


def _normalised(up: PerKey, down: PerKey, inside: list[int]) -> Bounds:
    """Bounds on the weights, from bounds on their exponentials."""
    inner_up = up[inside]
    inner_down = down[inside]
    up[inside] = 0.0
    down[inside] = 0.0

    sums = 1.0 + 2 * (len(up) + 4) * UNIT
    most_out = float(up.sum()) * sums
    least_out = float(down.sum()) / sums
    most_in = float(inner_up.sum()) * sums
    least_in = float(inner_down.sum()) / sums
    if not (np.isfinite(most_out) and np.isfinite(most_in) and least_in > 0.0):
        return Bounds(0.0, 1.0, np.zeros(len(inside)), np.ones(len(inside)))

    leak = most_out / (most_out + least_in) * (1 + EXP_ERROR)
    least = least_out / (least_out + most_in) * (1 - EXP_ERROR)
    # A weight is least where it is itself low and all others high, and the other way round.
    rest_up = most_out + np.maximum(most_in - inner_up, 0.0)
    rest_down = np.maximum(least_out + least_in - inner_down, 0.0)
    low = inner_down / (inner_down + rest_up) * (1 - EXP_ERROR)
    high = inner_up / (inner_up + rest_down) * (1 + EXP_ERROR)
    return Bounds(least, min(leak, 1.0), low, np.minimum(high, 1.0))


def _logit_error(q: Query, K: Keys, scale: float, z: PerKey, bias: Bias) -> PerKey:
    rounding = gamma(K.shape[1] + 2) + KEY_ROUNDING
    lengths = np.sqrt(np.einsum("ij,ij->i", K, K))
    # 1.01: the lengths are themselves rounded (relative error gamma_d).
    per_length = 1.01 * rounding * abs(scale) * norm_of(q)
    product = per_length * lengths + _UNDERFLOW
    shift = 0.0 if bias is None else np.abs(bias)
    return product + 4 * UNIT * (np.abs(z) + shift)
