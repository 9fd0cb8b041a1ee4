"""How the price falls with d, as exponents with intervals.

Random and optimised keys.  d* (`predicted.threshold`) is where half of all sets can be selected and
the floor is what is left as d grows; between them the price follows

    median norm = floor (1 - d*/d)^(-b),                 fitted: b, for every family and q.

Cyclic keys.  A polynomial of degree d/2 can fall between two neighbours, 2 pi / N apart, by at most
a multiple of (d/N)^2 of its height, and the Fejer product does fall that much (`bounds`): once d is
large enough to tell the keys of a typical set apart, d >= 2 q^2, and while N >= 4 d,

    median norm = c N^a / d^b,                           fitted: a, b, c for every q; theory: 2, 2.

Intervals: 95% of bootstrap samples of the sets within each group, the keys as they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headwright.study.price import bounds
from headwright.study.price.groups import Group, Key, norms
from headwright.study.price.predicted import predicted_norm, threshold
from headwright.study.section import Rows

LEAK = 0.1
Medians = dict[Key, float]
_SAMPLES = 200
# Closer to the threshold the median of a few sets says little
_CLEAR = 1.25
_FEWEST = 3


@dataclass(frozen=True)
class Fit:
    """`r2`: the share of the variance of ln(norm) that the fit explains, over `points` medians."""

    exponents: tuple[float, ...]
    constant: float
    r2: float
    points: int


def medians(found: list[Group]) -> Medians:
    return {(g.family, g.N, g.q, g.d): g.median for g in found}


def threshold_law(found: Medians, family: str, q: int) -> Fit | None:
    """b of (1 - d*/d)^(-b): a line through the origin in logarithms."""
    x = []
    y = []
    for (kind, N, size, d), median in found.items():
        clear = _CLEAR * threshold(N, size) <= d < N
        if kind == family and size == q and clear and math.isfinite(median):
            x.append(-math.log1p(-threshold(N, q) / d))
            y.append(math.log(median / bounds.floor(N, q, LEAK)))
    if len(x) < _FEWEST:
        return None
    return _fitted(np.array(x)[:, None], np.array(y), constant=False)


def resolved(N: int, q: int, d: int) -> bool:
    """Can cyclic keys tell a typical set apart, and is d still small beside N?"""
    return d >= 2 * q * q and d >= 4 and N >= 4 * d


def cyclic_law(found: Medians, q: int) -> Fit | None:
    """a and -b of c N^a / d^b."""
    rows = [
        (math.log(N), math.log(d), math.log(median))
        for (family, N, size, d), median in found.items()
        if family == "cyclic" and size == q and resolved(N, q, d) and math.isfinite(median)
    ]
    several = {row[0] for row in rows}
    if len(rows) < _FEWEST + 1 or len(several) < 2:
        return None
    table = np.array(rows)
    return _fitted(table[:, :2], table[:, 2], constant=True)


def _fitted(x: np.ndarray, y: np.ndarray, *, constant: bool) -> Fit:
    columns = np.column_stack([x, np.ones(len(y))]) if constant else x
    solution = np.linalg.lstsq(columns, y, rcond=None)[0]
    missed = y - columns @ solution
    spread = y - y.mean()
    r2 = 1 - float(missed @ missed) / float(spread @ spread)
    exponents = tuple(float(b) for b in solution[: x.shape[1]])
    return Fit(exponents, float(math.exp(solution[-1])) if constant else 1.0, r2, len(y))


def resampled(rows: Rows, *, seed: int = 0) -> list[Medians]:
    """The medians of bootstrap samples: every group's sets drawn again, with replacement."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for key, prices in _prices(rows).items():
        again = np.sort(rng.choice(prices, (_SAMPLES, len(prices))), axis=1)
        drawn[key] = again[:, (len(prices) - 1) // 2].tolist()
    return [{key: some[i] for key, some in drawn.items()} for i in range(_SAMPLES)]


def interval(
    samples: list[Medians], law: Callable[[Medians], Fit | None]
) -> list[tuple[float, float]]:
    """95% of the samples' exponents lie between these, for every exponent of the law."""
    fits = [fit for fit in map(law, samples) if fit is not None]
    ends = np.quantile([fit.exponents for fit in fits], [0.025, 0.975], axis=0)
    return [(float(low), float(high)) for low, high in ends.T]


def _prices(rows: Rows) -> dict[Key, np.ndarray]:
    together: dict[Key, Rows] = defaultdict(list)
    for row in rows:
        together[row["family"], row["N"], row["q"], row["d"]].append(row)
    return {key: np.array(norms(members)) for key, members in together.items()}


def against_prediction(found: list[Group]) -> dict[Key, float]:
    """Random keys: measured median over predicted length, where both are there."""
    ratios: dict[Key, float] = {}
    for group in found:
        clear = group.d >= _CLEAR * threshold(group.N, group.q)
        if group.family == "random" and clear and math.isfinite(group.median):
            expected = predicted_norm(group.N, group.q, group.d, LEAK)
            ratios[group.family, group.N, group.q, group.d] = group.median / expected
    return ratios
