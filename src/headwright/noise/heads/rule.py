"""Nodes for the covariance between two heads, no finer and no longer than it asks for.

In one realisation the trapezoid rule with step h turns the output c into c k(S), where, with
t = e^u S at the nodes,

    k(S) = h sum t e^{-t} = 1 + e,    ||e|| <= alias + left + right.

Left of the first node t e^{-t} is nearly t, and a geometric sum: the first node has the weight
w = h / (1 - e^{-h}) in its place, which leaves out at most w min(t, t^2). Right of the last node
there is at most 3 e^{-t}, and by Lyapunov's inequality ||e^{-t}|| <= E[e^{-lt}]^{1/l} for l >= 2.
(||.|| is the root of the mean square.) What is computed is Cov[c k, c' k'], so that it is off by at
most, for values at most 1 from their centre,

    ||e'|| sd(c) + ||e|| sd(c') + ||e|| ||e'||:

the less either output moves, the coarser the rule may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright.noise import budget
from headwright.noise.head.ends import Logits, find_ends
from headwright.noise.head.integral import HeadMoments
from headwright.noise.head.nodes import STEP, Nodes, coarse, graded
from headwright.noise.heads.hermite import Logit, Points
from headwright.noise.heads.pair import TINY
from headwright.result import to_numpy
from headwright.types import Float, HostPerKey, HostPerNode

_STEPS = (0.45, 0.4, 0.36, STEP)  # tried one after the other
_COARSEST = 1e-5  # the largest share of an output that the rule may miss, whatever it does
_PIECES = 32  # of a group, in the rough picture of a head
_ROUGH = 0.9  # longest step of the rule for it
_SPARE = 5  # nodes more than a rough Psi asks for
_LATER = 2  # nodes after which e^u has about doubled


@dataclass(frozen=True)
class Side:
    """The nodes of one head, and ||w min(t, t^2)|| at the first of them."""

    nodes: Nodes
    left: float

    def enough(self, rough: HostPerNode, share: float) -> Side:
        """With no more nodes than a rough Psi asks for, and some to spare."""
        count = self.last(rough, share) + _SPARE
        grid = self.nodes
        return replace(self, nodes=replace(grid, u=grid.u[:count], weight=grid.weight[:count]))

    def last(self, total: HostPerNode, share: float) -> int:
        """How many nodes are enough, the right end missing no more than `share`; `total` is Psi."""
        enough = np.flatnonzero(self._right(total) <= share)
        return int(enough[0]) + 1 if enough.size else total.size - _LATER

    def missed(self, total: HostPerNode, count: int) -> float:
        """||e|| where the first `count` nodes are used."""
        return float(self.nodes.alias(1) + self.left + self._right(total)[count - 1])

    def _right(self, total: HostPerNode) -> Float[np.ndarray, "_used"]:
        """3 E[e^{-lt}]^{1/l}, from Psi some nodes later; up to l = 2 the root of the mean."""
        later = np.exp(_LATER * self.nodes.step)
        return 3 * np.exp(total[_LATER:] / max(later, 2.0))


def rough_psi(
    m: HostPerKey, s: HostPerKey, groups: list[np.ndarray], u: HostPerNode
) -> tuple[HostPerNode, HostPerNode]:
    """Psi and the sum of r of all groups of keys, roughly, for the choice of nodes: pieces of a
    group are taken as keys of one law with the same mean of e^z."""
    psi = np.zeros(u.size)
    r = np.zeros(u.size)
    for group in groups:
        by_mean = group[np.argsort(m[group])]
        pieces = min(group.size, _PIECES)
        begin = np.arange(pieces) * group.size // pieces
        count = np.diff(begin, append=group.size)
        variance = s[by_mean] ** 2
        deviation = np.sqrt(np.add.reduceat(variance, begin) / count)
        weight = np.add.reduceat(np.exp(m[by_mean] + variance / 2), begin)
        mean = np.log(np.maximum(weight / count, TINY)) - deviation**2 / 2
        logit = Logit.of(Points.of(u, mean, deviation, longest=_ROUGH))
        psi += count @ logit.psi
        r += count @ logit.r
    return psi, r


def spread(head: HeadMoments) -> float:
    """The largest deviation of an output or of a weight, for values at most 1 from their centre."""
    variances = np.diagonal(to_numpy(head.covariance))
    outputs = np.sqrt(max(float(variances.max()), 0.0)) / max(head.farthest, 1e-300)
    squares = to_numpy(head.weights_square)
    weights = squares - to_numpy(head.weights_mean) ** 2
    return max(float(outputs), float(np.sqrt(max(float(weights.max()), 0.0))))


def allowed(spreads: list[float]) -> float:
    """The share of an output that the rule may miss, for the covariance to keep its budget."""
    return min(budget.PAIR_RULE / max(sum(spreads), 1e-300), _COARSEST)


def sides(m: np.ndarray, s: np.ndarray, *, share: float) -> tuple[Side, Side] | None:
    """Nodes of both heads for a rule that misses at most `share` of an output; None if they would
    have to be graded."""
    step = next((h for h in _STEPS if _alias(h) <= share / 2), STEP)
    found = [_side(mean, deviation, step, share / 4) for mean, deviation in zip(m, s, strict=True)]
    if found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _alias(step: float) -> float:
    return Nodes(np.zeros(1), np.zeros(1), step, True).alias(1)


def _side(m: HostPerKey, s: HostPerKey, step: float, share: float) -> Side | None:
    """One head: from where e^u ||S|| is below `share` to where e^Psi has vanished."""
    laws = coarse(m, s, np.ones(m.size))
    ends = find_ends(Logits(*(law[None, :] for law in laws)))
    if graded(ends).any():
        return None
    first = step / -np.expm1(-step)
    two, four = _norms(m, s)
    allowed = float(np.log(share / first))
    low = max(allowed - two, allowed / 2 - four)
    high = float(ends.high[0]) + _LATER * step
    count = int(np.ceil((high - low) / step)) + 1
    u = high - step * np.arange(count)[::-1]
    weight = np.full(count, step)
    weight[0] = first
    left = first * float(np.exp(min(u[0] + two, 2 * (u[0] + four))))
    return Side(Nodes(u, weight, step, True), left)


def _norms(m: HostPerKey, s: HostPerKey) -> tuple[float, float]:
    """Logarithms of ||S|| and of E[S^4]^{1/4}, or more: independent X_i >= 0 have

    E[S^2] <= E[S]^2 + sum E[X_i^2],    E[(S - E[S])^4] <= sum E[X_i^4] + 3 (sum E[X_i^2])^2
    """
    mean, square, fourth = (
        float(np.logaddexp.reduce(k * m + k * k * s * s / 2)) for k in (1, 2, 4)
    )
    two = float(np.logaddexp(2 * mean, square)) / 2
    apart = float(np.logaddexp(fourth, np.log(3.0) + 2 * square)) / 4
    return two, float(np.logaddexp(mean, apart))
