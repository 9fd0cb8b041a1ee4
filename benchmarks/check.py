"""`headwright check` on a class: 1,000 invented documents, one and two processes, and what the
verdicts are worth.

Floor: the same documents read into segments, not judged. Memory: the largest peak of a worker after
a quarter of the class and at its end; flat means that the second is not larger. Accuracy stands in
the same table as the speed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from benchmarks.telling import as_they_come
from tests.homework.corpus.documents import document
from tests.homework.corpus.scoring import score

from headwright.crew.processes import end_idle
from headwright.homework.batch import judge_many
from headwright.homework.reading.formats import read_file
from headwright.homework.reading.sources import Source

_CLASS = 1_000
_SMALL = 32
_LEGEND = (
    "documents: tests/homework/corpus (layout x language x notation x fault), seeds 0 to n - 1",
    "answers: those with a formula; deserved: judged as they deserve; "
    "the rest is unread or misjudged",
    "x floor: time over reading alone; "
    "MB: peak memory of a worker after a quarter of the class and at its end",
    "CPU s: processor time of the judging processes, "
    "which other work on the machine does not change",
)


def run(*, quick: bool) -> dict[str, Any]:
    written = [document(seed) for seed in range(_SMALL if quick else _CLASS)]
    with tempfile.TemporaryDirectory() as folder:
        documents = []
        for i, one in enumerate(written):
            path = Path(folder, f"{i:04d}-{one.name}")
            path.write_text(one.text, encoding="utf-8")
            documents.append(Source(one.name, path))
        floor = _reading(documents)
        rows = list(as_they_come(_measured(written, documents, floor), 3))
    speedup = rows[1]["seconds"] / rows[2]["seconds"]
    return {
        "title": f"check: {len(written)} documents",
        "rows": rows,
        "notes": [
            f"two processes are {speedup:.2f} times as fast as one",
            *_LEGEND,
        ],
    }


def _measured(
    written: list[Any], documents: list[Source], floor: float
) -> Iterator[dict[str, Any]]:
    yield {"what": "read only", "seconds": round(floor, 2), "ms each": _per(floor, documents)}
    for workers in (1, 2):
        judged, seconds, processor, peaks = _judging(documents, workers)
        total = score(zip(written, judged, strict=True))
        yield {
            "what": f"{workers} process{'es' if workers > 1 else ''}",
            "seconds": round(seconds, 2),
            "CPU s": round(processor, 2),
            "ms each": _per(seconds, documents),
            "x floor": round(seconds / floor, 1),
            "MB at 25%": peaks[0],
            "MB at end": peaks[1],
            "answers": total.total,
            "deserved": f"{100 * total.read_share:.1f}%",
            "misjudged": f"{100 * total.misjudged_share:.2f}%",
        }


def _reading(documents: list[Source]) -> float:
    started = time.perf_counter()
    for source in documents:
        if source.path is not None:
            read_file(source.path)
    return time.perf_counter() - started


def _judging(
    documents: list[Source], workers: int
) -> tuple[list[dict[str, str]], float, float, tuple[int, int]]:
    statuses: list[dict[str, str]] = []
    quarter = 0
    end_idle()
    started = time.perf_counter()
    for outcome in judge_many(documents, workers=workers):
        statuses.append({v.question: v.status for v in outcome.report.verdicts})
        if len(statuses) == max(1, len(documents) // 4):
            quarter = _peak()
    seconds = time.perf_counter() - started
    return statuses, seconds, _processor_time(), (quarter, _peak())


def _processor_time() -> float:
    """Seconds that the workers have computed, their start included."""
    times = [child.cpu_times() for child in psutil.Process().children()]
    return sum(one.user + one.system for one in times)


def _peak() -> int:
    """The largest resident set any worker has had, in MB."""
    return max(
        (_resident_peak(f"/proc/{child.pid}/status") for child in psutil.Process().children()),
        default=0,
    )


def _resident_peak(status: str) -> int:
    try:
        lines = Path(status).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # not Linux: no such file
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


def _per(seconds: float, documents: list[Source]) -> float:
    return round(1000 * seconds / len(documents), 2)
