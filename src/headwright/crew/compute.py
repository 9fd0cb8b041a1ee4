"""One batch of points, computed in a watched process beside whoever runs the batch: a thread of the
driver, or a worker of a cluster.

This is what is handed to an executor: a module-level function with plain arguments, so that any
executor can take it. The executor's own worker only waits; what a job does to its process (BLAS
threads, exits, crashes, memory) never touches that worker.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwright.crew.processes import Requests
from headwright.crew.software import difference, software
from headwright.crew.values import Keys, encoded, shortened
from headwright.watched.process import Allowance, Died, Ended

_UNLIMITED = Allowance(float("inf"), sys.maxsize)
# The driver's own threads belong to one executor, which can stop them.
_thread = threading.local()
_everybody = Requests()
# What a worker of a cluster answered last, for the driver that comes after a killed one: of each of
# eight threads the batch that it was at, and the one before.
_answered: deque[tuple[str, list[list[Any]]]] = deque(maxlen=16)
_busy: Counter[str] = Counter()
_answered_lock = threading.Lock()
_MOST_KEPT = 1_000_000  # characters of one batch


def belong_to(requests: Requests) -> None:
    """Batches that this thread computes ask through `requests`."""
    _thread.requests = requests


def compute(task: str) -> str:
    """The text of an answer for the text of a job and its points (`task_text`): what is no text, a
    cluster takes apart piece by piece, which costs a millisecond a batch."""
    given = json.loads(task)
    return encoded(answer(given["job"], given["points"]))


def task_text(job: dict[str, Any], points: list[str]) -> str:
    return encoded({"job": job, "points": points})


def answer(job: dict[str, Any], points: list[str]) -> dict[str, Any]:
    """`{"results": [[text, error, seconds], ...]}` in the order of the points, or
    `{"refused": why}` where this machine cannot do what the driver means.

    The job has the name of a function and the digest of its source, the run that it belongs to, the
    software of the driver, and an allowance for each point (seconds and bytes) or None; its version
    and its owner (whose store the results are for) where a store keeps them.
    """
    other = difference(job["software"], software())
    if other:
        return {"refused": f"a worker with {other}"}
    owner = job.get("owner", "")
    if not owner or hasattr(_thread, "requests"):  # the driver's own threads end with it
        return _computed(job, points)
    with _under_way(owner):
        found = _computed(job, points)
        _remember(job, points, found)
    return found


def left_over(owner: str) -> tuple[int, list[list[Any]]]:
    """How many batches of this owner are being computed here, and what was answered last: key,
    point as a store shows it, text, error and seconds of each."""
    with _answered_lock:
        return _busy[owner], [row for name, rows in _answered if name == owner for row in rows]


@contextmanager
def _under_way(owner: str) -> Iterator[None]:
    with _answered_lock:
        _busy[owner] += 1
    try:
        yield
    finally:
        with _answered_lock:
            _busy[owner] -= 1
            if not _busy[owner]:
                del _busy[owner]


def _remember(job: dict[str, Any], points: list[str], found: dict[str, Any]) -> None:
    results = found.get("results", [])
    if sum(len(text or "") for text, _, _ in results) > _MOST_KEPT:
        return
    keys = Keys(job["function"], job["version"])
    rows = [
        [keys.of(point), shortened(point), *result]
        for point, result in zip(points, results, strict=False)
    ]
    with _answered_lock:
        _answered.append((job["owner"], rows))


def _computed(job: dict[str, Any], points: list[str]) -> dict[str, Any]:
    batch = _Batch(job)
    if job["allowance"] is not None:
        return batch.one_by_one(points, attempts=2)
    try:
        return batch.ask(points)
    except (Died, Ended):
        batch.insist_on_going_on()
    # One at a time, it is known which point it was; the batch was its first attempt.
    return batch.one_by_one(points, attempts=1)


class _Batch:
    def __init__(self, job: dict[str, Any]) -> None:
        allowance = job["allowance"]
        self._allowance = _UNLIMITED if allowance is None else Allowance(*allowance)
        self._request = {name: job[name] for name in ("function", "source", "run")}
        self._requests: Requests = getattr(_thread, "requests", _everybody)

    def ask(self, points: list[str]) -> dict[str, Any]:
        return self._requests.ask({**self._request, "points": points}, self._allowance)

    def one_by_one(self, points: list[str], attempts: int) -> dict[str, Any]:
        results = []
        for point in points:
            found = self._insisted(point, attempts)
            if "refused" in found:
                return found
            results += found["results"]
        return {"results": results}

    def _insisted(self, point: str, attempts: int) -> dict[str, Any]:
        """Its result. A process that used too much is the point's fault; one that died may have
        been ended by somebody else."""
        error = ""
        for _ in range(attempts):
            try:
                return self.ask([point])
            except Ended as limit:
                error = f"Ended: {limit}"
                break
            except Died as death:
                self.insist_on_going_on()
                error = f"Died: the process that computed it ended twice ({death})"
        return {"results": [[None, error, 0.0]]}

    def insist_on_going_on(self) -> None:
        """Processes that are stopped on purpose say nothing about their points."""
        if self._requests.stopped:
            raise Died("it was stopped")
