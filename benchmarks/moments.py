"""Exact moments under random keys: what they cost beside one noiseless forward pass, and beside the
ways around them.

headwright bench moments
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import numpy as np
from benchmarks.key_laws import BENCHMARK_LAW, FAMILY
from benchmarks.telling import as_they_come
from benchmarks.ways_around import bridge, daunizeau, probit, samplers

import headwright as hw
from headwright.blocks import blocks, in_threads
from headwright.noise.gradient.squared_error import squared_error

QUERIES = 1000  # of a batch
_CACHED = 1 << 13  # rows of values in work at once
# Sharpness, and the variances of the keys' noise, isotropic and along the first key: batches of
# queries in random directions, no two laws of a query alike.
BATCHES: dict[str, tuple[float, Any, float]] = {
    "sharpness 30": (30.0, 1e-4, 0.5),
    "small noise": (30.0, 1e-6, 1e-4),
    "wide noise": (30.0, np.linspace(0.005, 0.2, 20), 0.5),
    "sharpness 1,000": (1000.0, 1e-4, 0.5),
}


def run(*, quick: bool) -> dict[str, Any]:
    def measured() -> Iterator[dict[str, Any]]:
        for law in (BENCHMARK_LAW,) if quick else FAMILY:
            yield _forward_ratio(law, 100_000, 2) if quick else _forward_ratio(law, 1_000_000, 12)
        yield _floor(100_000, 2) if quick else _floor(1_000_000, 12)
        yield _small("classic, n = 20, beta = 30", *_classic(np.eye(20)))
        yield _small("the same, other orthonormal keys", *_classic(_rotation()))
        yield from (_batch(name) for name in BATCHES)
        yield _small("n = 100, v = 64", *general(100, 64))
        yield _small("n = 1000, v = 64", *general(1000, 64))
        yield from _gradients()
        yield from _ways_around(quick)

    rows = list(as_they_come(measured()))
    batches = [row for row in rows if "queries in a call" in row["way"]]
    slowest = max(batches, key=lambda row: row["processor ms"])
    over_forward = [row for row in rows if row["baseline"] == "forward pass"]
    worst = max(over_forward, key=lambda row: row["ratio"])
    notes = [
        f"most forward passes: {worst['ratio']}, {worst['way']}",
        f"slowest batch: {slowest['processor ms']} ms of processor time, {slowest['way']}",
        "ratio = time over the time of the row's baseline, best of several runs, both in this"
        " process; processor = of all threads together, which a busy machine disturbs less",
        "error = largest error of the mean, measured against the exact engine (whose own bound is"
        " in its rows)",
        "n = 1e6: K@q, softmax, alpha@V in NumPy is the baseline; memory = extra peak over the size"
        " of K and V",
    ]
    return {"title": "Exact moments of attention under random keys", "rows": rows, "notes": notes}


@dataclass(frozen=True)
class Taken:
    """Seconds, the best of several runs: on the clock, and of all processors together."""

    clock: float
    processor: float


def _best(f: Callable[[], Any], repeat: int) -> tuple[Taken, Any]:
    runs = []
    result = None
    for _ in range(repeat):
        clock = time.perf_counter()
        processor = time.process_time()
        result = f()
        runs.append((time.perf_counter() - clock, time.process_time() - processor))
    return _least(runs), result


def _least(runs: list[tuple[float, float]]) -> Taken:
    clock, processor = np.min(runs, axis=0)
    return Taken(float(clock), float(processor))


def general(n: int, v: int, *, law: str = BENCHMARK_LAW) -> tuple[np.ndarray, Any, np.ndarray]:
    """Means of logits of deviation 1, or six, deviations different for every key."""
    spread, deviations = FAMILY[law]
    rng = np.random.default_rng(0)
    K = rng.standard_normal((n, 64))
    V = rng.standard_normal((n, v))
    q = rng.standard_normal(64)
    q *= spread / np.linalg.norm(q)
    variances = (deviations(rng, n) / spread) ** 2
    return q, hw.GaussianKeys(K, isotropic=variances), V


def _classic(mu: np.ndarray, beta: float = 30.0) -> tuple[np.ndarray, Any, np.ndarray]:
    keys = hw.GaussianKeys(mu, isotropic=1e-4).radial({0: 0.5})
    return beta * (mu[0] + mu[1]), keys, np.eye(20)


def _rotation() -> np.ndarray:
    """Orthonormal keys that are no unit vectors: rounding makes all their laws differ."""
    return np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]


def _forward(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    z = K @ q
    z -= z.max()
    alpha = np.exp(z)
    alpha /= alpha.sum()
    return alpha @ V


def _forward_ratio(law: str, n: int, repeat: int) -> dict[str, Any]:
    q, keys, V = general(n, 64, law=law)
    forward = []
    exact = []
    # Alternating runs: a busy machine then disturbs both alike.
    for _ in range(repeat):
        forward.append(astuple(_best(lambda: _forward(q, keys.means, V), 1)[0]))
        exact.append(astuple(_best(lambda: hw.moments(q, keys, V), 1)[0]))

    tracemalloc.start()
    m = hw.moments(q, keys, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    name = f"exact, n = {n:.0e}, d = v = 64, {law}"
    row = _row(name, _least(exact), "forward pass", _least(forward), error=m.mean_error)
    row["extra memory"] = f"{peak / (keys.means.nbytes + V.nbytes):.0%}"
    return row


def _floor(n: int, repeat: int) -> dict[str, Any]:
    """What an exact engine in NumPy cannot leave out: one product with the keys, and the scatter
    `V' diag(D) V` of all values in single precision."""
    q, keys, V = general(n, 64)
    roots = np.ones((n, 1), dtype=np.float32)

    def scatter(rows: slice) -> np.ndarray:
        """Of some rows, those at a time that stay in cache."""
        total = np.zeros((V.shape[1], V.shape[1]))
        for start in range(rows.start, rows.stop, _CACHED):
            some = slice(start, min(start + _CACHED, rows.stop))
            values = V[some].astype(np.float32)
            values *= roots[some]
            total += values.T @ values
        return total

    def both() -> Any:
        return keys.means @ q, in_threads(scatter, blocks(n, -(-n // 8), V), V)

    forward = []
    least = []
    for _ in range(repeat):
        forward.append(astuple(_best(lambda: _forward(q, keys.means, V), 1)[0]))
        least.append(astuple(_best(both, 1)[0]))
    name = f"floor, n = {n:.0e}: K@q, and V' diag(D) V in single precision"
    row = _row(name, _least(least), "forward pass", _least(forward), error=0.0)
    return row | {"error": ""}


def _batch(name: str) -> dict[str, Any]:
    """Many queries in random directions on the classic keys in one call: milliseconds of each."""
    sharpness, isotropic, radial = BATCHES[name]
    keys = hw.GaussianKeys(_rotation(), isotropic=isotropic).radial({0: radial})
    V = np.eye(20)
    directions = np.random.default_rng(1).standard_normal((QUERIES, 20))
    q = sharpness * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    base, _ = _best(lambda: hw.attend(q, keys.means, V), 3)
    seconds, m = _best(lambda: hw.moments(q[:, None, :], keys, V), 3)
    way = f"exact, n = 20, one of {QUERIES:,} queries in a call, {name}"
    each = Taken(seconds.clock / QUERIES, seconds.processor / QUERIES)
    one = Taken(base.clock / QUERIES, base.processor / QUERIES)
    return _row(way, each, "hw.attend", one, error=m.mean_error)


def _small(name: str, q: np.ndarray, keys: Any, V: np.ndarray) -> dict[str, Any]:
    base, _ = _best(lambda: hw.attend(q, keys.means, V), 20)
    seconds, m = _best(lambda: hw.moments(q, keys, V), 20)
    return _row(f"exact, {name}", seconds, "hw.attend", base, error=m.mean_error)


def _gradients() -> Iterator[dict[str, Any]]:
    """The gradient that robust design descends along, beside forward differences of moments: one
    more value for each coordinate of two queries and each share of the mix."""
    _, keys, V = _classic(np.eye(20))
    target = (V[0] + V[1]) / 2
    mix = np.full(2, 0.5)
    heads = {
        "independent": 30.0 * V[:2],
        "correlated": 10.0 * V[:2] + 3.0 * V[1::-1],
    }
    for name, Q in heads.items():
        value, m = _best(partial(hw.moments, Q, keys, V, mix=mix), 5)
        taken, _ = _best(partial(squared_error, Q, keys, V, target, mix=mix), 5)
        values = Q.size + mix.size + 1
        differences = Taken(values * value.clock, values * value.processor)
        way = f"gradient, 20 keys, two {name} heads"
        yield _row(way, taken, "differences", differences, error=m.mean_error)
    robust = partial(hw.design.average, [0, 1], np.eye(20), heads=2, law=keys, budget=30)
    taken, design = _best(robust, 2)
    yield _row("robust design, classic", taken, "itself", taken, error=design.robust.accuracy)


def _row(way: str, taken: Taken, baseline: str, base: Taken, *, error: float) -> dict[str, Any]:
    return {
        "way": way,
        "ms": round(1e3 * taken.clock, 3),
        "processor ms": round(1e3 * taken.processor, 3),
        "baseline": baseline,
        "ratio": round(taken.clock / base.clock, 2),
        "processor ratio": round(taken.processor / base.processor, 2),
        "error": float(f"{error:.1e}"),
        "extra memory": "",
    }


def _ways_around(quick: bool) -> list[dict[str, Any]]:
    """What people do instead, on the classic example: time and error of E[alpha]."""
    q, keys, V = _classic(np.eye(20))
    law = keys.logits_law(q)
    m = law.means
    s = np.sqrt(law.variances)
    seconds, exact = _best(lambda: hw.moments(q, keys, V), 10)

    def compared(name: str, way: Callable[[], np.ndarray], repeat: int) -> dict[str, Any]:
        taken, alpha = _best(way, repeat)
        error = np.abs(alpha - exact.weights_mean).max()
        return _row(name, taken, "exact", seconds, error=error)

    rows = []
    formulas = {"mean field / probit": probit, "Laplace bridge": bridge, "Daunizeau": daunizeau}
    for name, formula in formulas.items():
        rows.append(compared(f"{name}, classic", partial(formula, m, s), 10))

    rng = np.random.default_rng(1)
    # A weight that is a fair coin has standard error 0.5 / sqrt(samples); matched accuracy fixes
    # the samples.
    for accuracy in (1e-3,) if quick else (1e-3, 1e-4):
        samples = round((0.5 / accuracy) ** 2)
        for name, sampler in samplers().items():
            sampled = partial(sampler, m, s, samples, rng)
            rows.append(compared(f"{name}, {samples:,} samples", sampled, 1))
    return rows
