"""Derivatives of one head's moments with respect to the law of its logits.

Expectations under a Gaussian obey the heat equation, d/d(s^2) = (1/2) d^2/dm^2, and with a_k =
E[e^{ky} exp(-e^y)]

    a_k' = k a_k - a_{k+1},

so every derivative of psi, r and w is again a combination of the ratios b_k = a_k / phi. Nothing is
differenced.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.noise.head.nodes import STEP, Nodes, nodes
from headwright.noise.head.transform import Transform, transform
from headwright.types import HostMean, HostPerKey, HostPerNode, HostValues


@dataclass(frozen=True)
class LogitsGradient:
    """Derivatives with respect to the mean and to the variance of each logit."""

    means: HostPerKey
    variances: HostPerKey

    def plus(self, factor: float, other: LogitsGradient) -> LogitsGradient:
        """This gradient and `factor` times another."""
        means = self.means + factor * other.means
        return LogitsGradient(means, self.variances + factor * other.variances)


@dataclass(frozen=True)
class HeadTable:
    """One head on its nodes: psi and the ratios b_1 .. b_4 of every key."""

    m: HostPerKey
    s: HostPerKey
    nodes: Nodes
    t: Transform

    @cached_property
    def density(self) -> HostPerNode:
        """Weight of a node times e^Psi."""
        return self.nodes.weight * np.exp(self.t.psi.sum(axis=1))

    @cached_property
    def weights(self) -> HostPerKey:
        """E[alpha]"""
        return self.density @ self.t.r

    @cached_property
    def diagonal(self) -> HostPerKey:
        """D = int (w - r^2) e^Psi"""
        return self.density @ (self.t.w - self.t.r**2)

    def slopes(self, V: HostValues) -> HostValues:
        """dE[c]/dm_a = E[alpha_a (v_a - c)]
        = (E alpha_a - D_a) v_a - int r_a (sum_b r_b v_b) e^Psi"""
        R = self.t.r @ V
        own = (self.weights - self.diagonal)[:, None] * V
        weighted = self.density[:, None] * R
        return own - self.t.r.T @ weighted


def head_table(
    m: HostPerKey, s: HostPerKey, *, step: float = STEP, bend: float | None = None
) -> HeadTable:
    """Nodes of one head, and everything that its derivatives need on them."""
    grid = nodes(m, s, np.ones(m.size), step=step, bend=bend)
    t = transform(grid.u[:, None] + m, s, top=4)
    return HeadTable(m, s, grid, t)


def head_gradient(
    head: HeadTable, V: HostValues, linear: HostMean, quadratic: float
) -> tuple[float, LogitsGradient]:
    """`E[|c|^2]`, and the gradient of `linear . E[c] + quadratic E[|c|^2]`."""
    r, w, b3, b4 = head.t.ratios
    squares = (V * V).sum(axis=1)
    R = r @ V
    alone = (w - r * r) @ squares
    size = (R * R).sum(axis=1) + alone
    density = head.density[:, None]

    # The functional is int e^Psi [linear . R + quadratic (|R|^2 + sum_a (w_a - r_a^2) |v_a|^2)];
    # its derivatives:
    by_psi = density * (R @ linear + quadratic * size)[:, None]
    of_squares = 2 * quadratic * (R @ V.T - r * squares)
    by_r = density * ((V @ linear)[None, :] + of_squares)
    by_w = density * (quadratic * squares)[None, :]

    # d/dm: psi' = -r, r' = r + r^2 - w, w' = 2w - b3 + w r
    means = -by_psi * r
    means += by_r * (r + r * r - w)
    means += by_w * (2 * w - b3 + w * r)

    # d/ds^2: half the second derivative of each a_k, over phi
    flow = 0.5 * (w - r)
    variances = by_psi * flow
    r_flow = 0.5 * (r - 3 * w + b3) - r * flow
    variances += by_r * r_flow
    w_flow = 0.5 * (4 * w - 5 * b3 + b4) - w * flow
    variances += by_w * w_flow
    gradient = LogitsGradient(means.sum(axis=0), variances.sum(axis=0))
    return float(head.density @ size), gradient
