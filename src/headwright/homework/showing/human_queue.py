"""What a person should look at, the most doubtful first: `headwright check --human F.csv`.

What could not be read comes first, because nobody has judged it; then what is called wrong or
incomplete, flagged steps included, the least certain first, because a false accusation is the worst
this program can do; then right answers that were found or read with doubt. What is missing comes
last: there is nothing to read. Answers that are surely right are not listed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from headwright.homework.showing.exports import inert
from headwright.homework.verdict import Report, Verdict

SURE = 0.6  # the confidence from which a right answer needs no second look
_ORDER = ("unread", "wrong", "incomplete", "correct", "missing")
_COLUMNS = ("document", "line", "question", "status", "confidence", "reason", "answer")


def human_queue(reports: Iterable[Report]) -> str:
    """The queue as CSV, one row per answer or step."""
    out = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    table.writeheader()
    for document, verdict in sorted(_doubtful(reports), key=_urgency):
        table.writerow(_cells(document, verdict))
    return out.getvalue()


def _doubtful(reports: Iterable[Report]) -> Iterator[tuple[str, Verdict]]:
    for report in reports:
        for verdict in report.verdicts:
            if verdict.status != "correct" or verdict.confidence < SURE:
                yield report.document, verdict
            for step in verdict.steps:
                if step.status in ("wrong", "incomplete"):
                    yield report.document, step


def _urgency(entry: tuple[str, Verdict]) -> tuple[int, float]:
    """Sorting is stable: among equals the order of the documents stays."""
    _, verdict = entry
    return _ORDER.index(verdict.status), verdict.confidence


def _cells(document: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "document": inert(document),
        "line": verdict.span.line_start if verdict.span else "",
        "question": verdict.question,
        "status": verdict.status,
        "confidence": f"{verdict.confidence:.2f}",
        "reason": inert(verdict.reason),
        "answer": inert(verdict.answer),
    }
