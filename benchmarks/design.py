"""The cheapest query against general solvers: copy one of n Gaussian keys, leak 1e-3, one BLAS
thread, CPU seconds.

Peers get the same problem: as one exponential-cone programme, as the max-margin relaxation (a
quadratic programme, sufficient only), or as a smooth penalty for L-BFGS. `length` and `leak` stand
beside every time, because a fast wrong query is no peer. Run in a child process, where the thread
count can still be set.

    python benchmarks/design.py [--quick]               the rows, one JSON object a line
    python benchmarks/design.py --growth docs/reference  cost in n, d and m, drawn into that folder
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

LEAK = 1e-3
SIZES = ((1_000, 64), (3_000, 128), (10_000, 384), (100_000, 768))
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


NOTES = [
    "ratio: CPU seconds of this solver over headwright's; above 1 is slower than headwright",
    "headwright's time is the public call: checks, solver, certificate and lower bound "
    "included; best of three",
    "cone: the problem itself; margin: each key on its own, a sufficient condition: longer "
    "query, smaller leak",
    "forward pass: one softmax of one query, the floor no solver can reach",
    "solvers missing at a size need minutes or gigabytes there: raise their limit in PEERS to see",
]


def run(*, quick: bool) -> dict[str, Any]:
    """The table of ratios, computed by a child process with one thread."""
    from benchmarks.telling import as_they_come

    words = [sys.executable, __file__, *(["--quick"] if quick else [])]
    one_thread = {**os.environ, **ONE_THREAD}
    with subprocess.Popen(words, env=one_thread, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        rows = list(as_they_come(json.loads(line) for line in child.stdout))
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    return {"title": f"copy one key, leak {LEAK:g}", "rows": rows, "notes": NOTES}


def table(quick: bool) -> Iterator[dict[str, Any]]:
    """The rows, each as soon as it is measured."""
    for n, d in SIZES[:1] if quick else SIZES:
        K = np.random.default_rng(0).standard_normal((n, d))
        (design, mine), floor = _best(lambda K=K: _ours(K)), _best(lambda K=K: _forward(K))[1]
        gap = 1 - design.lower_bound / design.norm
        yield _row((n, d), "headwright", mine, mine, design.queries[0], K, gap=gap)
        yield {
            "keys": f"{n} x {d}",
            "solver": "forward pass",
            "seconds": floor,
            "ratio": floor / mine,
        }
        for name, (solve, most) in PEERS.items():
            if n * d > (most if not quick else min(most, 100_000)):
                continue
            try:
                solve(K[:100])  # imports and first-call costs are not the solver's
            except ImportError:
                continue
            q, spent = _timed(lambda solve=solve, K=K: solve(K))
            yield _row((n, d), name, spent, mine, q, K)


def _row(
    size: tuple[int, int], name: str, spent: float, mine: float, q: Any, K: Any, **more: float
) -> dict[str, Any]:
    row = {
        "keys": f"{size[0]} x {size[1]}",
        "solver": name,
        "seconds": spent,
        "ratio": spent / mine,
    }
    if q is None:
        return {**row, "length": "failed"}
    z = K @ q
    rest = np.exp(z[1:] - z[0]).sum()
    return {**row, "length": float(np.linalg.norm(q)), "leak": float(rest / (1 + rest)), **more}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _best(work: Callable[[], Any]) -> tuple[Any, float]:
    return min((_timed(work) for _ in range(3)), key=lambda pair: pair[1])


def _ours(K: np.ndarray) -> Any:
    from headwright.design import copy

    return copy(0, K, leak=LEAK)


def _forward(K: np.ndarray) -> np.ndarray:
    z = K @ K[0]
    e = np.exp(z - z.max())
    return e / e.sum()


def _cone(K: np.ndarray) -> Any:
    import cvxpy as cp

    q = cp.Variable(K.shape[1])
    return _conic(cp, q, cp.log_sum_exp((K[1:] - K[0]) @ q) <= np.log(LEAK / (1 - LEAK)))


def _margin_cone(K: np.ndarray) -> Any:
    import cvxpy as cp

    q = cp.Variable(K.shape[1])
    return _conic(cp, q, (K[0] - K[1:]) @ q >= _margin(K))


def _conic(cp: Any, q: Any, rule: Any) -> Any:
    problem = cp.Problem(cp.Minimize(cp.sum_squares(q)), [rule])
    try:
        problem.solve(solver="CLARABEL")
    except cp.error.SolverError:
        return None
    return q.value


def _margin(K: np.ndarray) -> float:
    return float(np.log((len(K) - 1) * (1 - LEAK) / LEAK))


def _lbfgs(K: np.ndarray) -> Any:
    """Smooth penalty ||q||^2/2 + mu f(q), mu found by bisection on f = ln odds, warm started."""
    from scipy.optimize import minimize

    X, odds, q = K[0] - K[1:], np.log(LEAK / (1 - LEAK)), np.zeros(K.shape[1])

    def level(q: np.ndarray) -> tuple[float, np.ndarray]:
        u = -(X @ q)
        e = np.exp(u - u.max())
        return float(u.max() + np.log(e.sum())), -(e @ X) / e.sum()

    def value(q: np.ndarray, mu: float) -> tuple[float, np.ndarray]:
        f, g = level(q)
        return 0.5 * float(q @ q) + mu * f, q + mu * g

    low, high = 1e-6, 1e6
    for _ in range(40):
        mu = np.sqrt(low * high)
        q = minimize(
            value,
            q,
            args=(mu,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 500, "gtol": 1e-9},
        ).x
        f = level(q)[0]
        low, high = (mu, high) if f > odds else (low, mu)
        if abs(f - odds) < 1e-8:
            break
    return q


def _daqp(K: np.ndarray) -> Any:
    import daqp

    X, d = np.ascontiguousarray(K[0] - K[1:]), K.shape[1]
    upper, lower = np.full(len(X), 1e30), np.full(len(X), _margin(K))
    q, _, flag, _ = daqp.solve(
        np.eye(d), np.zeros(d), X, upper, lower, np.zeros(len(X), dtype=np.intc)
    )
    return q if flag == 1 else None


def _quadprog(K: np.ndarray) -> Any:
    import quadprog

    X, d = K[0] - K[1:], K.shape[1]
    return quadprog.solve_qp(np.eye(d), np.zeros(d), X.T.copy(), np.full(len(X), _margin(K)))[0]


def _liblinear(K: np.ndarray) -> Any:
    """Hard margin through a large C; differences and their mirror images make the two classes it
    wants."""
    from liblinear import liblinearutil as ll

    X = K[0] - K[1:]
    labels = np.concatenate([np.ones(len(X)), -np.ones(len(X))])
    model = ll.train(labels, np.vstack([X, -X]), "-s 1 -c 1000000 -e 1e-6 -B -1 -q")
    w = np.array(model.get_decfun()[0])
    least = (X @ w).min()
    return w * _margin(K) / least if least > 0 else None


# name -> (solver, most coordinates it is given)
PEERS: dict[str, tuple[Callable[[np.ndarray], Any], int]] = {
    "clarabel cone": (_cone, 500_000),
    "clarabel margin": (_margin_cone, 4_000_000),
    "L-BFGS": (_lbfgs, 10**9),
    "DAQP margin": (_daqp, 4_000_000),
    "quadprog margin": (_quadprog, 4_000_000),
    "liblinear margin": (_liblinear, 4_000_000),
}

GROWTH = {
    "n": [(n, 64, 1) for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)],
    "d": [(10_000, d, 1) for d in (16, 32, 64, 128, 256, 768)],
    "m": [(10_000, 256, m) for m in (1, 2, 5, 10, 20, 40)],
}


def growth(folder: Path) -> None:
    """CPU seconds of the public call as n, d and m grow, each on its own axes."""
    from headwright.design import average
    from headwright.report import style

    fixed = {"n": "d = 64, m = 1", "d": "n = 10,000, m = 1", "m": "n = 10,000, d = 256"}
    with style.figure(8.4, 2.9, columns=3) as (drawing, axes):
        for ax, (letter, sizes) in zip(axes, GROWTH.items(), strict=True):
            at, spent = [size["ndm".index(letter)] for size in sizes], []
            for n, d, m in sizes:
                K = np.random.default_rng(0).standard_normal((n, d))
                design, seconds = _best(lambda K=K, m=m: average(range(m), K, leak=LEAK))
                spent.append(seconds)
                print(f"{n} x {d}, m = {m}: {seconds:.4f} s, {design.status}", file=sys.stderr)
            ax.loglog(at, spent, marker="o", ms=4, color=style.ROLES["query"])
            ax.set(xlabel=f"{letter}   ({fixed[letter]})", ylim=(1e-3, 10))
            ax.set_xticks(at, [f"{x:,}" if x < 1000 else f"{x // 1000}k" for x in at])
            ax.minorticks_off()
            ax.grid(True)
        axes[0].set(ylabel="CPU seconds")
        style.save(drawing, folder / "design-growth")


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    if "--growth" in sys.argv:
        growth(Path(sys.argv[sys.argv.index("--growth") + 1]))
    else:
        for row in table("--quick" in sys.argv):
            print(json.dumps(row), flush=True)
