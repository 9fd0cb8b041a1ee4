"""Exact mean and covariance of one head. With S = sum_i e^{z_i}, 1/S = int e^{-tS} dt and t = e^u,

    E[alpha_a]          = int r_a e^Psi du                 Psi(u) = sum_i psi(u + m_i, s_i)
    E[alpha_a^2]        = int w_a e^Psi du
    E[alpha_a alpha_b]  = int r_a r_b e^Psi du             (a != b)

so that, with values counted from any centre,

    Cov[c] = int (sum_a r_a v_a)(sum_b r_b v_b)' e^Psi du + V' diag(D) V,   D_a = int (w_a - r_a^2) e^Psi du >= 0.

`sum_a E[alpha_a] = 1` and `sum_b E[alpha_a alpha_b] = E[alpha_a]` are not imposed: they measure the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.noise.nodes import Nodes, nodes
from headwright.noise.transform import ACCURACY, transform
from headwright.types import Array, Float

# Rounding and the transform's own error, relative to the spread of the values.
FLOOR = 10 * ACCURACY


@dataclass(frozen=True)
class HeadMoments:
    """One head. `first` and `second` bound the error of the mean and of the covariance for values that are at
    most 1 away from their centre; `spread` is how far they really are."""

    weights_mean: Float[Array, "n"]
    weights_square: Float[Array, "n"]  # E[alpha_i^2]
    mean: Float[Array, "v"]
    covariance: Float[Array, "v v"]
    first: float
    second: float
    spread: float


@dataclass(frozen=True)
class Integral:
    """The integrand on its nodes: `density` is weight times e^Psi, `r` and `w` are (nodes, keys)."""

    nodes: Nodes
    total: Float[np.ndarray, "u"]  # Psi
    r: Float[np.ndarray, "u n"]
    w: Float[np.ndarray, "u n"]

    @property
    def density(self) -> Float[np.ndarray, "u"]:
        return self.nodes.weight * np.exp(self.total)


def integral(m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"]) -> Integral:
    """Tabulate Psi, r and w. Keys of equal law are computed once."""
    _, first, where, count = np.unique(m + 1j * s, return_index=True, return_inverse=True, return_counts=True)
    grid = nodes(m[first], s[first], count.astype(float))
    t = transform(grid.u[:, None] + m[first], s[first])
    return Integral(grid, t.psi @ count, t.r[:, where], t.w[:, where])


def head_moments(m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"], V: Any) -> HeadMoments:
    """Mean and covariance of `softmax(z) V` for independent z_i ~ N(m_i, s_i^2); host arrays, every key by itself."""
    if m.size == 1 or not s.any():
        return fixed(m, V)
    return from_integral(integral(m, s), V)


def from_integral(
    one: Integral, V: Float[np.ndarray, "n v"], *, missed: tuple[float, float] = (0.0, 0.0)
) -> HeadMoments:
    """Moments from the tabulated integrand; `missed` is the error of the table (first and second moments)."""
    density = one.density
    weights = density @ one.r
    square = density @ one.w
    centre = weights @ V / weights.sum()
    C = V - centre
    R = one.r @ C
    mean_shift = density @ R
    D = square - density @ (one.r * one.r)
    covariance = (R * density[:, None]).T @ R + (C * D[:, None]).T @ C - np.outer(mean_shift, mean_shift)
    first, second = errors(one, weights, square, D)
    return HeadMoments(
        weights_mean=weights,
        weights_square=square,
        mean=centre + mean_shift,
        covariance=covariance,
        first=first + missed[0],
        second=second + missed[1],
        spread=float(np.abs(C).max()),
    )


def fixed(m: np.ndarray, V: np.ndarray) -> HeadMoments:
    """No noise, or one key only: plain attention."""
    e = np.exp(m - m.max())
    weights = e / e.sum()
    mean = weights @ V
    rounding = float(np.finfo(float).eps) * (4 + np.abs(m).max() * (m.size > 1))
    zero = np.zeros((V.shape[1], V.shape[1]))
    spread = float(np.abs(V - mean).max())
    return HeadMoments(weights, weights**2, mean, zero, rounding, rounding, spread)


def errors(one: Integral, weights, square, D) -> tuple[float, float]:
    """What is known about the error: the ends cut off, the rule, and the two identities that must hold."""
    total, r_sum = one.total, one.r.sum(axis=1)
    # Mass beyond the ends: 1 - e^Psi on the left, e^Psi (1 + sum r) on the right.
    ends = -np.expm1(total[0]) + np.exp(total[-1]) * (1.0 + r_sum[-1])
    identity = abs(weights.sum() - 1.0)
    pairs = float(np.abs(one.density * r_sum @ one.r + D - weights).sum())
    first, second = one.nodes.alias(1), one.nodes.alias(2)
    if not one.nodes.uniform:
        # An analytic rule squares its error when the step is halved; the constant, below 0.1, is taken as 3.
        half = np.zeros_like(one.density)
        half[::2] = 2 * one.density[::2]
        first = max(first, 3 * float(np.abs(half @ one.r - weights).sum()) ** 2)
        second = max(
            second,
            3 * float(np.abs(half @ one.w - square).sum() + np.abs((half - one.density) * r_sum @ one.r).sum()) ** 2,
        )
    return float(first + ends + identity + FLOOR), float(second + ends + pairs + identity + FLOOR)
