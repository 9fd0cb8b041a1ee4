"""An independent judge for reachability verdicts: Python's Fractions only, nothing of the engine.

A float is a rational number, so every claim about stored keys can be multiplied out without
rounding.
"""

from __future__ import annotations

from fractions import Fraction


def row(k):
    return [Fraction(float(x)) for x in k]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def exact_margin(K, members, query):
    """min over outside keys of (score of the members' lowest - score): exact, for the query as
    stored."""
    q = row(query)
    inside = min(dot(row(K[a]), q) for a in members)
    outside = [dot(row(K[i]), q) for i in range(len(K)) if i not in set(members)]
    return inside - max(outside)


def is_combination(K, outside, weights, inside, coefficients):
    """Do these rationals prove that no query selects `inside`? Every condition, exactly."""
    if set(outside) & set(inside) or not outside:
        return False
    if sum(weights) != 1 or sum(coefficients) != 1 or min(weights) < 0:
        return False
    for c in range(len(K[0])):
        left = sum(w * Fraction(float(K[i][c])) for w, i in zip(weights, outside, strict=True))
        right = sum(w * Fraction(float(K[a][c])) for w, a in zip(coefficients, inside, strict=True))
        if left != right:
            return False
    return True


def solve(columns, right):
    """One exact solution of `sum_c x_c columns[c] = right`, zero on free columns, or None; by
    elimination."""
    rows = [[*(column[r] for column in columns), right[r]] for r in range(len(right))]
    pivots, width = [], len(columns)
    for c in range(width):
        at = len(pivots)
        r = next((r for r in range(at, len(rows)) if rows[r][c] != 0), None)
        if r is None:
            continue
        rows[at], rows[r] = rows[r], rows[at]
        rows[at] = [x / rows[at][c] for x in rows[at]]
        for other in range(len(rows)):
            if other != at and rows[other][c] != 0:
                factor = rows[other][c]
                rows[other] = [x - factor * y for x, y in zip(rows[other], rows[at], strict=True)]
        pivots.append(c)
    if any(r[width] != 0 for r in rows[len(pivots) :]):
        return None
    x = [Fraction(0)] * width
    for r, c in enumerate(pivots):
        x[c] = rows[r][width]
    return x


def rational_coefficients(K, proof):
    """Exact coefficients next to the floats of a proof of one key: the small ones are kept, an
    affinely independent set of the others is solved for. None if a coefficient would have to be
    negative."""
    (j,) = proof.inside
    order = sorted(range(len(proof.outside)), key=lambda i: -proof.outside_coefficients[i])
    lifted = [[*row(K[proof.outside[i]]), Fraction(1)] for i in order]
    basis, reduced = [], []
    for position, vector in enumerate(lifted):
        rest = vector
        for pivot, known in reduced:
            if rest[pivot] != 0:
                factor = rest[pivot]
                rest = [x - factor * y for x, y in zip(rest, known, strict=True)]
        pivot = next((c for c, x in enumerate(rest) if x != 0), None)
        if pivot is not None:
            reduced.append((pivot, [x / rest[pivot] for x in rest]))
            basis.append(position)
    kept = [p for p in range(len(order)) if p not in set(basis)]
    fixed = {p: Fraction(float(proof.outside_coefficients[order[p]])) for p in kept}
    target = [*row(K[j]), Fraction(1)]
    for p, value in fixed.items():
        target = [t - value * x for t, x in zip(target, lifted[p], strict=True)]
    solved = solve([lifted[p] for p in basis], target)
    if solved is None or min(solved) < 0:
        return None
    weights = fixed | dict(zip(basis, solved, strict=True))
    result = [Fraction(0)] * len(order)
    for p, i in enumerate(order):
        result[i] = weights[p]
    return result
