"""Why a target cannot be reached, as numbers anybody can check.

Two things can stand in the way of a set S of keys:

    aff(S) meets conv(rest)      sum_i lam_i k_i = sum_a nu_a k_a,  lam >= 0,  sum lam = sum nu = 1
    the shares contradict S      sum_a nu_a k_a = 0,  sum nu = 0,  but  sum_a nu_a (ln p_a - bias_a) != 0

The first holds for every query, so no query can raise S above the rest; the second says that equalities between
logits on affinely dependent keys have no solution. Coefficients are floats; `in_rationals` turns them into an
exact solution of the exact keys (a float array is a table of rationals), which is the checker's last word.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from headwright.types import Array, Float, Keys

# Rational row reduction is tried up to this many keys; beyond it a dependence stays a float statement.
_MOST_EXACT = 40
EXACT_SIZE = 20_000  # coordinates in a combination, likewise
# Coefficients in float64 fit their keys to this, relative to the longest key.
_FITS = 1e-12


@dataclass(frozen=True)
class Combination:
    """`sum outside_coefficients * K[outside] = sum inside_coefficients * K[inside]`, both sides summing to 1."""

    outside: tuple[int, ...]
    outside_coefficients: Float[Array, "r"]  # >= 0
    inside: tuple[int, ...]
    inside_coefficients: Float[Array, "m"]  # any sign; (1.0,) for one key
    residual: float  # length of left minus right, in float64
    exact: bool  # the coefficients are the rounding of a rational solution
    rational: tuple[str, ...] | None = None  # "p/q" for outside, then inside, when exact

    def residual_on(self, K: Keys) -> float:
        """Length of left minus right on these keys, relative to the longest key taking part."""
        left = self.outside_coefficients @ K[list(self.outside)]
        right = self.inside_coefficients @ K[list(self.inside)]
        size = max(np.linalg.norm(K[[*self.outside, *self.inside]], axis=1).max(), np.finfo(float).tiny)
        return float(np.linalg.norm(left - right) / size)


@dataclass(frozen=True)
class Contradiction:
    """`sum coefficients * K[keys] = 0` and the coefficients sum to 0, yet they weigh the wanted logit
    differences to `imbalance`, which is not 0."""

    keys: tuple[int, ...]
    coefficients: Float[Array, "m"]
    imbalance: float
    residual: float


def how_it_holds(K: Keys, proof: Combination) -> str:
    """ "rationals" if exact coefficients exist near the given ones, "float" if they fit to rounding and the keys are
    too many for exact arithmetic, "none" if they do not fit."""
    lam, nu = proof.outside_coefficients, proof.inside_coefficients
    named = [*proof.outside, *proof.inside]
    sums = max(abs(lam.sum() - 1), abs(nu.sum() - 1))
    if min(named, default=-1) < 0 or max(named) >= K.shape[0] or lam.min() < 0 or sums > _FITS:
        return "none"
    if proof.residual_on(K) > _FITS * (1 + np.abs(nu).sum()):
        return "none"
    if len(named) * K.shape[1] <= EXACT_SIZE and in_rationals(K, proof) is not None:
        return "rationals"
    return "tolerance"


def in_rationals(K: Keys, proof: Combination) -> tuple[list[Fraction], list[Fraction]] | None:
    """Exact coefficients `(outside, inside)` near the given floats, or None if these keys do not allow it.

    Row reduction over the rationals solves for the largest coefficients and keeps the others at their float
    value; the answer counts only if every outside coefficient stays >= 0.
    """
    from flint import fmpq, fmpq_mat

    # Free-sign coefficients first, then the largest: the leftmost independent columns become the solved ones.
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


def most_mass(proof: Combination, goal: Float[Array, "m"], bias: Float[Array, "n"] | None) -> float:
    """The most mass any query with these shares puts on S, given the combination: 1 / (1 + e^{H(lam) + lam.c}).

    `goal` is ln p - bias on `proof.inside`. lam.c = lam.bias + nu.goal, because the combination makes the query
    drop out of both sides; Gibbs' inequality does the rest.
    """
    lam = proof.outside_coefficients[proof.outside_coefficients > 0]
    entropy = -float(lam @ np.log(lam))
    shift = 0.0 if bias is None else float(proof.outside_coefficients @ bias[list(proof.outside)])
    return float(np.exp(-np.logaddexp(0.0, entropy + shift + float(proof.inside_coefficients @ goal))))


def excludes(
    proof: Combination, shares: dict[int, float], leak: float, bias: Float[Array, "n"] | None, *, one_head: bool
) -> bool:
    """Does the combination rule out every design that gives the target all but `leak`, each key within `leak`?

    A combination of keys outside the target bounds the target's whole mass in one head; one that writes a single key
    through others (of the target, too) bounds that key's weight in any number of heads.
    """
    inside = list(proof.inside)
    if one_head and not set(proof.outside) & set(shares):
        goal = np.log([shares[a] for a in inside]) - (0.0 if bias is None else bias[inside])
        if most_mass(proof, goal, bias) < 1 - leak:
            return True
    return len(inside) == 1 and most_weight(proof, shares, leak, bias) < shares[inside[0]] - leak


def most_weight(proof: Combination, shares: dict[int, float], leak: float, bias: Float[Array, "n"] | None) -> float:
    """For one key a = sum lam_i k_i: the most weight it can get from ANY number of heads that meet the target.

    Every head has alpha_a e^{-b_a} = prod_i (alpha_i e^{-b_i})^{lam_i}; mixing heads keeps "<=" (Hoelder). Keys of the
    target have at most their share plus the leak, and all others together at most the leak.
    """
    b = 0.0 if bias is None else float(bias[proof.inside[0]] - proof.outside_coefficients @ bias[list(proof.outside)])
    log_bound, spilled = b, 0.0
    for i, lam in zip(proof.outside, proof.outside_coefficients, strict=True):
        if i in shares:
            log_bound += lam * np.log(min(1.0, shares[i] + leak))
        elif lam > 0:
            log_bound += lam * (np.log(lam) + np.log(leak))
            spilled += lam
    # Spilled mass is best divided in proportion to lam.
    return float(np.exp(log_bound - (spilled * np.log(spilled) if spilled > 0 else 0.0)))


def contradicts(K: Keys, proof: Contradiction, goal: Float[Array, "m"]) -> bool:
    """Is the dependence exact in the rationals, and the imbalance more than rounding? Only then is it a proof.

    `goal` is ln p - bias on `proof.keys`. Keys with a vanishing coefficient take no part.
    """
    from flint import fmpq, fmpq_mat

    part = np.flatnonzero(np.abs(proof.coefficients) > 1e-9)
    if part.size > _MOST_EXACT:
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
        weighed = np.abs(nu) * (np.abs(goal[part]) + 1.0)
        if abs(nu @ goal[part]) > 1e-9 * weighed.sum():
            return True
    return False
