"""Wide laws of the logits: what the chosen route costs beside every key by itself, and how far off
it is.

headwright bench wide_laws
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from benchmarks.telling import as_they_come

from headwright.noise import exact as exact_route
from headwright.noise.head import integral, laws, nodes
from headwright.noise.head.integral import head_moments
from headwright.noise.heads import pair
from headwright.noise.many.cells import make_cells
from headwright.noise.many.cost import grid_pays

WIDTHS = (1e1, 1e3, 1e4, 1e7, 1e16, 1e100)
SIZES = (49, 200, 5000)
CORRELATION = 0.5
# Every key by itself on twice as many nodes of half the grading is the truth; beyond so many keys
# it takes minutes.
CHECKED = 1000

Law = tuple[np.ndarray, np.ndarray, np.ndarray]


def run(*, quick: bool) -> dict[str, Any]:
    widths = WIDTHS[1::2] if quick else WIDTHS
    one = (_one_head(name, *law) for name, law in _laws(quick))
    two = (_two_heads(width) for width in widths)
    rows = list(as_they_come(chain(one, two)))
    heads = [row for row in rows if row["ratio"] != ""]
    slowest = max(heads, key=lambda row: row["ratio"])
    largest = max(rows, key=lambda row: row["MB"])
    least_sure = max(rows, key=lambda row: row["true / stated"] or 0.0)
    notes = [
        "ms = processor time; ratio = over that of every key by itself, same run;"
        " MB = peak of traced memory",
        "error = stated for the mean (two heads: for the covariance between them);"
        f" true error up to {CHECKED} keys",
        f"slowest beside every key by itself: {slowest['law']}, {slowest['ratio']}",
        f"most memory: {largest['law']}, {largest['MB']} MB",
        f"true error nearest to the stated one: {least_sure['law']}, {least_sure['true / stated']}",
    ]
    return {"title": "Wide laws of the logits", "rows": rows, "notes": notes}


def _laws(quick: bool) -> Iterator[tuple[str, Law]]:
    rng = np.random.default_rng(0)

    def law(s: np.ndarray) -> Law:
        means = rng.standard_normal(s.size)
        values = rng.uniform(-1, 1, (s.size, 8))
        return means, s, values

    for n in SIZES[:2] if quick else SIZES:
        for width in WIDTHS[1::2] if quick else WIDTHS:
            s = rng.uniform(0.5, 2.0, n)
            s[0] = width
            yield f"one of {width:g} among {n}", law(s)
    for low, high in ((-2, 2), (-3, 6)):
        for n in (500,) if quick else (500, 5000):
            s = 10 ** rng.uniform(low, high, n)
            yield f"1e{low} to 1e{high}, {n} keys", law(s)


def _timed(f: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = f()
    return time.process_time() - begin, result


def _peak(f: Callable[[], Any]) -> float:
    tracemalloc.start()
    f()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _one_head(name: str, m: np.ndarray, s: np.ndarray, V: np.ndarray) -> dict[str, Any]:
    exact_route.one_head(m, s, V)
    seconds, found = _timed(lambda: exact_route.one_head(m, s, V))
    direct, _ = _timed(lambda: head_moments(m, s, V))
    true = None
    if m.size <= CHECKED:
        off = np.abs(found.mean - _finer(m, s, V).mean)
        true = float(off.max())
    on_grid = m.size > exact_route.FEW and grid_pays(make_cells(m, s))
    peak = _peak(lambda: exact_route.one_head(m, s, V))

    row = _row(name, "grid" if on_grid else "every key", seconds, peak, found.first)
    row["ratio"] = round(seconds / direct, 2)
    if true is not None:
        row["true error"] = float(f"{true:.1e}")
        row["true / stated"] = float(f"{true / found.first:.1e}")
    return row


def _finer(m: np.ndarray, s: np.ndarray, V: np.ndarray) -> Any:
    """Every key by itself on nodes of half the step."""
    usual = laws.nodes
    try:
        laws.nodes = partial(nodes.nodes, step=nodes.STEP / 2)
        return head_moments(m, s, V)
    finally:
        laws.nodes = usual


def _two_heads(width: float) -> dict[str, Any]:
    """Six keys, the first of them wide in both heads, all of them correlated."""
    rng = np.random.default_rng(1)
    n = 6
    m = rng.standard_normal((2, n))
    s = rng.uniform(0.5, 1.0, (2, n))
    s[:, 0] = width
    c = CORRELATION * s[0] * s[1]
    V = rng.uniform(-1, 1, (n, 2))
    heads = tuple(head_moments(m[h], s[h], V) for h in (0, 1))

    def covariance() -> Any:
        tables = [integral.tabulate(m[h], s[h]) for h in (0, 1)]
        return pair.pair_moments(
            tables[0], tables[1], pair.PairLaw(m, s, c), V, heads=(heads[0], heads[1])
        )

    seconds, found = _timed(covariance)
    name = f"two heads, one key of {width:g}"
    return _row(name, "double integral", seconds, _peak(covariance), found.error)


def _row(law: str, route: str, seconds: float, peak: float, error: float) -> dict[str, Any]:
    """What every row tells; what is blank is told where it is known."""
    return {
        "law": law,
        "route": route,
        "ms": round(1e3 * seconds, 1),
        "ratio": "",
        "MB": round(peak),
        "error": float(f"{error:.1e}"),
        "true error": "",
        "true / stated": "",
    }
