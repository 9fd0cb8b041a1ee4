"""One batch of points, computed in a watched process beside whoever runs the batch: a thread of the
driver, or a worker of a cluster.

This is what is handed to an executor: a module-level function with plain arguments, so that any
executor can take it. The executor's own worker only waits; what a job does to its process (BLAS
threads, exits, crashes, memory) never touches that worker.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from headwright.crew.processes import Requests
from headwright.crew.software import difference, software
from headwright.watched import Allowance, Died, Ended

_UNLIMITED = Allowance(float("inf"), sys.maxsize)
# The driver's own threads belong to one executor, which can stop them.
_thread = threading.local()
_everybody = Requests()


def belong_to(requests: Requests) -> None:
    """Batches that this thread computes ask through `requests`."""
    _thread.requests = requests


def compute(job: dict[str, Any], points: list[str]) -> dict[str, Any]:
    """`{"results": [[text, error, seconds], ...]}` in the order of the points, or
    `{"refused": why}` where this machine cannot do what the driver means.

    The job has the name of a function and the digest of its source, the run that it belongs to, the
    software of the driver, and an allowance for each point (seconds and bytes) or None.
    """
    other = difference(job["software"], software())
    if other:
        return {"refused": f"a worker with {other}"}
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
            answer = self._insisted(point, attempts)
            if "refused" in answer:
                return answer
            results += answer["results"]
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
