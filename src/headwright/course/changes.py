"""What changed between two runs of `check`, per student and question, and why.

A status can change with the document, the questions or the program; points alone change with the
rubric (an override is part of it). Only students of the new run are compared, so that looking at
one hand-in again says nothing about the others; who is gone from a folder that is looked at again
is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from headwright.course.hand_ins import BEST_FIRST
from headwright.errors import InputError

# What a run says of itself, by the word that a reader is told; the first three can change a status.
_CAUSES = {"document": "document", "bank": "questions", "version": "program", "rubric": "rubric"}
_OF_A_STATUS = ("document", "bank", "version")
_SHOWN = ("status", "points", "max_points")


@dataclass(frozen=True)
class Change:
    """One answer whose status or points differ; `before` or `after` is None where there was no such
    row."""

    student: str
    question: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    causes: tuple[str, ...]  # everything recorded that differs and can have done it


@dataclass(frozen=True)
class _Hand:
    """One student in one run: the rows that count, by question, and all documents."""

    rows: dict[str, Mapping[str, Any]]
    documents: set[str]


def read_run(path: str | Path) -> dict[str, Any]:
    """What `check --json` printed."""
    file = Path(path)
    try:
        run = json.loads(file.read_text("utf-8-sig"))
        complete = _is_complete(run)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            wanted="what headwright check --json printed",
            got=f"{file.name}: {type(error).__name__} {error}"[:200],
            attempt="headwright check DIR --json > old.json",
        ) from None
    if not complete:
        raise InputError(
            wanted="what headwright check --json printed, verdicts with document, question, status",
            got=f"something else in {file.name}",
            attempt="headwright check DIR --json > old.json",
        )
    return run


def _is_complete(run: Any) -> bool:
    """Is everything there that is read below, in the form that it is read in?"""
    if not isinstance(run, dict) or not isinstance(run.get("run", {}), dict):
        return False
    verdicts = run.get("verdicts")
    documents = run.get("documents", [])
    return _are_rows(verdicts, ("document", "question", "status")) and _are_rows(
        documents, ("document",)
    )


def _are_rows(rows: Any, keys: Sequence[str]) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(key), str) for key in keys) for row in rows
    )


# ------------------------------------------------------------------------------------- comparing


def changes(
    old: Mapping[str, Any], new: Mapping[str, Any], folders: Sequence[str] = ()
) -> list[Change]:
    """In the order of the new run; what is gone from a student's rows comes behind them. Of the
    students who are in the old run alone, those are told whose documents stood in `folders`."""
    before = _by_student(old)
    after = _by_student(new)
    gone = [one for one in before if one not in after and _is_below(before[one], folders)]
    nothing = _Hand({}, set())
    record = _Compared(old, new)
    return [
        change
        for student in [*after, *gone]
        for change in _of_student(
            student, before.get(student, nothing), after.get(student, nothing), record
        )
    ]


def _by_student(run: Mapping[str, Any]) -> dict[str, _Hand]:
    """A run without students goes by document. Where several documents of a student have a row for
    one question, that row counts which has the points, or else the best."""
    found: dict[str, _Hand] = {}
    for row in run["verdicts"]:
        student = str(row.get("student") or row["document"])
        theirs = found.setdefault(student, _Hand({}, set()))
        theirs.documents.add(row["document"])
        known = theirs.rows.setdefault(row["question"], row)
        if _weight(row) > _weight(known):
            theirs.rows[row["question"]] = row
    return found


def _weight(row: Mapping[str, Any]) -> tuple[float, int]:
    status = row["status"]
    rank = BEST_FIRST.index(status) if status in BEST_FIRST else len(BEST_FIRST)
    return (row.get("max_points") or 0.0, -rank)


def _is_below(hand: _Hand, folders: Sequence[str]) -> bool:
    return any(
        PurePath(document).is_relative_to(folder)
        for document in hand.documents
        for folder in folders
    )


def _of_student(student: str, before: _Hand, after: _Hand, record: _Compared) -> Iterator[Change]:
    differs = record.differs(before.documents | after.documents)
    for question in [*after.rows, *(q for q in before.rows if q not in after.rows)]:
        old = before.rows.get(question)
        new = after.rows.get(question)
        judged = [cause for cause in _OF_A_STATUS if differs[cause]]
        if old is None or new is None or old["status"] != new["status"]:
            causes = judged
        elif old.get("points") != new.get("points") or _most(old) != _most(new):
            # Steps earn points, too: a document can change them and leave the status
            causes = ["rubric"] if differs["rubric"] else judged
        else:
            continue
        named = tuple(_CAUSES[cause] for cause in causes)
        yield Change(student, question, _shown(old), _shown(new), named or ("not recorded",))


def _most(row: Mapping[str, Any]) -> Any:
    return row.get("max_points")


def _shown(row: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if row is None else {key: row.get(key) for key in _SHOWN}


class _Compared:
    """What two runs say of themselves and of their documents."""

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self._runs = (old.get("run", {}), new.get("run", {}))
        self._documents = [
            {row["document"]: row for row in run.get("documents", [])} for run in (old, new)
        ]

    def differs(self, documents: set[str]) -> dict[str, bool]:
        """Whether something differs that could have changed the marks for these documents. What a
        document is called changes nothing."""
        one, other = self._runs
        found = {cause: one.get(cause) != other.get(cause) for cause in ("version", "rubric")}
        digests = [sorted(self._told(known, documents, "digest")) for known in self._documents]
        banks = [set(self._told(known, documents, "bank")) for known in self._documents]
        found["document"] = digests[0] != digests[1]
        # Who handed in nothing in one of the runs answered no questions in it
        found["bank"] = all(banks) and banks[0] != banks[1]
        return found

    @staticmethod
    def _told(known: Mapping[str, Any], documents: set[str], key: str) -> list[str]:
        return [str(known[name].get(key)) for name in documents if name in known]
