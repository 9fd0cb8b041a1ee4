"""Why a target cannot be reached, as numbers anybody can check.

Two things can stand in the way of a set S of keys:

    aff(S) meets conv(rest)      sum_i lam_i k_i = sum_a nu_a k_a,  lam >= 0,  sum lam = sum nu = 1
    the shares contradict S      sum_a nu_a k_a = 0,  sum nu = 0,  but  sum_a nu_a (ln p_a - bias_a) != 0

The first holds for every query, so no query can raise S above the rest; the second says that
equalities between logits on affinely dependent keys have no solution. Coefficients are floats;
`in_rationals` turns them into an exact solution of the exact keys (a float array is a table of
rationals), which is the checker's last word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from headwright.design.proofs.float_bounds import UNIT
from headwright.design.proofs.reached import KEY_ROUNDING
from headwright.types import Array, Float, Keys

# Rational row reduction is tried up to this many keys; beyond it a dependence stays a float
# statement.
_MOST_EXACT = 40
EXACT_SIZE = 20_000  # coordinates in a combination, likewise
# Sums of float64 coefficients are 1 to this.
_FITS = 1e-12
_BITS = 128


@dataclass(frozen=True)
class Combination:
    """`sum outside_coefficients * K[outside] = sum inside_coefficients * K[inside]`, both sides
    summing to 1."""

    outside: tuple[int, ...]
    outside_coefficients: Float[Array, "r"]  # >= 0
    inside: tuple[int, ...]
    inside_coefficients: Float[Array, "m"]  # any sign; (1.0,) for one key
    residual: float  # length of left minus right, in float64
    exact: bool  # the coefficients are the rounding of a rational solution
    rational: tuple[str, ...] | None = None  # "p/q" for outside, then inside, when exact

    def measured(self, K: Keys) -> Combination:
        """The same combination with the residual its coefficients leave on these keys."""
        left = self.outside_coefficients @ K[list(self.outside)]
        right = self.inside_coefficients @ K[list(self.inside)]
        return replace(self, residual=float(np.linalg.norm(left - right)))


@dataclass(frozen=True)
class Contradiction:
    """`sum coefficients * K[keys] = 0` and the coefficients sum to 0, yet they weigh the wanted
    logit differences to `imbalance`, which is not 0."""

    keys: tuple[int, ...]
    coefficients: Float[Array, "m"]
    imbalance: float
    residual: float


@dataclass(frozen=True)
class Asked:
    """The question a proof answers: shares by key, the leak, the bias, and `bent`, the largest
    ratio error that any accepted design can have (`meaning`). `one_head`: several heads need not be
    excluded."""

    shares: dict[int, float]
    leak: float
    bias: Float[Array, "n"] | None
    bent: float
    one_head: bool

    @property
    def log_odds(self) -> float:
        return math.log(self.leak) - math.log1p(-self.leak)

    def biases(self, keys: tuple[int, ...]) -> Float[Array, "r"]:
        return np.zeros(len(keys)) if self.bias is None else self.bias[list(keys)]


def how_it_holds(K: Keys, proof: Combination) -> str:
    """ "rationals" if `verified` has exact coefficients, "tolerance" if the given ones fit keys
    within KEY_ROUNDING of
    these, "none" if they do not."""
    found = verified(K, proof)
    if found is None:
        return "none"
    return "rationals" if found.exact else "tolerance"


def verified(K: Keys, proof: Combination) -> Combination | None:
    """The proof with coefficients that are known to hold: exact ones, rounded once; else the given
    ones, if they fit keys within KEY_ROUNDING of these; else None. What it says of itself is not
    believed."""
    lam, nu = proof.outside_coefficients, proof.inside_coefficients
    named = [*proof.outside, *proof.inside]
    if not proof.outside or not proof.inside or min(named) < 0 or max(named) >= K.shape[0]:
        return None
    # A key named twice would count its coefficient's entropy twice.
    if len(set(proof.outside)) < len(proof.outside) or len(set(proof.inside)) < len(proof.inside):
        return None
    if (
        lam.min() < 0
        or max(abs(lam.sum() - 1), abs(nu.sum() - 1)) > _FITS
        or not _fits(K, proof, slack=1e3)
    ):
        return None
    exact = in_rationals(K, proof) if len(named) * K.shape[1] <= EXACT_SIZE else None
    if exact is not None:
        outside, inside = (np.array([float(x) for x in side]) for side in exact)
        text = tuple(str(x) for side in exact for x in side)
        found = replace(
            proof,
            outside_coefficients=outside,
            inside_coefficients=inside,
            exact=True,
            rational=text,
        )
        return found.measured(K)
    return replace(proof, exact=False, rational=None).measured(K) if _fits(K, proof) else None


def _fits(K: Keys, proof: Combination, *, slack: float = 1.0) -> bool:
    """Do keys k'_i with |k'_i - k_i| <= KEY_ROUNDING |k_i| fit the coefficients exactly? In ball
    arithmetic.

    They do iff the residual is at most KEY_ROUNDING (sum lam_i |k_i| + sum |nu_a| |k_a|): each key
    takes its part.
    """
    from flint import arb, arb_mat, ctx

    before = ctx.prec
    ctx.prec = _BITS
    try:
        signed = [*proof.outside_coefficients.tolist(), *(-proof.inside_coefficients).tolist()]
        totals = [
            sum((arb(x) for x in side.tolist()), arb(0))
            for side in (proof.outside_coefficients, -proof.inside_coefficients)
        ]
        parts = [arb(x) / abs(totals[i >= len(proof.outside)]) for i, x in enumerate(signed)]
        rows = K[[*proof.outside, *proof.inside]].tolist()
        residual = (arb_mat([parts]) * arb_mat([[arb(x) for x in row] for row in rows])).entries()
        lengths = [sum((arb(x) * arb(x) for x in row), arb(0)).sqrt() for row in rows]
        room = sum(
            (abs(w) * length for w, length in zip(parts, lengths, strict=True)), arb(0)
        ) * arb(KEY_ROUNDING)
        # Squares are compared: the ball of a vanishing residual reaches below zero and has no root.
        return bool(sum((x * x for x in residual), arb(0)) <= (room * arb(slack)) ** 2)
    finally:
        ctx.prec = before


def in_rationals(K: Keys, proof: Combination) -> tuple[list[Fraction], list[Fraction]] | None:
    """Exact coefficients `(outside, inside)` near the given floats, or None if these keys do not
    allow it.

    Row reduction over the rationals solves for the largest coefficients and keeps the others at
    their float value; the answer counts only if every outside coefficient stays >= 0.
    """
    from flint import fmpq, fmpq_mat

    # Free-sign coefficients first, then the largest: the leftmost independent columns become the
    # solved ones.
    order = np.argsort(-proof.outside_coefficients, kind="stable")
    columns = [(K[a], -1) for a in proof.inside] + [(K[proof.outside[i]], 1) for i in order]
    start = [*proof.inside_coefficients, *proof.outside_coefficients[order]]
    rows = _equations(columns, fmpq)
    reduced, rank = fmpq_mat(rows).rref()
    width, solved = len(columns), {}
    for r in range(rank):
        pivot = next(c for c in range(width + 1) if reduced[r, c] != 0)
        if pivot == width:
            return None  # 0 = 1: no combination at all
        solved[pivot] = r
    value = {c: _exact(start[c], fmpq) for c in range(width) if c not in solved}
    for pivot, r in solved.items():
        rest = sum((reduced[r, c] * value[c] for c in value if c not in solved), fmpq(0))
        solved_value = reduced[r, width] - rest
        value[pivot] = solved_value
    as_fraction = [Fraction(int(value[c].p), int(value[c].q)) for c in range(width)]
    inside, outside = as_fraction[: len(proof.inside)], [Fraction(0)] * len(order)
    for position, i in enumerate(order):
        outside[i] = as_fraction[len(proof.inside) + position]
    return (outside, inside) if min(outside) >= 0 else None


def _equations(columns: list[tuple[np.ndarray, int]], fmpq: Any) -> list[list[Any]]:
    """Rows of `[A | b]`: d rows `sum_i lam_i k_i - sum_a nu_a k_a = 0`, then the two sums."""
    d = columns[0][0].shape[0]
    rows = [[_exact(sign * float(k[j]), fmpq) for k, sign in columns] + [fmpq(0)] for j in range(d)]
    for side in (-1, 1):
        rows.append([fmpq(1 if sign == side else 0) for _, sign in columns] + [fmpq(1)])
    return rows


def _exact(x: float, fmpq: Any) -> Any:
    return fmpq(*float(x).as_integer_ratio())


def most_mass(proof: Combination, asked: Asked) -> float:
    """The most mass that any query with a ratio error up to `asked.bent` puts on S: 1 / (1 +
    e^{least}), rounded up."""
    return min(
        1.0, math.exp(-float(np.logaddexp(0.0, _least_log_odds(proof, asked)))) * (1 + 8 * UNIT)
    )


def _least_log_odds(proof: Combination, asked: Asked) -> float:
    """A lower bound on ln(leak / (1 - leak)) over those queries (the inequality in `meaning`, where
    q drops out):

    H(lam) + lam.bias + nu.(ln p - bias_S) - (1 + |nu|_1) bent / 2
    """
    lam = proof.outside_coefficients
    nu = proof.inside_coefficients
    goal = np.log([asked.shares[a] for a in proof.inside]) - asked.biases(proof.inside)
    positive = lam[lam > 0]
    entropies = -positive * np.log(positive)
    shifts = lam * asked.biases(proof.outside)
    goals = nu * goal
    size = float(np.abs(entropies).sum() + np.abs(shifts).sum() + np.abs(goals).sum()) + 1.0
    rounding = 8 * (len(lam) + len(nu) + 8) * UNIT * (size + float(np.abs(nu).sum()))
    bend = asked.bent * (1.0 + float(np.abs(nu).sum())) / 2
    return math.fsum([*entropies, *shifts, *goals]) - bend - rounding


def excludes(proof: Combination, asked: Asked) -> bool:
    """Does the combination rule out every design that reaches the target?

    A combination of keys outside the target bounds the target's whole mass in one head; one that
    writes a single key through others (of the target, too) bounds that key's weight in any number
    of heads.
    """
    apart = not set(proof.outside) & set(asked.shares)
    if asked.one_head and apart and _least_log_odds(proof, asked) > asked.log_odds:
        return True
    return len(proof.inside) == 1 and _excludes_any_heads(proof, asked)


def _excludes_any_heads(proof: Combination, asked: Asked) -> bool:
    """For one key a = sum lam_i k_i. Every head has alpha_a e^{-b_a} = prod_i (alpha_i
    e^{-b_i})^{lam_i}, and mixing heads keeps "<=" (Hoelder). With w_i = c p_i e^{e_i} on the
    target, c >= (1 - eps) e^{-bent/2}, and the weight outside it, at most eps, best divided in
    proportion to lam, every mix that reaches the target has

        L ln((1 - eps) / eps) + ln p_a - b_a
            <=  sum_in lam_i (ln p_i - b_i) + sum_out lam_i (ln(lam_i / L) - b_i) + bent

    with L the sum of lam outside the target.
    """
    lam = proof.outside_coefficients
    inside = np.array([i in asked.shares for i in proof.outside])
    spilled = float(lam[~inside].sum())
    logs = np.array([math.log(asked.shares[i]) for i in proof.outside if i in asked.shares])
    beyond = lam[~inside & (lam > 0)]
    left = (
        -spilled * asked.log_odds
        + math.log(asked.shares[proof.inside[0]])
        - float(asked.biases(proof.inside)[0])
    )
    terms = [
        *(lam[inside] * logs),
        *(beyond * np.log(beyond / spilled)),
        *(-lam * asked.biases(proof.outside)),
    ]
    size = float(np.abs(terms).sum()) + abs(left) + spilled * abs(asked.log_odds) + 1.0
    rounding = (
        8 * (len(terms) + 8) * UNIT * (size + float(np.abs(asked.biases(proof.inside)).max()))
    )
    return left - math.fsum(terms) > asked.bent + rounding


def contradicts(K: Keys, proof: Contradiction, goal: Float[Array, "m"], bent: float) -> bool:
    """Is the dependence exact in the rationals, and the imbalance more than the ratio error of any
    accepted query can make up for, bent |nu|_1 / 2? Only then is it a proof, and only for one head.

    `goal` is ln p - bias on `proof.keys`. Keys with a vanishing coefficient take no part.
    """
    from flint import fmpq, fmpq_mat

    part = np.flatnonzero(np.abs(proof.coefficients) > 1e-9)
    if (
        not 0 < part.size <= _MOST_EXACT
        or max(proof.keys) >= K.shape[0]
        or len(set(proof.keys)) < len(proof.keys)
    ):
        return False
    keys = [proof.keys[i] for i in part]
    rows = [[_exact(float(K[a, j]), fmpq) for a in keys] for j in range(K.shape[1])]
    reduced, rank = fmpq_mat([*rows, [fmpq(1)] * len(keys)]).rref()
    pivots = [next(c for c in range(len(keys)) if reduced[r, c] != 0) for r in range(rank)]
    for free in set(range(len(keys))) - set(pivots):
        # One vector of the null space: free coordinate 1, pivots minus their column.
        nu = np.zeros(len(keys))
        nu[free] = 1.0
        for r, pivot in enumerate(pivots):
            nu[pivot] = -float(Fraction(int(reduced[r, free].p), int(reduced[r, free].q)))
        rounding = 8 * (len(keys) + 8) * UNIT * float(np.abs(nu) @ (np.abs(goal[part]) + 1.0))
        if abs(float(nu @ goal[part])) > bent * float(np.abs(nu).sum()) / 2 + rounding:
            return True
    return False
