"""Every kind of keys in two to six dimensions beside one call of qhull."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from benchmarks.reaching.evidence import lost_keys, proven, spread, winning
from benchmarks.reaching.keys import KINDS

REPEATS = 3


def family(name: str, n: int) -> dict[str, Any]:
    """Every kind of keys in 2 to 6 dimensions beside one call of qhull; the worst ratio of all."""
    pairs = [(kind, d) for d in range(2, 7) for kind in KINDS]
    members = [_member(kind, n, d) for kind, d in pairs if _affordable(kind, n, d)]
    worst = min(members, key=lambda m: m["qhull"] / m["seconds"])
    return {
        "keys": f"{name}, {len(members)} members, worst: {worst['keys']}",
        "seconds": round(worst["seconds"], 4),
        "memory": "-",
        "peer": f"qhull {worst['qhull'] / worst['seconds']:,.3g}",
        "floor": 0.0,
        "wrong": f"{sum(m['wrong'] for m in members)} of {sum(m['count'] for m in members)}",
        "winners": sum(m["winners"] for m in members),
        "proofs": _summed(m["proofs"] for m in members),
        "margins": _summed(m["margins"] for m in members),
        "undecided": sum(m["undecided"] for m in members),
    }


def _member(kind: str, n: int, d: int) -> dict[str, Any]:
    from scipy.spatial import ConvexHull

    from headwright.design.separation.reachability import reach

    K, corners = KINDS[kind](n, d)
    reach(K[:100])
    seconds, found = _best_of(REPEATS, lambda: reach(K))
    qhull, hull = _best_of(REPEATS, lambda: ConvexHull(K))
    expected = np.zeros(len(K), bool)
    expected[hull.vertices if corners is None else corners] = True
    some = spread(np.array(lost_keys(found), int), 20)
    return {
        "keys": f"{kind}, {len(K)} x {d}",
        "seconds": seconds,
        "qhull": qhull,
        "wrong": int((expected != found.reachable).sum()),
        "count": len(K),
        "winners": found.count,
        "proofs": proven(found, some),
        "margins": winning(found),
        "undecided": found.counts["undecided"],
    }


def _affordable(kind: str, n: int, d: int) -> bool:
    """Can qhull be waited for? On a sphere it makes 30 and 150 facets per key at d = 5 and 6."""
    return kind != "on a sphere" or n * 10.0 ** max(0, d - 4) <= 20_000


def _best_of(times: int, call: Callable[[], Any]) -> tuple[float, Any]:
    spent = []
    answer = None
    for _ in range(times):
        start = time.process_time()
        answer = call()
        spent.append(time.process_time() - start)
    return min(spent), answer


def _summed(counts: Iterator[str]) -> str:
    pairs = [text.split(" of ") for text in counts]
    return f"{sum(int(a) for a, _ in pairs)} of {sum(int(b) for _, b in pairs)}"
