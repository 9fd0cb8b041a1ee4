"""Many jobs: what kills cost, what the crew costs, how fast it goes on, what it holds in memory.

    headwright bench crew            10^4 jobs and five kills; 10^6 finished keys; about 3 minutes
    headwright bench crew --quick    a tenth of it

Overhead is processor time: everything that this process and all its children used, over what the
jobs themselves used, less one. (Each spins for 20 ms, takes a little longer and says how long.)
Every run of a user's module starts processes of its own; what a run of two short points uses is
that start, and taken off. What a cluster does by the clock counts for more on a busy machine, where
the work takes longer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import psutil
from benchmarks import crew_job, crew_kills, telling

from headwright.crew import run as crew_run
from headwright.crew.executor import chosen
from headwright.crew.function import full_version, source_digest
from headwright.crew.processes import end_idle
from headwright.crew.store import opened
from headwright.crew.store.record import Record
from headwright.crew.values import Keys, text_of

_MILLISECONDS = 2.0
_VICTIMS = ["worker", "worker", "driver", "driver", "scheduler"]
_ABOUT = {"benchmark": "crew"}


def run(*, quick: bool = False) -> dict[str, Any]:
    rows = list(telling.as_they_come(_rows(quick)))
    notes = [
        "lost: missing in the output, or executed again after it was acknowledged",
        "repeated: the batch that a killed worker was at, and one per worker "
        f"({crew_kills.WORKERS}) for a killed scheduler; what a killed driver had under way is "
        "taken over by the next one",
        "overhead: processor time of this process and its children over that of the jobs, less one",
        "growth: resident memory of the driver at the last point, less that at a tenth of them",
    ]
    return {"title": "crew: many jobs that survive", "rows": rows, "notes": notes}


def _rows(quick: bool) -> Iterator[dict[str, Any]]:
    yield _kills(1_000 if quick else 10_000)
    for name, cluster in (("own processes", None), ("dask", "local")):
        yield _overhead(name, cluster, 2.0 if quick else 20.0)
    yield _resumed(100_000 if quick else 1_000_000)
    yield _passed_through(20_000 if quick else 200_000)


def _kills(jobs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        found = crew_kills.survived(Path(folder), jobs, _MILLISECONDS, list(_VICTIMS))
    kills = ", ".join(f"{number} {name}" for name, number in found.pop("kills").items())
    return {"measured": f"{jobs} jobs, killed: {kills}", **found}


def _overhead(name: str, cluster: str | None, seconds: float) -> dict[str, Any]:
    """20 ms each, so 25 to a batch."""
    milliseconds = 20.0
    jobs = int(1000 * seconds / milliseconds)
    with chosen(workers=1, cluster=cluster) as executor, _Use() as use:
        _work_of(crew_job.points(2, 1.0), executor)  # finds the files cold
        beginning = use.seconds()
        work = -_work_of(crew_job.points(2, 1.0), executor)
        middle = use.seconds()
        work += _work_of(crew_job.points(jobs, milliseconds), executor)
        end = use.seconds()
    end_idle()
    # All of the long run, less all of the short one, which is its start.
    used = (end - middle) - (middle - beginning)
    overhead = used / work - 1
    return {"measured": f"{name}, {seconds:g} s of work", "overhead, %": 100 * overhead}


class _Use:
    """Processor time of this process and its children, the ended ones included."""

    def __enter__(self) -> _Use:
        self._own = psutil.Process()
        return self

    def __exit__(self, *_: object) -> None: ...

    def seconds(self) -> float:
        times = [self._own.cpu_times()]
        times += [child.cpu_times() for child in self._own.children(recursive=True)]
        ended = times[0].children_user + times[0].children_system
        return ended + sum(time.user + time.system for time in times)


def _work_of(points: Iterator[dict[str, Any]], executor: Executor) -> float:
    """Processor seconds that the jobs say they took."""
    total = 0.0
    for outcome in crew_run(crew_job.TIMED, points, executor=executor):
        if outcome.error:
            raise RuntimeError(outcome.error)
        total += outcome.value
    return total


class _Nobody(Executor):
    """Where everything is stored, nothing may be handed over."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a stored point was handed over")


def _resumed(jobs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        with opened(folder, _ABOUT) as store:
            store.add(_finished(jobs))
        start = time.perf_counter()
        used = time.process_time()
        with opened(folder, _ABOUT) as store:
            outcomes = crew_run(
                crew_job.NAME, crew_job.points(jobs, 0.0), store=store, executor=_Nobody()
            )
            growth = _growth(outcomes, jobs)
        return {
            "measured": f"{jobs} finished keys, gone on",
            "seconds": time.perf_counter() - start,
            "processor seconds": time.process_time() - used,
            "growth, MB": growth,
        }


def _finished(jobs: int) -> Iterator[Record]:
    version = full_version("", source_digest(crew_job.NAME))
    keys = Keys(crew_job.NAME, version)
    for point in crew_job.points(jobs, 0.0):
        text = text_of(point)
        value = text_of({"root": point["number"] / 7})
        yield Record(keys.of(text), crew_job.NAME, version, text, value, "", 0.0)


def _passed_through(jobs: int) -> dict[str, Any]:
    """Jobs that do nothing, computed and stored."""
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(folder, _ABOUT) as store,
        chosen(workers=1) as executor,
    ):
        start = time.perf_counter()
        outcomes = crew_run(
            crew_job.NAME, crew_job.points(jobs, 0.0), store=store, executor=executor
        )
        growth = _growth(outcomes, jobs)
        took = time.perf_counter() - start
    end_idle()
    return {"measured": f"{jobs} empty jobs, stored", "seconds": took, "growth, MB": growth}


def _growth(outcomes: Iterator[Any], jobs: int) -> float:
    """MB of resident memory between a tenth of the points and the last one."""
    early = 0.0
    number = 0
    for number, outcome in enumerate(outcomes, 1):
        if outcome.error or outcome.text is None:
            raise RuntimeError(outcome.error or "no value")
        if number == jobs // 10:
            early = _resident()
    if number != jobs:
        raise RuntimeError(f"{number} outcomes of {jobs}")
    return _resident() - early


def _resident() -> float:
    return psutil.Process().memory_info().rss / 1e6
