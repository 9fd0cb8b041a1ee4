"""Unit keys on a cyclic polytope: how well the length of the shortest query is known where it is
far too long for float64, and what that costs.

headwright bench cyclic
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.telling import as_they_come

LEAK = 0.1
SIZES = ((128, 8, 4), (512, 8, 4), (512, 16, 8), (4096, 8, 4), (4096, 16, 8), (4096, 64, 4))
SETS = 20
CERTIFIED = 1e-6


def run(*, quick: bool) -> dict[str, Any]:
    sizes = SIZES[1:2] if quick else SIZES
    rows = list(as_they_come(_rows(sizes, 5 if quick else SETS)))
    worst = max(rows, key=lambda row: row["worst gap"])
    notes = [
        f"random sets averaged at leak {LEAK:g}; certified = proven gap <= {CERTIFIED:g};"
        " reached = a float64 query does it; ms = processor time per set",
        "impossible = proven for keys within rounding of those stored",
        f"worst: {worst['keys']}, set {worst['worst set']}, gap {worst['worst gap']:.1e}",
    ]
    return {"title": "Keys on a cyclic polytope", "rows": rows, "notes": notes}


def keys(n: int, d: int) -> np.ndarray:
    """The trigonometric moment curve at n even steps, on the unit sphere."""
    turns = np.outer(2 * np.pi * np.arange(n) / n, np.arange(1, d // 2 + 1))
    return np.concatenate([np.cos(turns), np.sin(turns)], axis=1) / np.sqrt(d / 2)


def _rows(sizes: tuple[tuple[int, int, int], ...], count: int) -> Iterator[dict[str, Any]]:
    from headwright.design import average

    for n, d, m in sizes:
        K = keys(n, d)
        rng = np.random.default_rng([n, d, m])
        sets = [sorted(rng.choice(n, m, replace=False).tolist()) for _ in range(count)]
        start = time.process_time()
        designs = [average(S, K, leak=LEAK) for S in sets]
        spent = time.process_time() - start

        possible = [design for design in designs if design.status != "impossible"]
        gaps = [0.0 if design.status == "impossible" else design.gap for design in designs]
        lengths = [design.shortest[1] for design in possible]
        yield {
            "keys": f"{m} of {n} x {d}",
            "certified": f"{sum(design.gap <= CERTIFIED for design in possible)} of {count}",
            "reached": sum(design.status == "reached" for design in designs),
            "impossible": count - len(possible),
            "median length": float(f"{np.median(lengths):.3g}"),
            "longest": float(f"{max(lengths):.3g}"),
            "worst gap": float(f"{max(gaps):.1e}"),
            "worst set": " ".join(map(str, sets[int(np.argmax(gaps))])),
            "ms": round(1e3 * spent / count, 1),
        }
