"""Exact mean and covariance of one head. With S = sum_i e^{z_i}, 1/S = int e^{-tS} dt and t = e^u,

    E[alpha_a]          = int r_a e^Psi du                 Psi(u) = sum_i psi(u + m_i, s_i)
    E[alpha_a^2]        = int w_a e^Psi du
    E[alpha_a alpha_b]  = int r_a r_b e^Psi du             (a != b)

so that, with values counted from any centre,

    Cov[c] = int (sum_a r_a v_a)(sum_b r_b v_b)' e^Psi du + V' diag(D) V,   D_a = int (w_a - r_a^2) e^Psi du >= 0.

`sum_a E[alpha_a] = 1` and `sum_b E[alpha_a alpha_b] = E[alpha_a]` are not imposed: they measure the
error. Keys of equal law are transformed once; nodes are taken in blocks, so that memory does not
grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.noise.head.nodes import Nodes, nodes
from headwright.noise.head.transform import ACCURACY, Transform, transform
from headwright.types import Array, Float, Int

# Rounding and the transform's own error, relative to the spread of the values.
FLOOR = 10 * ACCURACY
_SURE = 9.0  # deviations below its mean at which a logit never is
# Numbers of one table (nodes x keys) in work at once; a dozen tables of 4 MB live at the same time.
_BLOCK = 1 << 19


@dataclass(frozen=True)
class HeadMoments:
    """One head. `first` and `second` bound the error of the mean and of the covariance for values
    that are at most 1 away from their centre; `spread` is how far they really are."""

    weights_mean: Float[Array, "n"]
    weights_square: Float[Array, "n"]  # E[alpha_i^2]
    mean: Float[Array, "v"]
    covariance: Float[Array, "v v"]
    first: float
    second: float
    spread: float


@dataclass(frozen=True)
class Laws:
    """The distinct laws among the keys: how many keys each has, and `which` is the law of each key."""

    m: Float[np.ndarray, "k"]
    s: Float[np.ndarray, "k"]
    count: Float[np.ndarray, "k"]
    which: Int[np.ndarray, "n"]

    def blocks(self, grid: Nodes, top: int) -> Iterator[tuple[slice, Transform]]:
        """The transform on all nodes, some rows of them at a time."""
        rows = max(1, _BLOCK // self.m.size)
        for begin in range(0, grid.u.size, rows):
            part = slice(begin, min(begin + rows, grid.u.size))
            yield part, transform(grid.u[part, None] + self.m, self.s, top=top)


def distinct(m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"]) -> Laws:
    _, first, which, count = np.unique(
        m + 1j * s, return_index=True, return_inverse=True, return_counts=True
    )
    return Laws(m[first], s[first], count.astype(float), which)


@dataclass(frozen=True)
class Integral:
    """The integrand on its nodes: `total` is Psi, `r` is (nodes, keys)."""

    nodes: Nodes
    total: Float[np.ndarray, "u"]
    r: Float[np.ndarray, "u n"]


def integral(m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"]) -> Integral:
    """Tabulate Psi and r, for the double integral between two heads."""
    laws = distinct(m, s)
    grid = nodes(laws.m, laws.s, laws.count)
    total = np.empty(grid.u.size)
    r = np.empty((grid.u.size, m.size))
    for part, t in laws.blocks(grid, top=1):
        total[part] = t.psi @ laws.count
        r[part] = t.r[:, laws.which]
    return Integral(grid, total, r)


@dataclass(frozen=True)
class Integrated:
    """The integrals over u, law by law: `weights` of r, `square` of w, `own` of r^2, `pairs` of r
    sum r, all under e^Psi; the `coarse` ones take every second node. Node by node: `total` is Psi,
    `r_sum` is sum r, `density` is weight times e^Psi, `R` is sum r_a v_a."""

    nodes: Nodes
    count: Float[np.ndarray, "k"]
    total: Float[np.ndarray, "u"]
    density: Float[np.ndarray, "u"]
    r_sum: Float[np.ndarray, "u"]
    R: Float[np.ndarray, "u v"]
    weights: Float[np.ndarray, "k"]
    square: Float[np.ndarray, "k"]
    own: Float[np.ndarray, "k"]
    pairs: Float[np.ndarray, "k"]
    coarse_weights: Float[np.ndarray, "k"]
    coarse_square: Float[np.ndarray, "k"]
    coarse_pairs: Float[np.ndarray, "k"]


def integrate(laws: Laws, grid: Nodes, values: Float[np.ndarray, "k v"]) -> Integrated:
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
        half = np.where(np.arange(part.start, part.stop) % 2 == 0, 2 * density[part], 0.0)
        both = np.stack([density[part], half])
        by_r += np.concatenate([both, both * r_sum[part]]) @ t.r
        by_w += both @ t.w
        own += density[part] @ (t.r * t.r)
    return Integrated(
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
def head_moments(m: Float[np.ndarray, "n"], s: Float[np.ndarray, "n"], V: Any) -> HeadMoments:
    """Mean and covariance of `softmax(z) V` for independent z_i ~ N(m_i, s_i^2); host arrays, every
    key by itself."""
    if m.size == 1 or not s.any():
        return fixed(m, V)
    # Only differences of logits count; they are taken from the key that is most surely high.
    laws = distinct(m - np.max(m - _SURE * s), s)
    # Counted from the output without noise: keys that are masked then count for nothing.
    start = fixed(m, V).mean
    values = np.zeros((laws.m.size, V.shape[1]))
    np.add.at(values, laws.which, V - start)
    one = integrate(laws, nodes(laws.m, laws.s, laws.count), values)
    # sum_i E[alpha_i] is not exactly one, and the mean is the centre for which int R e^Psi du = 0.
    shift = one.density @ one.R / (one.weights @ laws.count)
    R = one.R - one.r_sum[:, None] * shift
    C = V - (start + shift)
    D = (one.square - one.own)[laws.which]
    first, second = errors(one)
    return HeadMoments(
        weights_mean=one.weights[laws.which],
        weights_square=one.square[laws.which],
        mean=start + shift,
        covariance=(R * one.density[:, None]).T @ R + (C * D[:, None]).T @ C,
        first=first,
        second=second,
        spread=float(np.abs(C).max()),
    )


def fixed(m: np.ndarray, V: np.ndarray) -> HeadMoments:
    """No noise, or one key only: plain attention."""
    top = int(m.argmax())
    e = np.exp(m - m[top])
    weights = e / e.sum()
    # Counted from the value of the largest weight: what all values have in common is not rounded n
    # times.
    C = V - V[top]
    shift = weights @ C
    zero = np.zeros((V.shape[1], V.shape[1]))
    spread = float(np.abs(C - shift).max())
    # Sums of n terms of one size, an exponential and a few operations; C may be twice as far as the
    # spread.
    rounding = float(np.finfo(float).eps) * (m.size + 8)
    return HeadMoments(weights, weights**2, V[top] + shift, zero, rounding, rounding, spread)


def errors(one: Integrated) -> tuple[float, float]:
    """What is known about the error: the ends cut off, the rule, and the two identities that must
    hold."""
    count = one.count
    # Mass beyond the ends: 1 - e^Psi on the left, e^Psi (1 + sum r) on the right.
    ends = -np.expm1(one.total[0]) + np.exp(one.total[-1]) * (1.0 + one.r_sum[-1])
    identity = abs(one.weights @ count - 1.0)
    pairs = float(count @ np.abs(one.pairs + one.square - one.own - one.weights))
    first = one.nodes.alias(1)
    second = one.nodes.alias(2)
    if not one.nodes.uniform:
        # An analytic rule squares its error when the step is halved; the constant, below 0.1, is
        # taken as 3.
        half_first = float(count @ np.abs(one.coarse_weights - one.weights))
        half_square = float(count @ np.abs(one.coarse_square - one.square))
        half_pairs = float(count @ np.abs(one.coarse_pairs - one.pairs))
        first = max(first, 3 * half_first**2)
        second = max(second, 3 * (half_square + half_pairs) ** 2)
    return float(first + ends + identity + FLOOR), float(second + ends + pairs + identity + FLOOR)
