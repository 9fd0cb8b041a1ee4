"""Does the exact engine ever say less than its error? Hostile problems, each against an independent
reference.

    headwright bench adversary_moments

The reference takes the stored numbers as fractions, so its logits have no rounding at all. Two
keys: their weights are logistic functions of Gaussians, integrated by mpmath (one head) or summed
over a fine lattice (two heads). More keys: every key by itself, in the integrals that the tests
confront with mpmath. A violation is a mean, a covariance or a weight further from the reference
than the stated error of both.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from benchmarks.hostile_moments import FAMILIES, SLOW_FAMILIES, Case
from benchmarks.telling import as_they_come

from headwright.errors import InputError
from headwright.noise.head.integral import head_moments
from headwright.noise.head.tabulated import tabulate
from headwright.noise.heads.pair import PairLaw, pair_moments

SEED = 20
QUICK = 6  # cases of a family
FULL = 400
SLOW = 10  # times fewer where one case takes a second


class Reference(NamedTuple):
    """Mean, covariance and mean weights, and how well they are known."""

    mean: np.ndarray
    covariance: np.ndarray
    weights: np.ndarray
    errors: tuple[float, float, float]


def run(*, quick: bool) -> dict[str, Any]:
    count = QUICK if quick else FULL
    tried = (family_row(name, count=count) for name in FAMILIES)
    rows = list(as_they_come(tried, len(FAMILIES)))
    cases = sum(row["cases"] for row in rows)
    violations = sum(row["violations"] for row in rows)
    notes = [
        f"{cases} cases, {violations} violations; seed {SEED}",
        "worst = largest true error over stated error (with the reference's own): above 1 is a"
        " violation",
        "not done = the status says that the promise is not kept (the error still holds);"
        " refused = a clear error",
    ]
    return {"title": "Exact moments: stated against true errors", "rows": rows, "notes": notes}


def family_row(name: str, *, count: int) -> dict[str, Any]:
    """`count` cases of a family (fewer of a slow one), and how the stated errors fared."""
    if name in SLOW_FAMILIES:
        count = max(2, count // SLOW)
    row: dict[str, Any] = {"family": name, "cases": count, "violations": 0, "worst": 0.0}
    row |= {"not done": 0, "refused": 0}

    family = list(FAMILIES).index(name)
    for number in range(count):
        case = FAMILIES[name](np.random.default_rng([SEED, family, number]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = case.found()
            except InputError:
                row["refused"] += 1
                continue
        ratio = _ratio(case, found)
        row["worst"] = max(row["worst"], ratio)
        row["violations"] += ratio > 1.0
        row["not done"] += found.status != "done"
    row["worst"] = float(f"{row['worst']:.2g}")
    return row


def _ratio(case: Case, found: Any) -> float:
    """The largest true over stated error; infinite where something is no number."""
    true = _reference(case)
    pairs = [
        (found.mean, true.mean, found.mean_error + true.errors[0]),
        (found.covariance, true.covariance, found.covariance_error + true.errors[1]),
        (found.weights_mean, true.weights, found.error + true.errors[2]),
    ]
    worst = 0.0
    for ours, theirs, stated in pairs:
        off = np.abs(np.asarray(ours, dtype=float) - theirs).max()
        known = np.isfinite(off) and np.isfinite(stated)
        ratio = float(off / stated) if known else np.inf
        worst = max(worst, ratio)
    return worst


def _exact(x: Any) -> Fraction:
    return Fraction(float(x))


def _products(rows: np.ndarray, q: np.ndarray) -> list[Fraction]:
    query = [_exact(y) for y in q]
    return [_dot(row, query) for row in rows]


def _dot(row: np.ndarray, query: list[Fraction]) -> Fraction:
    terms = [_exact(x) * y for x, y in zip(row, query, strict=True)]
    return sum(terms, Fraction(0))


def _law(case: Case, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means, counted from the largest that is seen, and deviations of the logits, each rounded
    once."""
    n = len(case.K)
    scale = _exact(case.options.get("scale", 1.0))
    bias = np.broadcast_to(case.options.get("bias", 0.0), n)
    seen = np.broadcast_to(case.options.get("mask", True), n)

    overlaps = _products(case.K, q)
    z = [scale * o + _exact(b) for o, b in zip(overlaps, bias, strict=True)]
    top = max(x for x, s in zip(z, seen, strict=True) if s)
    m = np.array([_float(x - top) if s else -np.inf for x, s in zip(z, seen, strict=True)])

    variances = _variances(case.parts, overlaps, q)
    deviations = [_root(scale**2 * v) for v in variances]
    return m, np.where(np.isfinite(m), deviations, 0.0)


def _variances(
    parts: dict[str, np.ndarray], overlaps: list[Fraction], q: np.ndarray
) -> list[Fraction]:
    """q' C_i q for every key: isotropic a |q|^2, radial r (q'k)^2, a factor (q'f)^2."""
    n = len(overlaps)
    total = [Fraction(0)] * n
    if "isotropic" in parts:
        square = sum((_exact(y) ** 2 for y in q), Fraction(0))
        variances = np.broadcast_to(parts["isotropic"], n)
        total = [t + _exact(a) * square for t, a in zip(total, variances, strict=True)]
    if "radial" in parts:
        grown = zip(total, parts["radial"], overlaps, strict=True)
        total = [t + _exact(r) * overlap**2 for t, r, overlap in grown]
    if "factors" in parts:
        factors = [_products(f.T, q)[0] for f in parts["factors"]]
        total = [t + f**2 for t, f in zip(total, factors, strict=True)]
    return total


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return -np.inf


def _root(v: Fraction) -> float:
    """The square root of a fraction to a unit in the last place: an even power of two is taken out
    first."""
    if v == 0:
        return 0.0
    power = (v.numerator.bit_length() - v.denominator.bit_length()) // 2
    near_one = float(v / Fraction(4) ** power)
    return float(np.ldexp(np.sqrt(near_one), power))


def _reference(case: Case) -> Reference:
    if case.q.ndim == 2:
        return _two_heads(case) if len(case.K) == 2 else _two_heads_key_by_key(case)
    m, s = _law(case, case.q)
    V = case.V.astype(float)
    if len(m) == 2 and np.isfinite(m).all():
        return _two_keys(m, s, V)
    with np.errstate(under="ignore"):
        head = head_moments(m, s, V)
    errors = (head.first * head.farthest, head.second * head.farthest**2, head.first)
    return Reference(head.mean, head.covariance, head.weights_mean, errors)


def _two_keys(m: np.ndarray, s: np.ndarray, V: np.ndarray) -> Reference:
    """c = v_1 + alpha (v_0 - v_1) with alpha a logistic function of one Gaussian."""
    import mpmath as mp

    gap = mp.mpf(m[0]) - mp.mpf(m[1])
    width = mp.sqrt(mp.mpf(s[0]) ** 2 + mp.mpf(s[1]) ** 2)
    cuts = _cuts(gap, width)

    def mean(power: int) -> Any:
        def alpha(g: Any) -> Any:
            return 1 / (1 + mp.exp(-gap - width * g)) ** power

        return mp.quad(lambda g: mp.npdf(g) * alpha(g), cuts) if width else alpha(mp.mpf(0))

    with mp.workdps(22):
        first = mean(1)
        variance = float(mean(2) - first**2)
    alpha = float(first)

    apart = V[0] - V[1]
    size = np.abs(V).max()
    return Reference(
        V[1] + alpha * apart,
        variance * np.outer(apart, apart),
        np.array([alpha, 1 - alpha]),
        errors=(1e-15 * size, 1e-15 * size * size, 1e-15),
    )


def _cuts(gap: Any, width: Any) -> list[Any]:
    """Where the integrand over a normal g bends: its own hills, and the turn of the weight."""
    import mpmath as mp

    cuts = {mp.mpf(x) for x in (-13, -6, -2, 0, 2, 6, 13)}
    if width:
        turns = [(mp.mpf(x) - gap) / width for x in (-50, -15, -4, 0, 4, 15, 50)]
        cuts |= {turn for turn in turns if abs(turn) < 13}
    return sorted(cuts)


def _two_heads(case: Case) -> Reference:
    """Two keys, two heads: both weights are logistic functions of a Gaussian pair; a plain double
    sum decides."""
    first, second = (_law(case, q) for q in case.q)
    widths = [np.hypot(*deviations) for _, deviations in (first, second)]
    gaps = [means[0] - means[1] for means, _ in (first, second)]
    correlation = np.clip(_shared(case) / (widths[0] * widths[1]), -1.0, 1.0)

    g = np.linspace(-9.5, 9.5, 1601)
    p = np.exp(-g * g / 2)
    p /= p.sum()
    rest = np.sqrt(1 - correlation**2)
    one = _logistic(gaps[0] + widths[0] * g)
    two = _logistic(gaps[1] + widths[1] * (correlation * g[:, None] + rest * g))

    # alpha = a w_1 + b w_2, and its square, averaged over the pair
    a, b = case.options["mix"]
    alpha = a * (p @ one) + b * (p @ two @ p)
    squares = a**2 * (p @ one**2) + b**2 * (p @ two**2 @ p)
    square = squares + 2 * a * b * (p @ (one * (two @ p)))

    apart = case.V[0] - case.V[1]
    mean = (a + b) * case.V[1] + alpha * apart
    covariance = (square - alpha**2) * np.outer(apart, apart)
    weights = np.array([alpha, a + b - alpha])
    return Reference(mean, covariance, weights, errors=(1e-12, 1e-12, 1e-12))


def _two_heads_key_by_key(case: Case) -> Reference:
    """More keys: the double integral with a table for every key, which tests compare with the plain
    double sum."""
    laws = [_law(case, q) for q in case.q]
    m, s = (np.stack(column) for column in zip(*laws, strict=True))
    overlap = _products(case.q[:1], case.q[1])[0]
    cross = [float(_exact(a) * overlap) for a in case.parts["isotropic"]]
    law = PairLaw(m, s, np.clip(cross, -s[0] * s[1], s[0] * s[1]))
    V = case.V.astype(float)
    first, second = (head_moments(*one, V) for one in laws)
    tables = [tabulate(*one) for one in laws]
    between = pair_moments(tables[0], tables[1], law, V, heads=(first, second))
    assert between is not None

    a, b = case.options["mix"]
    both = a * b * (between.covariance + between.covariance.T)
    covariance = a**2 * first.covariance + b**2 * second.covariance + both
    sizes = (abs(a) * first.farthest, abs(b) * second.farthest)
    known = sizes[0] * first.first + sizes[1] * second.first
    squares = sizes[0] ** 2 * first.second + sizes[1] ** 2 * second.second
    squares += 2 * sizes[0] * sizes[1] * between.error
    weights = a * first.weights_mean + b * second.weights_mean
    mean = a * first.mean + b * second.mean
    return Reference(mean, covariance, weights, (known, squares, first.first + second.first))


def _shared(case: Case) -> float:
    """Covariance of the two heads' gaps: (a_0 + a_1) q_1'q_2."""
    variances = np.broadcast_to(case.parts["isotropic"], 2)
    total = sum((_exact(a) for a in variances), Fraction(0))
    overlap = _products(case.q[:1], case.q[1])[0]
    return float(total * overlap)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
