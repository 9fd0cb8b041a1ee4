"""The shortest query that solves a pair with given keys, with a proof that none is shorter.

The queries with alpha_a >= c and alpha_b >= c form a convex set, so its shortest member q* is
unique, and one of three things holds there:

    both weights equal c      it is the shortest query that averages the pair
    alpha_a = c < alpha_b     the condition on b is idle: the shortest that gives a the weight c
    alpha_b = c < alpha_a     the same for b

The solver of `design` answers each of the three, with a lower bound or a proof that there is no
such query. What settles which one it is: for w in [0, 1], p = w e_a + (1 - w) e_b and any lam on
the simplex (Lagrange and Gibbs),

    |q| >= (H(lam) + ln c) / |K'(p - lam)|        for every q that solves the pair,

and the copies bound the length as well, because they ask for less.

Two heads have no such convex set. One of them puts at least 1 - leak on the pair, so at least c on
one of its keys: the shorter of the two copies bounds the longest query from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright import design
from headwright.attention import weights
from headwright.design import Design
from headwright.study.toys.task import LEAK, LIMIT, solved
from headwright.types import Keys, Query

# The average is the shortest of all when the bound comes this close to it.
_SAME = 1e-6
# Weights sum to one up to rounding; a leak below this is no number.
_NO_LEAK = 1e-9


@dataclass(frozen=True)
class Shortest:
    """`length` of the shortest query found (infinite: none) and a `bound` that no query beats.
    `possible` or `impossible` within the limit; neither means that it could not be determined."""

    length: float
    bound: float
    limit: float = LIMIT

    @property
    def possible(self) -> bool:
        return self.length <= self.limit

    @property
    def impossible(self) -> bool:
        return self.bound > self.limit


class Solver:
    """Answers for the pairs of one set of keys; what depends on one key alone is kept."""

    def __init__(self, keys: Keys, leak: float = LEAK) -> None:
        self.keys = keys
        self.leak = leak
        self.least = (1 - leak) / 2

    def one_head(self, a: int, b: int) -> Shortest:
        average = design.average([a, b], self.keys, leak=self.leak)
        found = np.inf
        bound = 0.0
        if average.status == "reached":
            found = average.norm
            bound = bound_for_pair(average.queries[0], self.keys, a, b, leak=self.leak)
            if bound >= (1 - _SAME) * found:
                return Shortest(found, bound)
        copies = [self._half_copies[a], self._half_copies[b]]
        bound = max(bound, *(_bound(copy) for copy in copies))
        for copy in copies:
            if copy.status == "reached" and self._solves(copy, a, b):
                return Shortest(min(found, copy.norm), bound)
        # Where neither copy is the shortest, both weights equal c there: it averages the pair.
        settled = all(copy.status in ("reached", "impossible") for copy in copies)
        return Shortest(found, max(bound, _bound(average)) if settled else bound)

    def two_heads(self, a: int, b: int) -> Shortest:
        """One head for both keys, or one for each; the longest query counts."""
        together = self.one_head(a, b)
        apart = max(_length(self._copies[a]), _length(self._copies[b]))
        bound = min(_bound(self._half_copies[a]), _bound(self._half_copies[b]))
        return Shortest(min(together.length, apart), bound)

    def _solves(self, copy: Design, a: int, b: int) -> bool:
        return bool(solved(copy.weights[None, :], np.array([[a, b]]), self.leak)[0])

    @cached_property
    def _half_copies(self) -> list[Design]:
        """For each key, the shortest query that gives it weight c."""
        n = len(self.keys)
        return [design.copy(j, self.keys, leak=1 - self.least) for j in range(n)]

    @cached_property
    def _copies(self) -> list[Design]:
        n = len(self.keys)
        return [design.copy(j, self.keys, leak=self.leak) for j in range(n)]


def bound_for_pair(q: Query, keys: Keys, a: int, b: int, *, leak: float = LEAK) -> float:
    """(H(lam) + ln c) / |K'(p - lam)| with lam the weights of q and the best p on the pair: no
    query that solves the pair is shorter, whatever q is."""
    lam = weights(keys @ q)
    heavy = lam[lam > 0]
    entropy = -float(heavy @ np.log(heavy))
    # |K'(p - lam)| is least at w = (k_b - K'lam).(k_b - k_a) / |k_b - k_a|^2, kept inside [0, 1].
    centre = lam @ keys
    across = keys[b] - keys[a]
    along = float((keys[b] - centre) @ across)
    square = float(across @ across)
    w = min(max(along / square, 0.0), 1.0) if square else 0.0
    away = keys[b] - w * across - centre
    gain = entropy + float(np.log((1 - leak) / 2))
    distance = float(np.linalg.norm(away))
    if gain <= 0:
        return 0.0
    return gain / distance if distance else np.inf


def own_bound(q: Query, keys: Keys, a: int, b: int) -> float:
    """What no query can be shorter than that has q's shares on the pair and leaks no more."""
    alpha = weights(keys @ q)
    on_pair = alpha[[a, b]]
    leak = float(alpha.sum() - on_pair.sum())
    if leak < _NO_LEAK:
        return np.nan
    shares = on_pair / on_pair.sum()
    mixture = {int(a): float(shares[0]), int(b): float(shares[1])}
    return design.mixture(mixture, keys, leak=leak).lower_bound


def _bound(answer: Design) -> float:
    """No query is shorter; infinite where there is provably none."""
    return np.inf if answer.status == "impossible" else answer.lower_bound


def _length(answer: Design) -> float:
    return answer.norm if answer.status == "reached" else np.inf
