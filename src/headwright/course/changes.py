"""What changed between two runs of `check`, per student and question, and why.

A status can change with the document, the questions or the program; points alone change with the
rubric (an override is part of it). Only students of the new run are compared, so that looking at
one hand-in again says nothing about the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def read_run(path: str | Path) -> dict[str, Any]:
    """What `check --json` printed."""
    file = Path(path)
    try:
        run = json.loads(file.read_text("utf-8-sig"))
        rows = run["verdicts"]
        complete = all({"document", "question", "status"} <= row.keys() for row in rows)
    except (OSError, UnicodeDecodeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            wanted="what headwright check --json printed",
            got=f"{file.name}: {type(error).__name__} {error}"[:200],
            attempt="headwright check DIR --json > old.json",
        ) from None
    if not complete:
        raise InputError(
            wanted="rows with document, question and status",
            got=f"others in {file.name}",
            attempt="headwright check DIR --json > old.json",
        )
    return run


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """In the order of the new run; what is gone from a student's rows comes behind them."""
    before = _by_student(old)
    after = _by_student(new)
    return [
        change
        for student, rows in after.items()
        for change in _of_student(student, before.get(student, {}), rows, _differs(old, new, rows))
    ]


def _by_student(run: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Rows by student and question; a run without students goes by document."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in run["verdicts"]:
        student = str(row.get("student") or row["document"])
        found.setdefault(student, {})[row["question"]] = row
    return found


def _of_student(
    student: str,
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    differs: Mapping[str, bool],
) -> Iterator[Change]:
    for question in [*after, *(q for q in before if q not in after)]:
        old = before.get(question)
        new = after.get(question)
        if old is None or new is None or old["status"] != new["status"]:
            causes = [cause for cause in _OF_A_STATUS if differs[cause]]
        elif old.get("points") != new.get("points") or _most(old) != _most(new):
            causes = ["rubric"] if differs["rubric"] else []
        else:
            continue
        named = tuple(_CAUSES[cause] for cause in causes)
        yield Change(student, question, _shown(old), _shown(new), named or ("not recorded",))


def _most(row: Mapping[str, Any]) -> Any:
    return row.get("max_points")


def _shown(row: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if row is None else {key: row.get(key) for key in _SHOWN}


def _differs(
    old: Mapping[str, Any], new: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, bool]:
    """What the two runs say of themselves and of this student's documents, compared."""
    documents = {row["document"] for row in rows.values()}
    differs = {}
    for cause in ("version", "rubric"):
        differs[cause] = _of_run(old, cause) != _of_run(new, cause)
    for cause, key in (("document", "digest"), ("bank", "bank")):
        differs[cause] = _of_documents(old, documents, key) != _of_documents(new, documents, key)
    return differs


def _of_run(run: Mapping[str, Any], key: str) -> Any:
    return run.get("run", {}).get(key)


def _of_documents(run: Mapping[str, Any], documents: set[str], key: str) -> Mapping[str, Any]:
    rows = run.get("documents", [])
    return {row["document"]: row.get(key) for row in rows if row["document"] in documents}
