"""Check on hand-ins that people graded: how often it is right, wrong and silent, by kind of answer.

    headwright bench check_real DIRECTORY EXPECTED

EXPECTED is a list of graded answers in JSON; its format is in docs/reference/benchmarks-check.md.
An answer called `wrong` where a grader said `incomplete`, or the other way round, counts as right:
graders differ there, too. An answer that we call `missing` counts as unread; a blank that we call
anything but `missing` or `unread` is misjudged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.telling import watched

from headwright.errors import InputError
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import sources
from headwright.homework.verdict import Report, Verdict

KINDS = {
    "formula": "formula",
    "relation": "formula",
    "claim": "claim",
    "proof": "proof",
    "prose": "prose",
    "none": "blank",
}
LEVELS = ("answer", "alt", "step")
VERDICTS = ("correct", "incomplete", "wrong", "missing")
FAULTY = {"incomplete", "wrong"}
SILENT = {"missing", "unread"}
_FEW = 3  # documents of a quick run
_FIELDS = {"kind": KINDS, "level": LEVELS, "verdict": VERDICTS}


@dataclass(frozen=True)
class Graded:
    """One answer (or step) as a person graded it."""

    file: str
    question: str
    kind: str
    level: str
    verdict: str


@dataclass(frozen=True)
class Compared:
    """A graded answer beside our verdict; None where the report has none on that question."""

    graded: Graded
    ours: Verdict | None

    @property
    def confidence(self) -> float:
        return self.ours.confidence if self.ours is not None else 0.0

    @property
    def outcome(self) -> str:
        got = self.ours.status if self.ours is not None else "unread"
        if got == self.graded.verdict or {got, self.graded.verdict} <= FAULTY:
            return "right"
        silent = {"unread"} if self.graded.verdict == "missing" else SILENT
        return "unread" if got in silent else "misjudged"


def run(directory: str, expected: str, *, quick: bool) -> dict[str, Any]:
    """The table by kind of answer; `quick` reads a few documents only."""
    graded = read_graded(Path(expected))
    documents = sources([directory])
    chosen = documents[:_FEW] if quick else documents
    judged = watched(judge_many(chosen), _document, len(chosen))
    reports = [one.report for one in judged]

    compared = answers(graded, reports)
    notes = [
        f"{len(reports)} documents; right: the grader's verdict (wrong and incomplete are one); "
        "misjudged: another verdict; unread: none",
        separation(compared),
        *flagged_steps(graded, reports),
        *misjudged(compared),
    ]
    title = "check on hand-ins that people graded"
    return {"title": title, "rows": rows(compared), "notes": notes}


def _document(judged: Any) -> dict[str, Any]:
    """What is told of a document as soon as it is judged."""
    statuses = Counter(verdict.status for verdict in judged.report.verdicts)
    return {"document": Path(judged.report.document).name, **statuses}


# ------------------------------------------------------------------------------- graded answers


def read_graded(path: Path) -> list[Graded]:
    """The graded answers of a file, checked before anything is judged."""
    try:
        records = json.loads(path.read_text("utf-8"))
        return [_graded(record) for record in records]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            wanted="a JSON list of graded answers: file, question, kind, level, verdict",
            got=f"{path.name}: {type(error).__name__}: {error}",
            attempt="see docs/reference/benchmarks-check.md",
        ) from None


def _graded(record: Mapping[str, Any]) -> Graded:
    for field, known in _FIELDS.items():
        if record[field] not in known:
            raise ValueError(f"{field} is {record[field]!r}, not one of {', '.join(known)}")
    return Graded(
        file=Path(record["file"]).name,
        question=record["question"],
        kind=KINDS[record["kind"]],
        level=record["level"],
        verdict=record["verdict"],
    )


def answers(graded: Iterable[Graded], reports: Sequence[Report]) -> list[Compared]:
    """The graded answers of the documents that were judged, each beside our verdict."""
    names = {Path(report.document).name for report in reports}
    ours = {
        (Path(report.document).name, verdict.question): verdict
        for report in reports
        for verdict in report.verdicts
    }
    return [
        Compared(one, ours.get((one.file, one.question)))
        for one in graded
        if one.level == "answer" and one.file in names
    ]


# -------------------------------------------------------------------------------------- counted


def rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """A row for each kind, and one for everything that was answered."""
    tables: dict[str, Counter[str]] = {}
    answered: Counter[str] = Counter()
    for one in compared:
        tables.setdefault(one.graded.kind, Counter())[one.outcome] += 1
        if one.graded.kind != "blank":
            answered[one.outcome] += 1
    return [_row(kind, tables[kind]) for kind in sorted(tables)] + [_row("answered", answered)]


def _row(kind: str, counts: Counter[str]) -> dict[str, Any]:
    total = counts.total()
    return {
        "kind": kind,
        "answers": total,
        "right": counts["right"],
        "right %": _percent(counts["right"], total),
        "misjudged": counts["misjudged"],
        "misjudged %": _percent(counts["misjudged"], total),
        "unread": counts["unread"],
    }


def _percent(part: int, total: int) -> float:
    return round(100 * part / total, 1) if total else 0.0


def flagged_steps(graded: Iterable[Graded], reports: Sequence[Report]) -> list[str]:
    """Steps that we call false, held against those that were graded: a count, then those that are
    not known to be false."""
    verdicts = {(one.file, one.question): one.verdict for one in graded if one.level == "step"}
    counts: Counter[str] = Counter()
    lines = []
    for name, step in _flags(reports):
        flag = _flag(verdicts.get((name, step.question)))
        counts[flag] += 1
        if flag != "true":
            lines.append(f"flag, {flag}: {name} {step.question}: {step.answer}: {step.reason}")
    told = ", ".join(f"{counts[what]} {what}" for what in ("true", "false", "not graded"))
    return [f"flagged steps: {counts.total()} ({told})", *lines]


def _flags(reports: Iterable[Report]) -> Iterator[tuple[str, Verdict]]:
    for report in reports:
        for verdict in report.verdicts:
            for step in verdict.steps:
                if step.status in FAULTY:
                    yield Path(report.document).name, step


def _flag(graded: str | None) -> str:
    if graded is None:
        return "not graded"
    return "true" if graded in FAULTY else "false"


def separation(compared: Iterable[Compared]) -> str:
    """How many of the errors are among the surer half of what was judged."""
    judged = [one for one in compared if one.ours is not None and one.ours.status not in SILENT]
    ordered = sorted(judged, key=lambda one: -one.confidence)
    surer = ordered[: (len(ordered) + 1) // 2]
    errors = sum(one.outcome == "misjudged" for one in ordered)
    among = sum(one.outcome == "misjudged" for one in surer)
    half = f"the surer half of {len(ordered)} judged answers"
    return f"confidence: {among} of {errors} errors are in {half}"


def misjudged(compared: Iterable[Compared]) -> list[str]:
    """Every error, named."""
    lines = []
    for one in compared:
        if one.outcome == "misjudged" and one.ours is not None:
            got = f"{one.ours.status} ({one.ours.reason})"
            where = f"{one.graded.file} {one.graded.question}"
            lines.append(f"misjudged: {where}, graded {one.graded.verdict}: {got}")
    return lines
