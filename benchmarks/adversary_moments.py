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

from headwright.errors import InputError
from headwright.noise.head.integral import head_moments

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
    rows = [family_row(name, count=QUICK if quick else FULL) for name in FAMILIES]
    cases, violations = (sum(row[name] for row in rows) for name in ("cases", "violations"))
    notes = [
        f"{cases} cases, {violations} violations; seed {SEED}",
        "worst = largest true error over stated error (with the reference's own): above 1 is a violation",
        "not done = the status says that the promise is not kept (the error still holds); refused = a clear error",
    ]
    return {"title": "Exact moments: stated against true errors", "rows": rows, "notes": notes}


def family_row(name: str, *, count: int) -> dict[str, Any]:
    """`count` cases of a family (fewer of a slow one), and how the stated errors fared."""
    count = max(2, count // SLOW) if name in SLOW_FAMILIES else count
    row = {
        "family": name,
        "cases": count,
        "violations": 0,
        "worst": 0.0,
        "not done": 0,
        "refused": 0,
    }
    for number in range(count):
        case = FAMILIES[name](np.random.default_rng([SEED, list(FAMILIES).index(name), number]))
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
        worst = max(
            worst, float(off / stated) if np.isfinite(off) and np.isfinite(stated) else np.inf
        )
    return worst


def _exact(x: Any) -> Fraction:
    return Fraction(float(x))


def _products(rows: np.ndarray, q: np.ndarray) -> list[Fraction]:
    query = [_exact(y) for y in q]
    return [
        sum((_exact(x) * y for x, y in zip(row, query, strict=True)), Fraction(0)) for row in rows
    ]


def _law(case: Case, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means, counted from the largest that is seen, and deviations of the logits, each rounded
    once."""
    n, scale = len(case.K), _exact(case.options.get("scale", 1.0))
    overlaps = _products(case.K, q)
    bias = np.broadcast_to(case.options.get("bias", 0.0), n)
    seen = np.broadcast_to(case.options.get("mask", True), n)
    z = [scale * o + _exact(b) for o, b in zip(overlaps, bias, strict=True)]
    top = max(x for x, s in zip(z, seen, strict=True) if s)
    variances = [scale**2 * v for v in _variances(case.parts, overlaps, q)]
    m = np.array([_float(x - top) if s else -np.inf for x, s in zip(z, seen, strict=True)])
    return m, np.where(np.isfinite(m), [_root(v) for v in variances], 0.0)


def _variances(
    parts: dict[str, np.ndarray], overlaps: list[Fraction], q: np.ndarray
) -> list[Fraction]:
    n, squares = len(overlaps), [_exact(y) ** 2 for y in q]
    total = [Fraction(0)] * n
    if "isotropic" in parts:
        total = [
            t + _exact(a) * sum(squares)
            for t, a in zip(total, np.broadcast_to(parts["isotropic"], n), strict=True)
        ]
    if "radial" in parts:
        total = [
            t + _exact(r) * o**2 for t, r, o in zip(total, parts["radial"], overlaps, strict=True)
        ]
    if "factors" in parts:
        total = [
            t + _products(f.T, q)[0] ** 2 for t, f in zip(total, parts["factors"], strict=True)
        ]
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
    return float(np.ldexp(np.sqrt(float(v / Fraction(4) ** power)), power))


def _reference(case: Case) -> Reference:
    if case.q.ndim == 2:
        return _two_heads(case)
    m, s = _law(case, case.q)
    V = case.V.astype(float)
    if len(m) == 2 and np.isfinite(m).all():
        return _two_keys(m, s, V)
    with np.errstate(under="ignore"):
        head = head_moments(m, s, V)
    errors = head.first * head.spread, head.second * head.spread**2, head.first
    return Reference(head.mean, head.covariance, head.weights_mean, errors)


def _two_keys(m: np.ndarray, s: np.ndarray, V: np.ndarray) -> Reference:
    """c = v_1 + alpha (v_0 - v_1) with alpha a logistic function of one Gaussian."""
    import mpmath as mp

    gap, width = mp.mpf(m[0]) - mp.mpf(m[1]), mp.sqrt(mp.mpf(s[0]) ** 2 + mp.mpf(s[1]) ** 2)
    turns = [(mp.mpf(x) - gap) / width for x in (-50, -15, -4, 0, 4, 15, 50)] if width else []
    cuts = sorted(
        {mp.mpf(x) for x in (-13, -6, -2, 0, 2, 6, 13)} | {t for t in turns if abs(t) < 13}
    )

    def mean(power: int) -> Any:
        def alpha(g: Any) -> Any:
            return 1 / (1 + mp.exp(-gap - width * g)) ** power

        return mp.quad(lambda g: mp.npdf(g) * alpha(g), cuts) if width else alpha(mp.mpf(0))

    with mp.workdps(22):
        first, second = mean(1), mean(2)
        alpha, variance = float(first), float(second - first**2)
    apart = V[0] - V[1]
    rounding = 1e-15 * np.abs(V).max()
    errors = rounding, rounding * np.abs(V).max(), 1e-15
    return Reference(
        V[1] + alpha * apart,
        variance * np.outer(apart, apart),
        np.array([alpha, 1 - alpha]),
        errors,
    )


def _two_heads(case: Case) -> Reference:
    """Two keys, two heads: both weights are logistic functions of a Gaussian pair; a plain double
    sum decides."""
    laws = [_law(case, q) for q in case.q]
    gaps, widths = (
        [f(*law) for law in laws] for f in (lambda m, s: m[0] - m[1], lambda m, s: np.hypot(*s))
    )
    a = np.broadcast_to(case.parts["isotropic"], 2)
    both = float(sum((_exact(x) for x in a), Fraction(0)) * _products(case.q[:1], case.q[1])[0])
    correlation = np.clip(both / (widths[0] * widths[1]), -1.0, 1.0)
    g = np.linspace(-9.5, 9.5, 1601)
    p = np.exp(-g * g / 2)
    p /= p.sum()
    one = 1 / (1 + np.exp(-gaps[0] - widths[0] * g))
    rest = np.sqrt(1 - correlation**2)
    two = 1 / (1 + np.exp(-gaps[1] - widths[1] * (correlation * g[:, None] + rest * g)))
    mix, apart = case.options["mix"], case.V[0] - case.V[1]
    alpha = mix[0] * (p @ one) + mix[1] * (p @ two @ p)
    square = (
        mix[0] ** 2 * (p @ one**2)
        + 2 * mix[0] * mix[1] * (p @ (one * (two @ p)))
        + mix[1] ** 2 * (p @ two**2 @ p)
    )
    mean = sum(mix) * case.V[1] + alpha * apart
    covariance = (square - alpha**2) * np.outer(apart, apart)
    return Reference(mean, covariance, np.array([alpha, sum(mix) - alpha]), (1e-12, 1e-12, 1e-12))
