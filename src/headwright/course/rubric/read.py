"""A rubric from TOML. Everything in it is checked against the questions before anything is graded.
Where it names questions, those are graded, in every hand-in; otherwise those that were asked.

total = 6                       # optional: the points must add up to it

[shares]                        # of the points, by status; without `unread` a person decides
incomplete = 0.5

[question."b.q"]
points = 3
steps = 0.25                    # for right steps on the way to a wrong answer
visibility = "after_published"
texts = { wrong = "Compare the two logits." }
[[question."b.q".fault]]
says = "scale"                  # where the verdict's reason contains this
text = "The scale is missing: see lecture 8."
share = 0.5

[[override]]
student = "u17"
question = "b.q"
points = 2.5
reason = "right in words"
"""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwright.course.rubric.lines import line_of
from headwright.course.rubric.record import (
    SHARES,
    VISIBILITIES,
    Fault,
    Override,
    Rubric,
    Worth,
)
from headwright.errors import InputError
from headwright.exercise.bank import Bank

_STATUSES = (*SHARES, "unread")
_TOP = ("title", "total", "shares", "question", "override")
_QUESTION = ("points", "shares", "steps", "visibility", "texts", "fault")
_FAULT = ("says", "text", "share")
_OVERRIDE = ("student", "question", "points", "reason")


def plain_rubric(bank: Bank) -> Rubric:
    """The bank's own points, with the usual shares."""
    questions = {question.id: Worth(question.points) for question in bank}
    return Rubric(bank.title, questions, all_count=False, digest="plain")


def read_rubric(path: str | Path, bank: Bank) -> Rubric:
    file = Path(path)
    try:
        text = file.read_text("utf-8-sig")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            wanted="a rubric in TOML",
            got=f"{file.name}: {error}",
            attempt="see docs/guides/course.md",
        ) from None
    return _Reader(file.name, text, bank).rubric(table)


class _Reader:
    """One file; every complaint names its line."""

    def __init__(self, name: str, text: str, bank: Bank) -> None:
        self._name = name
        self._text = text
        self._bank = bank

    def rubric(self, table: dict[str, Any]) -> Rubric:
        self._only(table, _TOP, [])
        shares = self._shares(table.get("shares", {}), ["shares"], SHARES)
        rows = self._table(table.get("question", {}), ["question"])
        for id in rows:
            self._known(id, ["question", id])
        graded = [question for question in self._bank if question.id in rows or not rows]
        questions = {
            question.id: self._worth(rows.get(question.id, {}), question, shares)
            for question in graded
        }
        overrides = tuple(
            self._override(row, place, questions)
            for place, row in enumerate(self._list(table.get("override", []), ["override"]))
        )
        self._each_once(overrides)
        digest = hashlib.sha256(self._text.encode("utf-8")).hexdigest()[:16]
        title = str(table.get("title", self._name))
        rubric = Rubric(title, questions, bool(rows), overrides, digest)
        self._adds_up(rubric, table.get("total"))
        return rubric

    def _worth(self, row: Any, question: Any, shares: dict[str, float]) -> Worth:
        path: list[str | int] = ["question", question.id]
        self._only(self._table(row, path), _QUESTION, path)
        visibility = row.get("visibility", "visible")
        if visibility not in VISIBILITIES:
            raise self._error(
                [*path, "visibility"], f"one of {', '.join(VISIBILITIES)}", repr(visibility)
            )
        faults = self._list(row.get("fault", []), [*path, "fault"])
        return Worth(
            self._number(row.get("points", question.points), [*path, "points"]),
            self._shares(row.get("shares", {}), [*path, "shares"], shares),
            self._share(row.get("steps", 0.0), [*path, "steps"]),
            visibility,
            self._texts(row.get("texts", {}), [*path, "texts"]),
            tuple(self._fault(one, [*path, "fault", place]) for place, one in enumerate(faults)),
        )

    def _fault(self, row: Any, path: list[str | int]) -> Fault:
        self._only(self._table(row, path), _FAULT, path)
        says = self._words(row, "says", path)
        try:
            re.compile(says)
        except re.error as error:
            raise self._error([*path, "says"], "a regular expression", str(error)) from None
        share = row.get("share")
        earned = None if share is None else self._share(share, [*path, "share"])
        return Fault(says, self._words(row, "text", path), earned)

    def _override(self, row: Any, place: int, questions: dict[str, Worth]) -> Override:
        path: list[str | int] = ["override", place]
        self._only(self._table(row, path), _OVERRIDE, path)
        question = self._words(row, "question", path)
        if question not in questions:
            graded = f"a question of this rubric ({', '.join(questions)})"
            raise self._error([*path, "question"], graded, repr(question))
        points = self._number(row.get("points"), [*path, "points"])
        most = questions[question].points
        if points > most:
            raise self._error([*path, "points"], f"at most {most:g} points", f"{points:g}")
        student = self._words(row, "student", path)
        reason = self._words(row, "reason", path)
        return Override(student, question, points, reason, line_of(self._text, path))

    def _each_once(self, overrides: Sequence[Override]) -> None:
        seen: dict[tuple[str, str], int] = {}
        for place, one in enumerate(overrides):
            first = seen.setdefault((one.student, one.question), place)
            if first != place:
                what = f"a second one for {one.student} and {one.question}"
                raise self._error(["override", place], "one override for an answer", what)

    def _adds_up(self, rubric: Rubric, total: Any) -> None:
        if total is None:
            return
        wanted = self._number(total, ["total"])
        if not math.isclose(wanted, rubric.max_points):
            raise self._error(
                ["total"], f"points that add up to {wanted:g}", f"{rubric.max_points:g}"
            )

    # ------------------------------------------------------------------------------ small pieces

    def _shares(self, row: Any, path: list[str | int], usual: dict[str, float]) -> dict[str, float]:
        self._only(self._table(row, path), _STATUSES, path)
        given = {status: self._share(share, [*path, status]) for status, share in row.items()}
        return {**usual, **given}

    def _texts(self, row: Any, path: list[str | int]) -> dict[str, str]:
        self._only(self._table(row, path), _STATUSES, path)
        return {status: self._words(row, status, path) for status in row}

    def _share(self, value: Any, path: list[str | int]) -> float:
        share = self._number(value, path)
        if share > 1:
            raise self._error(path, "a share of the points, from 0 to 1", f"{share:g}")
        return share

    def _number(self, value: Any, path: list[str | int]) -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            raise self._error(path, "a number that is not negative", repr(value))
        return float(value)

    def _words(self, row: dict[str, Any], key: str, path: list[str | int]) -> str:
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._error([*path, key], f"a text for {key}", repr(value))
        return value

    def _known(self, id: str, path: list[str | int]) -> None:
        known = [question.id for question in self._bank]
        if id not in known:
            raise self._error(path, f"a question of the bank ({', '.join(known)})", repr(id))

    def _table(self, value: Any, path: list[str | int]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(path, "a table", repr(value))
        return value

    def _list(self, value: Any, path: list[str | int]) -> list[Any]:
        if not isinstance(value, list):
            raise self._error(path, f"[[{path[-1]}]] tables", repr(value))
        return value

    def _only(self, row: dict[str, Any], keys: Sequence[str], path: list[str | int]) -> None:
        for key in row:
            if key not in keys:
                raise self._error([*path, key], f"one of the keys {', '.join(keys)}", repr(key))

    def _error(self, path: Sequence[str | int], wanted: str, got: str) -> InputError:
        line = line_of(self._text, path)
        return InputError(
            wanted=wanted,
            got=f"{got[:200]} in line {line} of {self._name}",
            attempt="see docs/guides/course.md",
        )
