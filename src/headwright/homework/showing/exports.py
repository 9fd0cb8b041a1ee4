"""Reports as other programs want them: flat rows, CSV, and the faults of a class."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headwright.homework.showing.example_tables import in_words
from headwright.homework.verdict import WHOLE, Report, Verdict
from headwright.result import plain

# Points and the most there are, by document and question
Worth = Mapping[tuple[str, str], tuple[float | None, float | None]]
STATUSES = ("correct", "incomplete", "wrong", "missing", "unread")
_COLUMNS = (
    "document",
    "student",
    "question",
    "status",
    "points",
    "max_points",
    "line_start",
    "line_end",
    "answer",
    "reason",
    "counterexample",
    "repair",
    "remarks",
    "confidence",
)


def rows(reports: Iterable[Report]) -> list[dict[str, Any]]:
    """One JSON-ready record per document and question; steps stay inside their answer's record."""
    return [
        {"document": report.document, **plain(verdict)}
        for report in reports
        for verdict in report.verdicts
    ]


def as_csv(reports: Iterable[Report], worth: Worth | None = None) -> str:
    """The cells of points are empty where there are none, or none yet."""
    out = io.StringIO()
    table: csv.DictWriter[str] = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    table.writeheader()
    for report in reports:
        for verdict in report.verdicts:
            points, most = (worth or {}).get((report.document, verdict.question), (None, None))
            marks = {"points": _number(points), "max_points": _number(most)}
            table.writerow({**_cells(report, verdict), **marks})
    return out.getvalue()


def _cells(report: Report, verdict: Verdict) -> dict[str, Any]:
    span = verdict.span
    return {
        "document": inert(report.document),
        "student": inert(report.student),
        "question": verdict.question,
        "status": verdict.status,
        "line_start": span.line_start if span else "",
        "line_end": span.line_end if span else "",
        "answer": inert(verdict.answer),
        "reason": inert(verdict.reason),
        "counterexample": inert(in_words(verdict.counterexample)),
        "repair": inert(verdict.repair or ""),
        "remarks": inert(" ".join(verdict.remarks)),
        "confidence": f"{verdict.confidence:.2f}",
    }


def _number(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def inert(cell: str) -> str:
    """A spreadsheet runs cells that begin like a formula; an apostrophe makes them text."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


# ---------------------------------------------------------------------------------- the whole class


@dataclass(frozen=True)
class Fault:
    """The same mistake, made in several documents."""

    question: str
    status: str
    reason: str  # in the words of its first occurrence
    answer: str
    documents: tuple[str, ...]


def tallies(reports: Iterable[Report], order: Iterable[str] = ()) -> dict[str, Counter[str]]:
    """Statuses by question, in the given order of questions; without unreadable documents."""
    counts: dict[str, Counter[str]] = {question: Counter() for question in order}
    for report in reports:
        for verdict in report.verdicts:
            if verdict.question != WHOLE:
                counts.setdefault(verdict.question, Counter())[verdict.status] += 1
    return {question: count for question, count in counts.items() if count}


def faults(reports: Iterable[Report], most: int = 8) -> list[Fault]:
    """The most common wrong and incomplete answers; reasons that differ only in numbers and names
    are one fault."""
    groups: dict[tuple[str, str, str], list[tuple[str, Verdict]]] = {}
    for report in reports:
        for verdict in report.verdicts:
            if verdict.status in ("wrong", "incomplete"):
                key = (verdict.question, verdict.status, _gist(verdict.reason))
                groups.setdefault(key, []).append((report.document, verdict))
    common = sorted(groups.values(), key=len, reverse=True)[:most]
    return [_fault(occurrences) for occurrences in common]


def _fault(occurrences: list[tuple[str, Verdict]]) -> Fault:
    _, first = occurrences[0]
    documents = tuple(name for name, _ in occurrences)
    return Fault(first.question, first.status, first.reason, first.answer, documents)


def _gist(reason: str) -> str:
    return re.sub(r"[-+]?\d[\d.,e+-]*|\s+|[\"'`].*?[\"'`]", " ", reason.lower())[:80]
