"""A search for a wrong verdict of `reach(K, tolerance=0)`: small keys of every awkward kind, judged
again exactly.

The judge is the first phase of the simplex method in Python's Fractions, and shares no line with
the engine. Every key, and a pair of keys per case, is judged; every witness and every proof is
multiplied out without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from benchmarks.telling import as_they_come

from headwright.design import reach

CASES = 150
QUICK_CASES = 8
Keys = np.ndarray
Rng = np.random.Generator


def run(*, quick: bool) -> dict[str, Any]:
    """Per family: keys and pairs judged, wrong verdicts, witnesses and proofs that do not hold."""
    rng = np.random.default_rng(0)
    count = QUICK_CASES if quick else CASES
    judged = (_family(name, family, count, rng) for name, family in FAMILIES.items())
    rows = list(as_they_come(judged, len(FAMILIES)))
    notes = ["a case is one verdict on one key or one pair; the judge is an exact linear programme"]
    return {"title": "reach at tolerance 0 against exact rationals", "rows": rows, "notes": notes}


def _family(name: str, family: Callable[[Rng], Keys], count: int, rng: Rng) -> dict[str, Any]:
    judged = [judge(family(rng), rng) for _ in range(count)]
    return {
        "family": name,
        "cases": sum(j["verdicts"] for j in judged),
        "violations": sum(j["wrong"] + j["unproven"] for j in judged),
        "wrong verdicts": sum(j["wrong"] for j in judged),
        "evidence that fails": sum(j["unproven"] for j in judged),
    }


def judge(K: Keys, rng: Rng) -> dict[str, int]:
    """How many verdicts on these keys are wrong, and how many come with evidence that does not
    hold."""
    found = reach(K, tolerance=0)
    exact = [[Fraction(float(x)) for x in row] for row in K]
    wrong = unproven = 0
    for j, status in enumerate(found.status):
        members = [i for i, row in enumerate(exact) if row == exact[j]]
        wrong += status != _truth(exact, members)
        unproven += not _holds(exact, found, j, members)
    pair = [int(a) for a in rng.choice(len(K), 2, replace=False)]
    about_pair = reach(K, sets=[pair], tolerance=0)
    wrong += about_pair.status[0] != ("reachable" if _can_win(exact, pair) else "unreachable")
    unproven += not _holds(exact, about_pair, 0, pair)
    return {"verdicts": len(K) + 1, "wrong": wrong, "unproven": unproven}


def _truth(K: list[list[Fraction]], members: list[int]) -> str:
    if not _can_win(K, members):
        return "unreachable"
    return "shared" if len(members) > 1 else "reachable"


def _can_win(K: list[list[Fraction]], members: Sequence[int]) -> bool:
    outside = [i for i in range(len(K)) if i not in members]
    return not outside or not meets(K, members, outside)


def _holds(K: list[list[Fraction]], found: Any, j: int, members: list[int]) -> bool:
    """Does the witness or the proof of verdict j hold, multiplied out?"""
    outside = [i for i in range(len(K)) if i not in members]
    if found.status[j] in ("reachable", "shared"):
        witness = found.witness(j)
        digits = witness.query if witness.rational is None else witness.rational
        scores = [_dot(row, [Fraction(x) for x in digits]) for row in K]
        # Equal scores on a set hold up to the rounding of the query; whole numbers have them
        # exactly.
        equal = witness.rational is None or len({scores[a] for a in members}) == 1
        return equal and all(scores[members[0]] > scores[i] for i in outside)
    proof = found.proof(j)
    if not proof.exact or proof.rational is None:
        return proof.exact
    numbers = [Fraction(text) for text in proof.rational]
    lam, nu = numbers[: len(proof.outside)], numbers[len(proof.outside) :]
    balanced = all(
        _dot(lam, [K[i][c] for i in proof.outside]) == _dot(nu, [K[a][c] for a in proof.inside])
        for c in range(len(K[0]))
    )
    return (
        balanced
        and min(lam) >= 0
        and sum(lam) == sum(nu) == 1
        and not set(proof.outside) & set(proof.inside)
    )


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def meets(K: list[list[Fraction]], members: Sequence[int], outside: Sequence[int]) -> bool:
    """Does the affine hull of `members` meet the convex hull of `outside`?

    sum lam_i (k_i - k_0) + sum (x_a - y_a)(k_a - k_0) = 0,   sum lam = 1,   lam, x, y >= 0
    """
    base = K[members[0]]
    columns = [[*(x - b for x, b in zip(K[i], base, strict=True)), Fraction(1)] for i in outside]
    for a in members[1:]:
        difference = [x - b for x, b in zip(K[a], base, strict=True)]
        columns.append([*difference, Fraction(0)])
        columns.append([*(-x for x in difference), Fraction(0)])
    return feasible(columns, [Fraction(0)] * len(base) + [Fraction(1)])


def feasible(columns: list[list[Fraction]], right: list[Fraction]) -> bool:
    """Is there x >= 0 with `sum_c x_c columns[c] = right >= 0`? Artificial unknowns, one per row,
    are driven out; Bland's rule (always the first column that helps) keeps the method from cycling.
    """
    count, height = len(columns), len(right)
    unit = [[Fraction(int(r == s)) for s in range(height)] for r in range(height)]
    table = [[*(c[r] for c in columns), *unit[r], right[r]] for r in range(height)]
    basis = [count + r for r in range(height)]
    while True:
        artificial = [r for r in range(height) if basis[r] >= count]
        gains = [sum((table[r][c] for r in artificial), Fraction(0)) for c in range(count)]
        enters = next((c for c in range(count) if gains[c] > 0), None)
        if enters is None:
            return sum((table[r][-1] for r in artificial), Fraction(0)) == 0
        ratios = [
            (table[r][-1] / table[r][enters], basis[r], r)
            for r in range(height)
            if table[r][enters] > 0
        ]
        leaves = min(ratios)[2]
        pivot = table[leaves][enters]
        table[leaves] = [x / pivot for x in table[leaves]]
        for r in range(height):
            factor = table[r][enters]
            if r != leaves and factor != 0:
                table[r] = [x - factor * y for x, y in zip(table[r], table[leaves], strict=True)]
        basis[leaves] = enters


def _size(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(2, 9)), int(rng.integers(1, 5))


def _with_midpoint(K: Keys, rng: Rng, share: float = 0.5) -> Keys:
    a, b = rng.choice(len(K), 2, replace=False)
    return np.vstack([K, share * K[a] + (1 - share) * K[b]])


def _nudged(rng: Rng) -> Keys:
    """A midpoint, moved by at most two units in the last place."""
    K = _with_midpoint(rng.standard_normal(_size(rng)), rng)
    K[-1] *= 1 + rng.integers(-2, 3) * 2.0**-52
    return K


def _mean(rng: Rng) -> Keys:
    K = rng.standard_normal(_size(rng))
    return np.vstack([K, rng.dirichlet(np.ones(len(K))) @ K])


def _low_rank(rng: Rng) -> Keys:
    n, d = _size(rng)
    rank = int(rng.integers(1, d + 1))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d + 1))


def _uneven(rng: Rng) -> Keys:
    n, d = _size(rng)
    return _with_midpoint(rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 8, d), rng, 0.25)


FAMILIES: dict[str, Callable[[Rng], Keys]] = {
    "rounded midpoint": lambda rng: _with_midpoint(rng.standard_normal(_size(rng)), rng),
    "midpoint, nudged by a unit": _nudged,
    "float32 midpoint": lambda rng: _with_midpoint(
        rng.standard_normal(_size(rng)).astype(np.float32), rng
    ),
    "midpoint far away": lambda rng: _with_midpoint(rng.standard_normal(_size(rng)) + 1e8, rng),
    "weighted mean": _mean,
    "low rank, rounded": _low_rank,
    "lattice with copies": lambda rng: rng.integers(-1, 2, _size(rng)).astype(float),
    "thirds": lambda rng: rng.integers(-3, 4, _size(rng)) / 3,
    "uneven coordinates": _uneven,
}
