"""Why a target cannot be reached, as numbers anybody can check.

Two things can stand in the way of a set S of keys:

    aff(S) meets conv(rest)      sum_i lam_i k_i = sum_a nu_a k_a,  lam >= 0,  sum lam = sum nu = 1
    the shares contradict S      sum_a nu_a k_a = 0,  sum nu = 0,  sum_a nu_a (ln p_a - bias_a) != 0

The first holds for every query, so no query can raise S above the rest; the second says that
equalities between logits on affinely dependent keys have no solution. Coefficients are floats. A
combination is checked in rationals where that is affordable (a float array is a table of
rationals); else, and where these very keys allow no exact one, it counts only for keys within
KEY_ROUNDING of them, and says so. A contradiction counts only in rationals. What a proof that holds
rules out is another question: `exclusion`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from headwright.design.proofs.ball import ball_length, ball_matrix, ball_precision, ball_sum
from headwright.design.proofs.reached import KEY_ROUNDING
from headwright.types import Array, Float, Keys

# Exact coefficients are looked for up to this many coordinates in a combination.
EXACT_SIZE = 20_000
# Sums of float64 coefficients are 1 to this.
_SUM_SLACK = 1e-12
# Coefficients that miss by more than this many roundings of the keys are not the rounding of exact
# ones, and no exact ones are looked for.
_ROUGH = 1e3


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

    def with_residual(self, K: Keys) -> Combination:
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


def verified(K: Keys, proof: Combination) -> Combination | None:
    """The proof with coefficients that are known to hold: exact ones near the given, rounded once;
    else the given ones, if they fit keys within KEY_ROUNDING of these; else None. What it says of
    itself (`exact`, `rational`, `residual`) is not believed."""
    if not _well_formed(K, proof) or not _fits(K, proof, slack=_ROUGH):
        return None

    named = len(proof.outside) + len(proof.inside)
    exact = in_rationals(K, proof) if named * K.shape[1] <= EXACT_SIZE else None
    if exact is not None:
        return _exactly(proof, *exact).with_residual(K)
    if _fits(K, proof):
        return replace(proof, exact=False, rational=None).with_residual(K)
    return None


def _well_formed(K: Keys, proof: Combination) -> bool:
    """Keys that exist, each named once on its side, and coefficients of the right sign and sum."""
    if not proof.outside or not proof.inside:
        return False
    named = [*proof.outside, *proof.inside]
    if min(named) < 0 or max(named) >= K.shape[0]:
        return False
    # A key named twice would count its coefficient's entropy twice.
    if len(set(proof.outside)) < len(proof.outside) or len(set(proof.inside)) < len(proof.inside):
        return False

    lam = proof.outside_coefficients
    nu = proof.inside_coefficients
    off = max(abs(lam.sum() - 1), abs(nu.sum() - 1))
    return bool(lam.min() >= 0 and off <= _SUM_SLACK)


def _exactly(proof: Combination, outside: list[Fraction], inside: list[Fraction]) -> Combination:
    return replace(
        proof,
        outside_coefficients=np.array([float(x) for x in outside]),
        inside_coefficients=np.array([float(x) for x in inside]),
        exact=True,
        rational=tuple(str(x) for x in (*outside, *inside)),
    )


def _fits(K: Keys, proof: Combination, *, slack: float = 1.0) -> bool:
    """Do keys k'_i with |k'_i - k_i| <= slack KEY_ROUNDING |k_i| fit the coefficients exactly? In
    ball arithmetic.

    They do iff the residual is at most KEY_ROUNDING (sum lam_i |k_i| + sum |nu_a| |k_a|): each key
    takes its part.
    """
    with ball_precision():
        outside = _shares_of_sum(proof.outside_coefficients)
        inside = _shares_of_sum(-proof.inside_coefficients)
        parts = [*outside, *inside]
        rows = K[[*proof.outside, *proof.inside]].tolist()

        residual = (arb_mat([parts]) * ball_matrix(rows)).entries()
        lengths = [ball_length(row) for row in rows]
        total = ball_sum(abs(w) * length for w, length in zip(parts, lengths, strict=True))
        room = total * arb(KEY_ROUNDING)
        # Squares are compared: the ball of a vanishing residual reaches below zero and has no root.
        square = ball_sum(x * x for x in residual)
        return bool(square <= (room * arb(slack)) ** 2)


def _shares_of_sum(coefficients: Float[Array, "r"]) -> list[Any]:
    """Divided by the absolute value of their sum: float64 coefficients sum to 1 only nearly."""
    balls = [arb(x) for x in coefficients.tolist()]
    size = abs(ball_sum(balls))
    return [x / size for x in balls]


def in_rationals(K: Keys, proof: Combination) -> tuple[list[Fraction], list[Fraction]] | None:
    """Exact coefficients `(outside, inside)` near the given floats, or None if these keys do not
    allow it.

    Row reduction over the rationals solves for the largest coefficients and keeps the others at
    their float value; the answer counts only if every outside coefficient stays >= 0.
    """
    # Free-sign coefficients first, then the largest: the leftmost independent columns become the
    # solved ones.
    order = np.argsort(-proof.outside_coefficients, kind="stable")
    columns = [(K[a], -1) for a in proof.inside]
    columns += [(K[proof.outside[i]], 1) for i in order]
    start = [*proof.inside_coefficients, *proof.outside_coefficients[order]]
    solution = _solved(_equations(columns), start)
    if solution is None:
        return None

    inside = solution[: len(proof.inside)]
    sorted_outside = solution[len(proof.inside) :]
    outside = [Fraction(0)] * len(order)
    for i, coefficient in zip(order, sorted_outside, strict=True):
        outside[i] = coefficient
    return (outside, inside) if min(outside) >= 0 else None


def _equations(columns: list[tuple[np.ndarray, int]]) -> list[list[Any]]:
    """Rows of `[A | b]`: d rows `sum_i lam_i k_i - sum_a nu_a k_a = 0`, then the two sums."""
    d = columns[0][0].shape[0]
    rows = []
    for j in range(d):
        balance = [rational_of(sign * float(k[j])) for k, sign in columns]
        rows.append([*balance, fmpq(0)])
    for side in (-1, 1):
        members = [fmpq(1 if sign == side else 0) for _, sign in columns]
        rows.append([*members, fmpq(1)])
    return rows


def _solved(equations: list[list[Any]], start: list[float]) -> list[Fraction] | None:
    """The solution that keeps the unknowns without a pivot at `start`; None if there is none."""
    width = len(start)
    reduced, rank = fmpq_mat(equations).rref()
    pivots = pivot_columns(reduced, rank)
    if width in pivots:
        return None  # 0 = 1: no combination at all
    kept = {c: rational_of(start[c]) for c in range(width) if c not in pivots}
    value = dict(kept)
    for r, pivot in enumerate(pivots):
        rest = sum((reduced[r, c] * x for c, x in kept.items()), fmpq(0))
        value[pivot] = reduced[r, width] - rest
    return [fraction_of(value[c]) for c in range(width)]


def pivot_columns(reduced: Any, rank: int) -> list[int]:
    """Where each row of a reduced matrix has its leading 1."""
    width = reduced.ncols()
    return [next(c for c in range(width) if reduced[r, c] != 0) for r in range(rank)]


def rational_of(x: float) -> Any:
    return fmpq(*float(x).as_integer_ratio())


def fraction_of(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))
