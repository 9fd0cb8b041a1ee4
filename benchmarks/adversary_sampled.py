"""Do sampled moments ever say less than their error? Hostile problems, sampled, against the exact
engine, which `adversary_moments` compares with references of its own.

    headwright bench adversary_sampled

What is stated is a standard error, taken between 32 replicates, with an estimate of what is too
rare to be drawn. So chance alone puts a few in a thousand beyond three times that, and heavy tails
one in a thousand beyond five times. A violation is a mean, a covariance or a weight beyond ten
times what both engines state, which no chance explains.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.hostile_moments import FAMILIES, SLOW_FAMILIES, Case
from benchmarks.telling import as_they_come

from headwright.errors import InputError

SEED = 21
QUICK = 4  # cases of a family
FULL = 400
SLOW = 10  # times fewer where one case takes a second
_OTHERS = {"thousands of keys", "thousands of equal keys", "one of 30 queries in a call"}
SAMPLED = [name for name in FAMILIES if name not in _OTHERS]
_DRAWS = (9, 15)  # powers of two


def run(*, quick: bool) -> dict[str, Any]:
    count = QUICK if quick else FULL
    rows = list(as_they_come((family_row(name, count=count) for name in SAMPLED), len(SAMPLED)))
    cases = sum(row["cases"] for row in rows)
    three, five, violations = (
        sum(row[column] for row in rows) for column in ("beyond 3", "beyond 5", "violations")
    )
    notes = [
        f"{cases} cases: {three} beyond three stated errors, {five} beyond five, {violations}"
        f" violations (beyond ten); seed {SEED}, 512 to 16,384 draws",
        "worst = largest difference from the exact engine over what both state",
    ]
    return {"title": "Sampled moments: stated against true errors", "rows": rows, "notes": notes}


def family_row(name: str, *, count: int) -> dict[str, Any]:
    """`count` cases of a family (fewer of a slow one) that both engines take."""
    if name in SLOW_FAMILIES:
        count = max(2, count // SLOW)
    family = list(FAMILIES).index(name)
    seeds = ([SEED, family, number] for number in range(count))
    found = [_ratio(np.random.default_rng(seed), FAMILIES[name]) for seed in seeds]
    ratios = np.array([ratio for ratio in found if ratio is not None])
    return {
        "family": name,
        "cases": ratios.size,
        "beyond 3": int(np.sum(ratios > 3)),
        "beyond 5": int(np.sum(ratios > 5)),
        "violations": int(np.sum(ratios > 10)),
        "worst": float(f"{ratios.max(initial=0.0):.2g}"),
    }


def _ratio(rng: np.random.Generator, family: Any) -> float | None:
    """The largest difference over stated error; None where the exact engine does not keep its
    promise, or refuses."""
    case: Case = family(rng)
    draws = 2 ** int(rng.integers(*_DRAWS))
    sampled = {"method": "sampled", "samples": draws, "seed": draws}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            true = case.found()
            found = replace(case, options={**case.options, **sampled}).found()
        except InputError:
            return None
    if true.status != "done":
        return None
    ratios = [
        _over(found.mean, true.mean, found.mean_error + true.mean_error),
        _over(found.covariance, true.covariance, found.covariance_error + true.covariance_error),
        _over(found.weights_mean, true.weights_mean, found.error + true.error),
    ]
    return max(ratios)


def _over(ours: np.ndarray, theirs: np.ndarray, stated: float) -> float:
    """Infinite where something is no number."""
    off = float(np.abs(ours - theirs).max())
    if off == 0.0:
        return 0.0
    return off / stated if np.isfinite(off) and 0.0 < stated < np.inf else np.inf
