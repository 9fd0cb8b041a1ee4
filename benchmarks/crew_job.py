"""The job of the crew's benchmark, and a driver that runs it on a cluster until it is killed.

    python -m benchmarks.crew_job FOLDER JOBS MILLISECONDS

The folder has the address of the scheduler and the store. Every execution, every batch and every
acknowledged outcome leaves a line in a log, so that repeats can be counted exactly.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from headwright.crew import run
from headwright.crew.executor import chosen
from headwright.crew.store import opened
from headwright.crew.values import result_text, text_of

NAME = "benchmarks.crew_job:job"
TIMED = "benchmarks.crew_job:timed"
LOG = "HEADWRIGHT_CREW_LOG"  # the folder of the logs, where there is one


def job(number: int, milliseconds: float) -> dict[str, float]:
    """So many milliseconds of the processor, and numbers that JSON writes in every way."""
    note("executed", f"{time.time()} {number}")
    end = time.process_time() + milliseconds / 1000
    while time.process_time() < end:
        math.sqrt(number)
    root = math.sqrt(number)
    return {"root": root, "odd": math.nan if number % 97 == 0 else -0.0, "huge": number * 1e300}


def timed(number: int, milliseconds: float) -> float:
    """Processor seconds that the job took: a little more than it was told."""
    start = time.process_time()
    job(number, milliseconds)
    return time.process_time() - start


def points(jobs: int, milliseconds: float) -> Iterator[dict[str, Any]]:
    for number in range(jobs):
        yield {"number": number, "milliseconds": milliseconds}


def note(log: str, line: str) -> None:
    """One write each, at the end of the file: lines of several processes do not mix."""
    if folder := os.environ.get(LOG):
        handle = os.open(Path(folder) / log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)


def written(pairs: Iterable[tuple[dict[str, Any], str | None]]) -> bytes:
    """The output: a line for every point and its value."""
    lines = [f"{text_of(point)}\t{text}\n" for point, text in pairs]
    return "".join(lines).encode("ascii")


def serial(jobs: int, milliseconds: float) -> bytes:
    """The output of one loop in this process, with nothing of the crew in it."""
    return written(
        (point, result_text(job(point["number"], 0.0))) for point in points(jobs, milliseconds)
    )


class Noting(Executor):
    """Another executor, with a line for every batch."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.lost = inner.lost
        self.left_over = inner.left_over

    @property
    def width(self) -> int:
        return self._inner.width

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        points = json.loads(args[0])["points"]
        numbers = [json.loads(point)["number"] for point in points]
        note("batches", json.dumps([time.time(), os.getpid(), numbers]))
        return self._inner.submit(fn, *args, **kwargs)


def main(folder: Path, jobs: int, milliseconds: float) -> None:
    address = json.loads((folder / "scheduler.json").read_text())["address"]
    pairs = []
    with (
        opened(folder / "store", {"benchmark": "crew"}) as store,
        chosen(cluster=address) as executor,
    ):
        outcomes = run(NAME, points(jobs, milliseconds), store=store, executor=Noting(executor))
        for outcome in outcomes:
            note("acknowledged", f"{time.time()} {outcome.point['number']}")
            pairs.append((outcome.point, outcome.text))
    (folder / "output").write_bytes(written(pairs))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
