"""What a proof that holds rules out: every design that reaches the target at the leak asked for.

A proof speaks of exact ratios, a design is accepted with a ratio error up to `bent` (`reached`);
both the ceiling and the verdict "impossible" allow for it, so no accepted query contradicts them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from headwright.design.proofs.float_bounds import UNIT, sum_of_sizes
from headwright.design.proofs.proof import (
    Combination,
    Contradiction,
    fraction_of,
    pivot_columns,
    rational_of,
)
from headwright.design.proofs.reached import Promise, log_odds, most_bent
from headwright.design.target import Bias, Shares, Target
from headwright.types import Array, Float, Keys

# A dependence between more keys than this is not reduced over the rationals, and proves nothing.
_MOST_DEPENDENT = 40
# Smaller coefficients of a dependence (the largest is 1) are rounding: their keys take no part.
_NO_PART = 1e-9


@dataclass(frozen=True)
class Demand:
    """The question a proof answers: shares by key, the leak, the bias, and `bent`, the largest
    ratio error that any accepted design can have (`reached`). `one_head`: several heads need not be
    excluded."""

    shares: dict[int, float]
    leak: float
    bias: Bias
    bent: float
    one_head: bool

    @classmethod
    def of(cls, target: Target, *, leak: float, bias: Bias, storage: str, one_head: bool) -> Demand:
        bent = most_bent(storage, len(target.support))
        return cls(target.by_key(), leak, bias, bent, one_head)

    @classmethod
    def behind(cls, promise: Promise) -> Demand:
        """The question to which a promise is the answer."""
        return cls.of(
            promise.target,
            leak=promise.leak,
            bias=promise.bias,
            storage=promise.storage,
            one_head=promise.one_head,
        )

    @property
    def log_odds(self) -> float:
        return log_odds(self.leak)

    def biases(self, keys: tuple[int, ...]) -> Float[Array, "r"]:
        return np.zeros(len(keys)) if self.bias is None else self.bias[list(keys)]

    def goal(self, keys: tuple[int, ...]) -> Shares:
        """ln p - bias on keys of the target."""
        return np.log([self.shares[a] for a in keys]) - self.biases(keys)


def most_mass(proof: Combination, demand: Demand) -> float:
    """The most mass that any query with a ratio error up to `demand.bent` puts on S: 1 / (1 +
    e^{least}), rounded up. A proof through other keys of the target says nothing about its mass."""
    if set(proof.outside) & set(demand.shares):
        return 1.0
    least = _least_log_odds(proof, demand)
    mass = math.exp(-float(np.logaddexp(0.0, least)))
    return min(1.0, mass * (1 + 8 * UNIT))


def excludes(proof: Combination, demand: Demand) -> bool:
    """Does the combination rule out every design that reaches the target?

    A combination of keys outside the target bounds the target's whole mass in one head; one that
    writes a single key through others (of the target, too) bounds that key's weight in any number
    of heads.
    """
    apart = not set(proof.outside) & set(demand.shares)
    if demand.one_head and apart and _least_log_odds(proof, demand) > demand.log_odds:
        return True
    return len(proof.inside) == 1 and _excludes_any_heads(proof, demand)


def contradicts(K: Keys, proof: Contradiction, demand: Demand) -> bool:
    """Is the dependence exact in the rationals, and the imbalance more than the ratio error of any
    accepted query can make up for, bent |nu|_1 / 2? Only then is it a proof, and only for one head.
    """
    if not demand.one_head or not _names_the_target(K, proof, demand):
        return False
    part = np.flatnonzero(np.abs(proof.coefficients) > _NO_PART)
    if not 0 < part.size <= _MOST_DEPENDENT:
        return False

    keys = tuple(proof.keys[i] for i in part)
    goal = demand.goal(keys)
    for nu in _dependences(K, keys):
        size = sum_of_sizes(nu)
        terms = float(np.abs(nu) @ (np.abs(goal) + 1.0))
        rounding = 8 * (len(keys) + 8) * UNIT * terms
        imbalance = abs(float(nu @ goal))
        if imbalance > demand.bent * size / 2 + rounding:
            return True
    return False


def _names_the_target(K: Keys, proof: Contradiction, demand: Demand) -> bool:
    """Keys of the target, each once."""
    named = set(proof.keys)
    once = len(named) == len(proof.keys)
    return once and named <= set(demand.shares) and max(named) < K.shape[0]


def _dependences(K: Keys, keys: tuple[int, ...]) -> list[Float[Array, "m"]]:
    """A basis of all nu with `sum nu_a k_a = 0`, `sum nu = 0`, exact and then rounded once."""
    rows = [[rational_of(K[a, j]) for a in keys] for j in range(K.shape[1])]
    sums = [fmpq(1)] * len(keys)
    reduced, rank = fmpq_mat([*rows, sums]).rref()
    pivots = pivot_columns(reduced, rank)
    basis = []
    for free in set(range(len(keys))) - set(pivots):
        # One vector of the null space: free coordinate 1, pivots minus their column.
        nu = np.zeros(len(keys))
        nu[free] = 1.0
        for r, pivot in enumerate(pivots):
            nu[pivot] = -float(fraction_of(reduced[r, free]))
        basis.append(nu)
    return basis


def _least_log_odds(proof: Combination, demand: Demand) -> float:
    """A lower bound on ln(leak / (1 - leak)) over accepted queries (the inequality in `reached`,
    where q drops out):

    H(lam) + lam.bias + nu.(ln p - bias_S) - (1 + |nu|_1) bent / 2
    """
    lam = proof.outside_coefficients
    nu = proof.inside_coefficients
    positive = lam[lam > 0]
    entropies = -positive * np.log(positive)
    shifts = lam * demand.biases(proof.outside)
    goals = nu * demand.goal(proof.inside)

    length = sum_of_sizes(nu)
    size = sum_of_sizes(entropies) + sum_of_sizes(shifts) + sum_of_sizes(goals) + 1.0
    count = len(lam) + len(nu) + 8
    rounding = 8 * count * UNIT * (size + length)
    bend = demand.bent * (1.0 + length) / 2
    return math.fsum([*entropies, *shifts, *goals]) - bend - rounding


def _excludes_any_heads(proof: Combination, demand: Demand) -> bool:
    """For one key a = sum lam_i k_i. Every head has alpha_a e^{-b_a} = prod_i (alpha_i
    e^{-b_i})^{lam_i}, and mixing heads keeps "<=" (Hoelder). With w_i = c p_i e^{e_i} on the
    target, c >= (1 - eps) e^{-bent/2}, and the weight outside it, at most eps, best divided in
    proportion to lam, every mix that reaches the target has

        L ln((1 - eps) / eps) + ln p_a - b_a
            <=  sum_in lam_i (ln p_i - b_i) + sum_out lam_i (ln(lam_i / L) - b_i) + bent

    with L the sum of lam outside the target.
    """
    lam = proof.outside_coefficients
    (key,) = proof.inside
    own_bias = float(demand.biases(proof.inside)[0])
    inside = np.array([i in demand.shares for i in proof.outside])
    spilled = float(lam[~inside].sum())
    beyond = lam[~inside & (lam > 0)]
    named = [i for i in proof.outside if i in demand.shares]
    logs = np.array([math.log(demand.shares[i]) for i in named])

    left = -spilled * demand.log_odds + math.log(demand.shares[key]) - own_bias
    terms = [
        *(lam[inside] * logs),
        *(beyond * np.log(beyond / spilled)),
        *(-lam * demand.biases(proof.outside)),
    ]
    size = sum_of_sizes(terms) + abs(left) + spilled * abs(demand.log_odds) + 1.0
    count = len(terms) + 8
    rounding = 8 * count * UNIT * (size + abs(own_bias))
    return left - math.fsum(terms) > demand.bent + rounding
