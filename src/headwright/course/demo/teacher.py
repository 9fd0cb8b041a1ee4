"""What the teacher of the sample class has: a roster, a rubric, two exported gradebooks, and what
`check` is expected to say."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headwright.course.demo.tables import Answer, Asked, SampleClass

_MAIL = "{id}@students.example"
# The shares that the rubric below leaves as they are, and the one that it changes
_SHARES = {"correct": 1.0, "incomplete": 0.6, "wrong": 0.0, "missing": 0.0}
_BEST_FIRST = ("correct", "incomplete", "wrong", "unread", "missing")
_MARKED_BY_HAND = "u20"  # has a mark in the gradebook already, which stays
_AUDITOR = "v99"  # is in the gradebook only

_RUBRIC = """\
# What the answers of exercise 5 are worth: see docs/guides/course.md
title = "Exercise 5"
total = {total:g}

[shares]
incomplete = {incomplete}

{questions}
# Students are told this beside the verdict.
[[question."b.q".fault]]
says = "too short"
text = "Orthonormal keys need a large factor: see lecture 8."

{overrides}"""


def files(sample: SampleClass) -> dict[str, str]:
    """By name."""
    return {
        "roster.csv": roster(sample),
        "rubric.toml": rubric(sample),
        "canvas.csv": canvas(sample),
        "moodle.csv": moodle(sample),
        "expected.json": json.dumps(expected(sample), indent=1, ensure_ascii=False) + "\n",
    }


def roster(sample: SampleClass) -> str:
    lines = [[id, name, _MAIL.format(id=id)] for id, name in sample.roster.items()]
    return _table(["id", "name", "email"], lines)


def rubric(sample: SampleClass) -> str:
    questions = "".join(f'[question."{q.id}"]\npoints = {q.points:g}\n\n' for q in sample.asked)
    overrides = "\n".join(_override(row) for row in sample.overrides)
    total = sum(question.points for question in sample.asked)
    # A fault stands below its question's table: b.q goes last.
    return _RUBRIC.format(
        total=total, incomplete=_SHARES["incomplete"], questions=questions, overrides=overrides
    )


def _override(row: Mapping[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in row.items()]
    return "\n".join(["[[override]]", *lines, ""])


def canvas(sample: SampleClass) -> str:
    """As Canvas exports marks: a row with the most points, and numbers of its own."""
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Exercise 5 (5150)"]
    total = sum(question.points for question in sample.asked)
    lines = [["    Points Possible", "", "", "", "", f"{total:g}"]]
    for number, (id, name) in enumerate(sample.roster.items(), 4001):
        mark = "19" if id == _MARKED_BY_HAND else ""
        lines.append([_last_first(name), f"{number}", id, _MAIL.format(id=id), "A", mark])
    lines.append(["Guest, Some", "4999", _AUDITOR, _MAIL.format(id=_AUDITOR), "A", ""])
    return _table(header, lines)


def moodle(sample: SampleClass) -> str:
    """As Moodle exports marks, every cell in quotes."""
    header = [
        "First name",
        "Last name",
        "ID number",
        "Email address",
        "Assignment: Exercise 5 (Real)",
    ]
    lines = []
    for id, name in sample.roster.items():
        first, _, last = name.partition(" ")
        lines.append([first, last, id, _MAIL.format(id=id), "-"])
    return _table(header, lines, quoting=csv.QUOTE_ALL)


def _last_first(name: str) -> str:
    first, _, last = name.partition(" ")
    return f"{last}, {first}"


def _table(header: Sequence[str], lines: Iterable[Sequence[str]], quoting: Any = 0) -> str:
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return out.getvalue()


# --------------------------------------------------------------------------- what comes out of it


def expected(sample: SampleClass) -> dict[str, Any]:
    """Statuses and points by student, from the tables alone: nothing is judged here."""
    students: dict[str, Any] = {}
    for id in dict.fromkeys(one.student for one in sample.hand_ins):
        statuses = {question.id: _best(sample, id, question) for question in sample.asked}
        marks = {q.id: _points(sample, id, q, statuses[q.id]) for q in sample.asked}
        settled = [points for points in marks.values() if points is not None]
        students[id] = {"points": round(sum(settled), 6), "statuses": statuses, "marks": marks}
    nobody = [one.student for one in sample.hand_ins if not one.name]
    return {"students": students, "without": list(sample.without), "nobody": nobody}


def _best(sample: SampleClass, student: str, question: Asked) -> str:
    """Of all documents of the student; in an empty one nothing could be read."""
    theirs = [one for one in sample.hand_ins if one.student == student]
    found = ["unread" if one.is_empty else _status(one.answers[question.id]) for one in theirs]
    return min(found, key=_BEST_FIRST.index)


def _status(answer: Answer | None) -> str:
    return "missing" if answer is None else answer.status


def _points(sample: SampleClass, student: str, question: Asked, status: str) -> float | None:
    for row in sample.overrides:
        if (row["student"], row["question"]) == (student, question.id):
            return row["points"]
    return None if status == "unread" else _SHARES[status] * question.points
