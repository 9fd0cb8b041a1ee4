"""Nodes for the covariance between two heads, no finer and no longer than it asks for.

In one realisation the trapezoid rule with step h turns the output c into c k(S), where

    k(S) = h sum_u e^u S exp(-e^u S) = 1 + e,    ||e|| <= alias + e^{u_first} ||S|| + 3 e^{Psi / 2},

Psi at twice the last e^u, ||.|| the root of the mean square. What is computed is Cov[c k, c' k'],
so that it is off by at most, for values at most 1 from their centre,

    ||e'|| sd(c) + ||e|| sd(c') + ||e|| ||e'||:

the less either output moves, the coarser the rule may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise.head.integral import HeadMoments
from headwright.noise.head.laws import distinct
from headwright.noise.head.nodes import STEP, Nodes, coarse, nodes
from headwright.result import to_numpy
from headwright.types import Float, HostPerKey, HostPerNode

_STEPS = (0.45, 0.4, 0.36, STEP)  # tried one after the other
_COARSEST = 1e-5  # the largest share of an output that the rule may miss
_LATER = 2  # nodes after which e^u has doubled, whatever the step


@dataclass(frozen=True)
class Side:
    """The nodes of one head, and ||S|| as a logarithm."""

    nodes: Nodes
    log_sum: float

    def last(self, total: HostPerNode, share: float) -> int:
        """How many nodes are enough, the right end missing no more than `share`; `total` is Psi."""
        enough = np.flatnonzero(_right_end(total) <= share)
        return int(enough[0]) + 1 if enough.size else total.size - _LATER

    def missed(self, total: HostPerNode, count: int) -> float:
        """||e|| where the first `count` nodes are used."""
        left = np.exp(self.nodes.u[0] + self.log_sum)
        return float(self.nodes.alias(1) + left + _right_end(total)[count - 1])


def _right_end(total: HostPerNode) -> Float[np.ndarray, "_used"]:
    """3 e^{Psi / 2}, Psi at twice e^u or less."""
    return 3 * np.exp(total[_LATER:] / 2)


def spread(head: HeadMoments) -> float:
    """The largest deviation of an output or of a weight, for values at most 1 from their centre."""
    variances = np.diagonal(to_numpy(head.covariance))
    outputs = np.sqrt(max(float(variances.max()), 0.0)) / max(head.farthest, 1e-300)
    squares = to_numpy(head.weights_square)
    weights = squares - to_numpy(head.weights_mean) ** 2
    return max(float(outputs), float(np.sqrt(max(float(weights.max()), 0.0))))


def sides(m: np.ndarray, s: np.ndarray, *, allowed: float) -> tuple[Side, Side] | None:
    """Nodes of both heads for a rule that misses at most the share `allowed` of an output; None if
    they would have to be graded."""
    share = min(allowed, _COARSEST)
    step = next((h for h in _STEPS if _alias(h) <= share / 2), STEP)
    found = [_side(mean, deviation, step, share / 4) for mean, deviation in zip(m, s, strict=True)]
    if found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _alias(step: float) -> float:
    return Nodes(np.zeros(1), np.zeros(1), step, True).alias(1)


def _side(m: HostPerKey, s: HostPerKey, step: float, share: float) -> Side | None:
    """One head: from where e^u ||S|| is below `share` to where e^Psi has vanished."""
    laws = distinct(m, s)
    grid = nodes(*coarse(laws.m, laws.s, laws.count), step=step)
    if not grid.uniform:
        return None
    # E[S^2] = sum_i Var[e^{z_i}] + E[S]^2
    square = np.logaddexp.reduce(2 * m + 2 * s * s)
    mean = np.logaddexp.reduce(m + s * s / 2)
    log_sum = float(np.logaddexp(square, 2 * mean)) / 2
    high = grid.u[-1] + _LATER * step
    count = int(np.ceil((high - np.log(share) + log_sum) / step)) + 1
    u = high - step * np.arange(count)[::-1]
    return Side(Nodes(u, np.full(count, step), step, True), log_sum)
