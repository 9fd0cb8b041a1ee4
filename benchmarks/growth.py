"""How the cost grows: moments over keys, over noise and over heads; reach over keys. Processor
time, all four from one run.

headwright bench growth            the figure is written to docs/reference/growth.{svg,png}
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.moments import general
from benchmarks.telling import as_they_come

import headwright as hw

FIGURE = Path(__file__).parents[1] / "docs" / "reference" / "growth"
REPEATS = 3
Row = dict[str, Any]
Call = Callable[[], Any]


def run(*, quick: bool) -> dict[str, Any]:
    rows = list(as_they_come(_rows(quick)))
    if not quick:
        _draw(rows)
    notes = [
        "ms: processor time of all threads together, best of three runs of the public call",
        "error: of the mean, as stated; reach: keys that stay undecided",
    ]
    return {"title": "How the cost grows", "rows": rows, "notes": notes}


def _rows(quick: bool) -> Iterator[Row]:
    for panel, line, make, sizes in _SERIES:
        for size in sizes[:2] if quick else sizes:
            spent, found = _best(make(size))
            error = found.mean_error if hasattr(found, "mean_error") else found.counts["undecided"]
            yield {
                "grows": panel,
                "what": line,
                "size": size,
                "ms": float(f"{1e3 * spent:.3g}"),
                "error": float(f"{error:.1e}"),
            }


def _best(call: Call) -> tuple[float, Any]:
    runs = []
    found = None
    for _ in range(REPEATS):
        start = time.process_time()
        found = call()
        runs.append(time.process_time() - start)
    return min(runs), found


def _over_keys(n: float) -> Call:
    return partial(hw.moments, *general(int(n), 8))


def _over_noise(s: float) -> Call:
    """Twenty keys, half of them noisy with deviation s, half fixed: the hard mixture of scales."""
    rng = np.random.default_rng(2)
    means = rng.standard_normal((20, 4))
    variances = np.where(np.arange(20) < 10, s * s, 0.0)
    keys = hw.GaussianKeys(means, isotropic=variances)
    return partial(hw.moments, np.eye(4)[0], keys, np.eye(20))


def _independent_heads(h: float) -> Call:
    """Every head looks at a key of its own, so that no key correlates two of them."""
    keys = hw.GaussianKeys(np.eye(20), isotropic=1e-4).radial({0: 0.5})
    return partial(hw.moments, 30.0 * np.eye(20)[: int(h)], keys, np.eye(20))


def _correlated_heads(h: float) -> Call:
    """Every key correlates every pair of heads."""
    rng = np.random.default_rng(3)
    keys = hw.GaussianKeys(rng.standard_normal((20, 8)), isotropic=1.0)
    return partial(hw.moments, rng.standard_normal((int(h), 8)) / 2, keys, np.eye(20))


def _reach(d: int, n: float) -> Call:
    return partial(hw.design.reach, np.random.default_rng(0).standard_normal((int(n), d)))


_KEYS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
_DEVIATIONS = (0.1, 1, 10, 100, 1_000)
_HEADS = (1, 2, 4, 8, 16)
_REACH = (100, 300, 1_000, 3_000, 10_000)
# What grows, the line, the call of one size, the sizes.
_SERIES = (
    ("keys n", "moments, v = 8", _over_keys, _KEYS),
    ("logit deviation s", "moments, 20 keys", _over_noise, _DEVIATIONS),
    ("heads h", "independent, 20 keys", _independent_heads, _HEADS),
    ("heads h", "correlated, 20 keys", _correlated_heads, _HEADS),
    ("keys to reach", "d = 3", partial(_reach, 3), _REACH),
    ("keys to reach", "d = 32", partial(_reach, 32), _REACH),
    ("keys to reach", "d = 384", partial(_reach, 384), _REACH),
)


def _draw(rows: list[Row]) -> None:
    from headwright.report import style

    panels = dict.fromkeys(row["grows"] for row in rows)
    with style.figure(7.4, 5.4, rows=2, columns=2) as (drawing, axes):
        for one, panel in zip(axes.ravel(), panels, strict=True):
            mine = [row for row in rows if row["grows"] == panel]
            lines = list(dict.fromkeys(row["what"] for row in mine))
            for line, colour in zip(lines, style.SERIES, strict=False):
                points = [(row["size"], row["ms"]) for row in mine if row["what"] == line]
                one.loglog(*zip(*points, strict=True), marker="o", ms=4, color=colour, label=line)
            one.set(xlabel=panel, ylabel="processor milliseconds", ylim=_decades(mine))
            sizes = sorted({row["size"] for row in mine})
            one.set_xticks(sizes, [_short(size) for size in sizes])
            one.yaxis.set_major_formatter("{x:g}")
            one.minorticks_off()
            one.grid(True)
            one.legend()
        style.save(drawing, FIGURE)


def _decades(rows: list[Row]) -> tuple[float, float]:
    """Whole ones, so that both ends of the axis have a number."""
    exponents = np.log10([row["ms"] for row in rows])
    return 10.0 ** np.floor(exponents.min()), 10.0 ** np.ceil(exponents.max())


def _short(size: float) -> str:
    """10k, 1M"""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{size / unit:g}{letter}"
    return f"{size:g}"
