"""Two heads whose logits are correlated through every key: what their exact covariance costs beside
one head, over a family of laws and from 300 to 100,000 keys.

headwright bench two_heads
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from benchmarks.telling import as_they_come

import headwright as hw

SIZES = (300, 3000, 10_000, 100_000)
QUICK = (300,)
REPEAT = 5
MANY = 100_000  # keys for which two runs are enough
DIMENSIONS = 64
VALUES = 8


class Law(NamedTuple):
    """The correlation of the two queries, their length, and the noise of n keys."""

    correlation: float
    length: float
    noise: Callable[[np.random.Generator, np.ndarray], Any]


def _isotropic(rng: np.random.Generator, K: np.ndarray) -> Any:
    return hw.GaussianKeys(K, isotropic=1.0)


def _uniform(rng: np.random.Generator, K: np.ndarray) -> Any:
    return hw.GaussianKeys(K, isotropic=rng.uniform(0.5, 2, len(K)) ** 2)


def _log_uniform(rng: np.random.Generator, K: np.ndarray) -> Any:
    deviations = 10 ** rng.uniform(-1, np.log10(2), len(K))
    return hw.GaussianKeys(K, isotropic=deviations**2)


def _radial(rng: np.random.Generator, K: np.ndarray) -> Any:
    return hw.GaussianKeys(K, radial=np.full(len(K), 0.5))


def _little(rng: np.random.Generator, K: np.ndarray) -> Any:
    return hw.GaussianKeys(K, isotropic=0.04)


FAMILY = {
    "deviations in 0.5..2, correlation 0.6": Law(0.6, 1.0, _uniform),
    "equal deviations, correlation 0.3": Law(0.3, 1.0, _isotropic),
    "equal deviations, correlation 0.9": Law(0.9, 1.0, _isotropic),
    "equal deviations, correlation -0.9": Law(-0.9, 1.0, _isotropic),
    "log deviations in 0.1..2, correlation 0.9": Law(0.9, 1.0, _log_uniform),
    "radial noise on every key": Law(0.9, 1.0, _radial),
    "sharp heads, few keys take the weight": Law(0.9, 5.0, _little),
}


def run(*, quick: bool) -> dict[str, Any]:
    sizes = QUICK if quick else SIZES
    rows = list(as_they_come(_rows(sizes), len(sizes) * len(FAMILY)))
    notes = [
        "ms = processor time, ratio = over one of the two heads, best of alternating runs in this"
        " process; error = stated for the covariance, values of size one",
        "MB = peak of traced memory",
    ]
    for n in sizes:
        mine = [row for row in rows if row["n"] == n]
        worst = max(mine, key=lambda row: row["ratio"])
        exact = sum(row["status"] == "done" for row in mine)
        notes.append(
            f"n = {n:,}: {exact} of {len(mine)} exact; worst ratio {worst['ratio']}, {worst['law']}"
        )
    return {"title": "Two heads correlated through every key", "rows": rows, "notes": notes}


def _rows(sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    for n in sizes:
        for name, law in FAMILY.items():
            yield _row(n, name, law)


def _row(n: int, name: str, law: Law) -> dict[str, Any]:
    Q, keys, V = problem(n, law)
    one = []
    two = []
    found = hw.moments(Q, keys, V)
    # Alternating runs: a busy machine then disturbs both alike.
    for _ in range(2 if n >= MANY else REPEAT):
        one.append(_seconds(lambda: hw.moments(Q[0], keys, V)))
        two.append(_seconds(lambda: hw.moments(Q, keys, V)))
    tracemalloc.start()
    hw.moments(Q, keys, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    farthest = max(float(np.abs(V - mean).max()) for mean in found.heads_mean)
    return {
        "n": n,
        "law": name,
        "one head, ms": round(1e3 * min(one), 1),
        "ms": round(1e3 * min(two), 1),
        "ratio": round(min(two) / min(one), 1),
        "status": found.status,
        "error": float(f"{found.covariance_error / farthest**2:.1e}"),
        "MB": round(peak / 1e6),
    }


def problem(n: int, law: Law) -> tuple[np.ndarray, Any, np.ndarray]:
    """Two queries, n random keys and their values."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((n, DIMENSIONS))
    V = rng.standard_normal((n, VALUES))
    first, other = np.linalg.qr(rng.standard_normal((DIMENSIONS, 2)))[0].T
    second = law.correlation * first + np.sqrt(1 - law.correlation**2) * other
    return law.length * np.stack([first, second]), law.noise(rng, K), V


def _seconds(f: Callable[[], Any]) -> float:
    start = time.process_time()
    f()
    return time.process_time() - start
