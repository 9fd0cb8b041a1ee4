"""What a judgement says: a status, one sentence of reason, and for a fault a counterexample and the
smallest repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True)
class Report:
    """All verdicts on one document, in the order of the question bank."""

    document: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Nothing wrong, incomplete or missing was found."""
        return all(v.status in ("correct", "unread") for v in self.verdicts)


def unreadable(name: str, reason: str) -> Report:
    """The report of a document that could not be read: one verdict about the whole."""
    return Report(name, (Verdict(question=WHOLE, answer="", status="unread", reason=reason),), ())


def restored(record: Mapping[str, Any]) -> Report:
    """The report that `result.plain` turned into this record; arrays in it stay lists."""
    return Report(
        record["document"], tuple(map(_verdict, record["verdicts"])), tuple(record["notes"])
    )


def _verdict(record: Mapping[str, Any]) -> Verdict:
    span = record["span"]
    return Verdict(
        **{
            **record,
            "span": Span(**span) if span is not None else None,
            "steps": tuple(map(_verdict, record["steps"])),
            "remarks": tuple(record["remarks"]),
        }
    )
