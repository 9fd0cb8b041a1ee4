"""Exact moments under random keys: what they cost beside one noiseless forward pass, and beside the
ways around them.

headwright bench moments            figures are written to docs/reference/moments-growth.{svg,png}
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.telling import as_they_come

import headwright as hw

FIGURE = Path(__file__).parents[1] / "docs" / "reference" / "moments-growth"


def run(*, quick: bool) -> dict[str, Any]:
    growth: list[dict[str, Any]] = []

    def measured() -> Iterator[dict[str, Any]]:
        yield _forward_ratio(100_000, repeat=2) if quick else _forward_ratio(1_000_000, repeat=12)
        yield _small("classic, n = 20, beta = 30", *_classic(30.0))
        yield _small("n = 1000, v = 64", *_general(1000, 64))
        yield from _ways_around(quick)
        growth.extend(_growth(quick))
        yield from growth

    rows = list(as_they_come(measured()))
    if not quick:
        _draw(growth)
    notes = [
        "ratio = time over the time of the row's baseline, best of several runs, both in this"
        " process",
        "error = largest error of the mean, measured against the exact engine (whose own bound is"
        " in its rows)",
        "n = 1e6: K@q, softmax, alpha@V in NumPy is the baseline; memory = extra peak over the size"
        " of K and V",
    ]
    return {"title": "Exact moments of attention under random keys", "rows": rows, "notes": notes}


def _best(f: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    times = []
    result = None
    for _ in range(repeat):
        begin = time.perf_counter()
        result = f()
        times.append(time.perf_counter() - begin)
    return min(times), result


def _general(n: int, v: int) -> tuple[np.ndarray, Any, np.ndarray]:
    """Means of logits of deviation 1, deviations between 0.5 and 2, different for every key."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((n, 64))
    V = rng.standard_normal((n, v))
    q = rng.standard_normal(64)
    q /= np.linalg.norm(q)
    deviations = rng.uniform(0.5, 2, n)
    return q, hw.GaussianKeys(K, isotropic=deviations**2), V


def _classic(beta: float) -> tuple[np.ndarray, Any, np.ndarray]:
    mu = np.eye(20)
    keys = hw.GaussianKeys(mu, isotropic=1e-4).radial({0: 0.5})
    return beta * (mu[0] + mu[1]), keys, mu


def _forward(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    z = K @ q
    z -= z.max()
    alpha = np.exp(z)
    alpha /= alpha.sum()
    return alpha @ V


def _forward_ratio(n: int, repeat: int) -> dict[str, Any]:
    q, keys, V = _general(n, 64)
    forward = []
    exact = []
    # Alternating runs: a busy machine then disturbs both alike.
    for _ in range(repeat):
        forward.append(_best(lambda: _forward(q, keys.means, V), 1)[0])
        exact.append(_best(lambda: hw.moments(q, keys, V), 1)[0])

    tracemalloc.start()
    m = hw.moments(q, keys, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    name = f"exact, n = {n:.0e}, d = v = 64"
    row = _row(name, min(exact), "forward pass", min(forward), error=m.mean_error)
    row["extra memory"] = f"{peak / (keys.means.nbytes + V.nbytes):.0%}"
    return row


def _small(name: str, q: np.ndarray, keys: Any, V: np.ndarray) -> dict[str, Any]:
    base, _ = _best(lambda: hw.attend(q, keys.means, V), 20)
    seconds, m = _best(lambda: hw.moments(q, keys, V), 20)
    return _row(f"exact, {name}", seconds, "hw.attend", base, error=m.mean_error)


def _row(way: str, seconds: float, baseline: str, base: float, *, error: float) -> dict[str, Any]:
    return {
        "way": way,
        "ms": round(1e3 * seconds, 3),
        "baseline": baseline,
        "ratio": round(seconds / base, 2),
        "error": float(f"{error:.1e}"),
        "extra memory": "",
    }


def _ways_around(quick: bool) -> list[dict[str, Any]]:
    """What people do instead, on the classic example: time and error of E[alpha]."""
    q, keys, V = _classic(30.0)
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
        for name, sampler in _samplers().items():
            sampled = partial(sampler, m, s, samples, rng)
            rows.append(compared(f"{name}, {samples:,} samples", sampled, 1))
    return rows


def probit(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Mean field with the probit factor: softmax of m / sqrt(1 + pi s^2 / 8)."""
    return _softmax(m / np.sqrt(1 + np.pi * s * s / 8))


def bridge(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Laplace bridge (MacKay): the Dirichlet whose Laplace approximation in softmax coordinates is
    the Gaussian."""
    n = m.size
    concentration = (1 - 2 / n + np.exp(m) * np.exp(-m).sum() / n**2) / (s * s)
    return concentration / concentration.sum()


def daunizeau(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Semi-analytical sigmoid of pairwise differences: 1 / (2 - n + sum_j 1 / sigmoid((m_i - m_j) /
    sqrt(1 + a v)))."""
    gap = (m[:, None] - m) / np.sqrt(1 + 0.368 * (s[:, None] ** 2 + s**2))
    with np.errstate(over="ignore"):
        return 1 / (2 - m.size + (1 + np.exp(-gap)).sum(axis=1))


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _samplers() -> dict[str, Callable[..., np.ndarray]]:
    """Monte Carlo in logit space, in blocks that stay in cache: NumPy, and torch where it is
    installed."""

    def numpy_sampler(m, s, samples, rng):
        total = np.zeros(m.size)
        for begin in range(0, samples, 8192):
            z = rng.standard_normal((min(8192, samples - begin), m.size))
            z *= s
            z += m
            np.exp(z, out=z)
            total += (1 / z.sum(axis=1)) @ z
        return total / samples

    samplers: dict[str, Callable[..., np.ndarray]] = {"Monte Carlo, NumPy": numpy_sampler}
    try:
        import torch
    except ImportError:
        return samplers

    def torch_sampler(m, s, samples, rng):
        generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        mean = torch.from_numpy(m)
        width = torch.from_numpy(s)
        total = torch.zeros(m.size, dtype=torch.float64)
        for begin in range(0, samples, 8192):
            shape = (min(8192, samples - begin), m.size)
            z = torch.randn(shape, dtype=torch.float64, generator=generator)
            total += torch.softmax(z.mul_(width).add_(mean), dim=1).sum(dim=0)
        return (total / samples).numpy()

    return samplers | {"Monte Carlo, torch": torch_sampler}


def _growth(quick: bool) -> list[dict[str, Any]]:
    """Cost over keys and over noise; ratios to the first of each series."""
    sizes = (100, 1000, 10_000) if quick else (10, 100, 1000, 10_000, 100_000, 1_000_000)
    widths = (1.0, 100.0) if quick else (0.1, 1.0, 10.0, 100.0, 1000.0)
    over_keys = {n: _general(n, 8) for n in sizes}
    over_noise = {s: _two_widths(s) for s in widths}
    return _series("n", over_keys) + _series("s", over_noise)


def _series(name: str, cases: dict[Any, Any]) -> list[dict[str, Any]]:
    rows = []
    base = None
    for value, case in cases.items():
        seconds, m = _best(partial(hw.moments, *case), 3)
        base = base or seconds
        way = f"growth, {name} = {value:g}"
        rows.append(_row(way, seconds, f"first {name}", base, error=m.mean_error))
    return rows


def _two_widths(s: float) -> tuple[np.ndarray, Any, np.ndarray]:
    """Twenty keys, half of them noisy with deviation s, half fixed: the hard mixture of scales."""
    rng = np.random.default_rng(2)
    means = rng.standard_normal((20, 4))
    variances = np.where(np.arange(20) < 10, s * s, 0.0)
    return np.eye(4)[0], hw.GaussianKeys(means, isotropic=variances), np.eye(20)


def _draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    from headwright.report import style

    labels = {"n": "keys n", "s": "logit deviation s"}
    with style.figure(7.0, 2.8, columns=2) as (drawing, panels):
        for axes, (series, label) in zip(panels, labels.items(), strict=True):
            mine = [r for r in rows if r["way"].startswith(f"growth, {series} =")]
            x = [float(r["way"].split("=")[1]) for r in mine]
            axes.loglog(x, [r["ms"] for r in mine], marker="o", color=style.ROLES["output"])
            axes.set_xlabel(label)
            axes.set_ylabel("milliseconds")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
        style.save(drawing, FIGURE)
