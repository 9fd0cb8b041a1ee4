"""Exact mean and covariance of one head. With S = sum_i e^{z_i}, 1/S = int e^{-tS} dt and t = e^u,

    E[alpha_a]          = int r_a e^Psi du                 Psi(u) = sum_i psi(u + m_i, s_i)
    E[alpha_a^2]        = int w_a e^Psi du
    E[alpha_a alpha_b]  = int r_a r_b e^Psi du             (a != b)

so that, with values counted from any centre,

    Cov[c] = int (sum_a r_a v_a)(sum_b r_b v_b)' e^Psi du + V' diag(D) V,
    D_a    = int (w_a - r_a^2) e^Psi du >= 0.

`sum_a E[alpha_a] = 1` and `sum_b E[alpha_a alpha_b] = E[alpha_a]` are not imposed: they measure the
error. Keys of equal law are transformed once; nodes are taken in blocks, so that memory does not
grow with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.noise import budget
from headwright.noise.head.laws import Laws, distinct
from headwright.noise.head.nodes import Nodes
from headwright.noise.head.transform import ACCURACY
from headwright.types import (
    Covariance,
    Float,
    HostPerKey,
    HostPerLaw,
    HostPerNode,
    HostTable,
    Mean,
    PerKey,
)

# Rounding and the transform's own error, relative to the size of the values.
FLOOR = 10 * ACCURACY
_SURE = 9.0  # deviations below its mean at which a logit never is


@dataclass(frozen=True)
class HeadMoments:
    """One head. `first` and `second` bound the error of the mean and of the covariance for values
    that are at most 1 away from the mean; `farthest` is how far they really are."""

    weights_mean: PerKey
    weights_square: PerKey  # E[alpha_i^2]
    mean: Mean
    covariance: Covariance
    first: float
    second: float
    farthest: float


@dataclass(frozen=True)
class Integrand:
    """The integrand on its nodes: `total` is Psi, `r` is (nodes, keys)."""

    nodes: Nodes
    total: HostPerNode
    r: HostTable


def tabulate(m: HostPerKey, s: HostPerKey) -> Integrand:
    """Psi and r node by node, for the double integral between two heads."""
    laws = distinct(m, s)
    grid = laws.nodes()
    total = np.empty(grid.u.size)
    r = np.empty((grid.u.size, m.size))
    for part, t in laws.blocks(grid, top=1):
        total[part] = t.psi @ laws.count
        r[part] = t.r[:, laws.which]
    return Integrand(grid, total, r)


@dataclass(frozen=True)
class Integrals:
    """The integrals over u, law by law: `weights` of r, `square` of w, `own` of r^2, `pairs` of r
    sum r, all under e^Psi; the `coarse` ones take every second node. Node by node: `total` is Psi,
    `r_sum` is sum r, `density` is weight times e^Psi, `R` is sum r_a v_a."""

    nodes: Nodes
    count: HostPerLaw
    total: HostPerNode
    density: HostPerNode
    r_sum: HostPerNode
    R: Float[np.ndarray, "u v"]
    weights: HostPerLaw
    square: HostPerLaw
    own: HostPerLaw
    pairs: HostPerLaw
    coarse_weights: HostPerLaw
    coarse_square: HostPerLaw
    coarse_pairs: HostPerLaw


def integrate(laws: Laws, grid: Nodes, values: Float[np.ndarray, "k v"]) -> Integrals:
    """One pass over the nodes; `values` are the sums of the values of each law."""
    total, density, r_sum = np.empty((3, grid.u.size))
    R = np.empty((grid.u.size, values.shape[1]))
    by_r = np.zeros((4, laws.m.size))
    by_w = np.zeros((2, laws.m.size))
    own = np.zeros(laws.m.size)

    for part, t in laws.blocks(grid, top=2):
        total[part] = t.psi @ laws.count
        density[part] = grid.weight[part] * np.exp(total[part])
        r_sum[part] = t.r @ laws.count
        R[part] = t.r @ values
        even = np.arange(part.start, part.stop) % 2 == 0
        coarse = np.where(even, 2 * density[part], 0.0)
        both = np.stack([density[part], coarse])
        with_others = both * r_sum[part]
        by_r += np.concatenate([both, with_others]) @ t.r
        by_w += both @ t.w
        own += density[part] @ (t.r * t.r)

    return Integrals(
        nodes=grid,
        count=laws.count,
        total=total,
        density=density,
        r_sum=r_sum,
        R=R,
        weights=by_r[0],
        square=by_w[0],
        own=own,
        pairs=by_r[2],
        coarse_weights=by_r[1],
        coarse_square=by_w[1],
        coarse_pairs=by_r[3],
    )


@np.errstate(over="ignore")  # differences of means of 1e308
def head_moments(m: HostPerKey, s: HostPerKey, V: Any) -> HeadMoments:
    """Mean and covariance of `softmax(z) V` for independent z_i ~ N(m_i, s_i^2); host arrays, every
    key by itself."""
    if m.size == 1 or not s.any():
        return without_noise(m, V)
    # Only differences of logits count; they are taken from the key that is most surely high.
    laws = distinct(m - np.max(m - _SURE * s), s)

    # Counted from the output without noise: keys that are masked then count for nothing.
    start = without_noise(m, V).mean
    found = integrate(laws, laws.nodes(), laws.added(V - start))

    # sum_i E[alpha_i] is not exactly one, and the mean is the centre for which int R e^Psi du = 0.
    shift = found.density @ found.R / (found.weights @ laws.count)
    mean = start + shift
    R = found.R - found.r_sum[:, None] * shift
    C = V - mean
    D = (found.square - found.own)[laws.which]
    common = (R * found.density[:, None]).T @ R
    own = (C * D[:, None]).T @ C
    first, second = errors(found)
    return HeadMoments(
        weights_mean=found.weights[laws.which],
        weights_square=found.square[laws.which],
        mean=mean,
        covariance=common + own,
        first=first + budget.MOVED_MEAN * laws.moved,
        second=second + budget.MOVED_COVARIANCE * laws.moved,
        farthest=float(np.abs(C).max()),
    )


def without_noise(m: np.ndarray, V: np.ndarray) -> HeadMoments:
    """No noise, or one key only: plain attention."""
    top = int(m.argmax())
    e = np.exp(m - m[top])
    weights = e / e.sum()

    # Counted from the value of the largest weight: what all values have in common is not rounded n
    # times.
    C = V - V[top]
    shift = weights @ C
    # Sums of n terms of one size, an exponential and a few operations; C may be twice as far as the
    # farthest value is from the mean.
    rounding = float(np.finfo(float).eps) * (m.size + 8)
    return HeadMoments(
        weights_mean=weights,
        weights_square=weights**2,
        mean=V[top] + shift,
        covariance=np.zeros((V.shape[1], V.shape[1])),
        first=rounding,
        second=rounding,
        farthest=float(np.abs(C - shift).max()),
    )


def errors(found: Integrals) -> tuple[float, float]:
    """What is known about the error: the ends cut off, the rule, and the two identities that must
    hold."""
    count = found.count
    ends = beyond_the_ends(found.total, found.r_sum)
    identity = abs(found.weights @ count - 1.0)
    unmatched = found.pairs + found.square - found.own - found.weights
    pairs = float(count @ np.abs(unmatched))

    first = found.nodes.alias(1)
    second = found.nodes.alias(2)
    if not found.nodes.uniform:
        # An analytic rule squares its error when the step is halved; the constant, below 0.1, is
        # taken as 3.
        half_first = float(count @ np.abs(found.coarse_weights - found.weights))
        half_square = float(count @ np.abs(found.coarse_square - found.square))
        half_pairs = float(count @ np.abs(found.coarse_pairs - found.pairs))
        first = max(first, 3 * half_first**2)
        second = max(second, 3 * (half_square + half_pairs) ** 2)

    first = float(first + ends + identity + FLOOR)
    second = float(second + ends + pairs + identity + FLOOR)
    return first, second


def beyond_the_ends(total: HostPerNode, r_sum: HostPerNode) -> float:
    """Mass beyond the ends: 1 - e^Psi on the left, e^Psi (1 + sum r) on the right."""
    left = -np.expm1(total[0])
    right = np.exp(total[-1]) * (1.0 + r_sum[-1])
    return left + right
