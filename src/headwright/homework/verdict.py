"""What a judgement says: a status, one sentence of reason, and for a fault a counterexample and the
smallest repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from headwright.homework.limits import OUR_FAULT

Status = Literal["correct", "incomplete", "wrong", "missing", "unread"]
WHOLE = "*"  # the question id of a verdict on a document that could not be read at all


@dataclass(frozen=True)
class Span:
    """Characters `start:end` of the document, lines counted from 1."""

    start: int
    end: int
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Outcome:
    """The result of one test, before it is tied to a place in a document."""

    status: Status
    reason: str
    counterexample: Mapping[str, Any] | None = None
    repair: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One judged answer. `steps` are verdicts on intermediate formulas: question id
    `b.q/step:weights`."""

    question: str
    answer: str
    status: Status
    reason: str
    counterexample: Mapping[str, Any] | None = None
    repair: str | None = None
    span: Span | None = None
    steps: tuple[Verdict, ...] = ()
    remarks: tuple[str, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True, repr=False)
class Report:
    """All verdicts on one document, in the order of the question bank; `student` where it is known
    whose it is."""

    document: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = field(default=())
    student: str = ""

    def __repr__(self) -> str:
        counts = [f"{count} {status}" for status, count in self.counts.items() if count]
        return f"<Report on {self.document}: {', '.join(counts) or 'nothing was judged'}>"

    def _repr_html_(self) -> str:
        """For a notebook: one row per question."""
        from headwright.report import notebook  # judging a document needs none of it

        rows = [(v.question, v.status, v.reason) for v in self.verdicts]
        return notebook.cell(repr(self)[1:-1], rows, header=("question", "status", "reason"))

    def plot(self) -> Any:
        """How many answers got which verdict, as a figure of matplotlib."""
        import numpy as np

        from headwright.report import charts

        counts = {status: count for status, count in self.counts.items() if count}
        heights = np.array(list(counts.values()), dtype=float)
        title = f"{len(self.verdicts)} answers"
        return charts.bars(list(counts), heights, title=title, across="verdict", up="answers")

    @property
    def counts(self) -> dict[Status, int]:
        """How often each status occurs, the best first."""
        found = Counter(v.status for v in self.verdicts)
        return {status: found[status] for status in get_args(Status)}

    @property
    def unread(self) -> str:
        """Why nothing in it could be read; empty where something could."""
        reasons = [v.reason for v in self.verdicts if v.question == WHOLE]
        return reasons[0] if reasons and len(reasons) == len(self.verdicts) else ""

    @property
    def holds(self) -> bool:
        """Nothing wrong, incomplete or missing was found."""
        return all(v.status in ("correct", "unread") for v in self.verdicts)


def unreadable(name: str, reason: str) -> Report:
    """The report of a document that could not be read: one verdict about the whole."""
    verdict = Verdict(question=WHOLE, answer="", status="unread", reason=reason)
    return Report(name, (verdict,), ())


def our_fault(fault: Exception) -> str:
    """The reason of a verdict where this program failed, not the student."""
    return f"{OUR_FAULT} ({type(fault).__name__}: {str(fault)[:200]}); read it yourself"


def restored(record: Mapping[str, Any]) -> Report:
    """The report that `result.plain` turned into this record; arrays in it stay lists."""
    verdicts = tuple(_verdict(entry) for entry in record["verdicts"])
    return Report(record["document"], verdicts, tuple(record["notes"]), record["student"])


def _verdict(record: Mapping[str, Any]) -> Verdict:
    span = record["span"]
    rebuilt = {
        "span": Span(**span) if span is not None else None,
        "steps": tuple(_verdict(step) for step in record["steps"]),
        "remarks": tuple(record["remarks"]),
    }
    return Verdict(**{**record, **rebuilt})
