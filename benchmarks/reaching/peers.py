"""What others take for the same verdicts: linear programmes, qhull; and the floor, the product of
all pairs of keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.reaching.evidence import spread

LP_SECONDS = 60.0  # a linear programme is stopped here; its ratio is then a lower bound
# Keys, what was found, keys to ask about -> seconds for all keys; disagreements, and keys answered.
Peer = Callable[[np.ndarray, Any, int], tuple[float, tuple[int, int]]]


def programmes(K: np.ndarray, found: Any, asked: int) -> tuple[float, tuple[int, int]]:
    """Seconds for all keys if each took what these took; disagreements among those that
    finished."""
    from scipy.optimize import linprog

    lost = np.flatnonzero(~found.reachable)
    won = np.flatnonzero(found.reachable)
    some = [*spread(lost, asked // 2), *spread(won, asked - min(len(lost), asked // 2))]
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


def qhull(K: np.ndarray, found: Any, asked: int) -> tuple[float, tuple[int, int]]:
    from scipy.spatial import ConvexHull

    start = time.process_time()
    corners = ConvexHull(K).vertices
    spent = time.process_time() - start
    expected = np.zeros(len(K), bool)
    expected[corners] = True
    return spent, (int((expected != found.reachable).sum()), len(K))


PEERS: dict[str, Peer] = {"HiGHS": programmes, "qhull": qhull}


def all_pairs(K: np.ndarray) -> float:
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
