"""Gradescope's results.json.

A test whose score equals its `max_score` shows green, so that an answer nobody has read needs
points it did not get and the status `failed`; its name says that a person will read it. Text is
text: the platform would otherwise read the output as markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwright.course.hand_ins import merged
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.course.rubric import Rubric, grade
from headwright.homework.verdict import WHOLE, Report, Verdict

_OPENING = "Judged by computation."
_OPEN = "{points:g} of {most:g} points wait for a person."


def results(
    graded: Graded, titles: Mapping[str, str], extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """One submission; `extra` is kept by the platform with it."""
    verdicts = {verdict.question: verdict for verdict in graded.report.verdicts}
    tests = [_test(mark, verdicts.get(mark.question), titles) for mark in graded.marks]
    lines = [_OPENING]
    if graded.open_points:
        lines.append(_OPEN.format(points=graded.open_points, most=graded.max_points))
    if WHOLE in verdicts:
        lines.append(f"{graded.report.document}: {verdicts[WHOLE].reason}")
    return {
        "score": graded.points,
        "output": "\n".join(lines),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "tests": tests,
        "extra_data": dict(extra or {}),
    }


def of_one_submission(
    reports: Sequence[Report], rubric: Rubric, titles: Mapping[str, str]
) -> dict[str, Any]:
    """All documents are one student's; the platform knows whose."""
    return results(grade(Student("submission"), merged(reports), rubric), titles)


def _test(mark: Mark, verdict: Verdict | None, titles: Mapping[str, str]) -> dict[str, Any]:
    name = f"{mark.question} {titles.get(mark.question, '')}".strip()
    unread = mark.points is None
    points = 0.0 if mark.points is None else mark.points
    return {
        "number": mark.question,
        "name": f"{name} (a person will read it)" if unread else name,
        "score": points,
        "max_score": mark.max_points,
        "status": "passed" if not unread and points == mark.max_points else "failed",
        "output": "\n".join(_sentences(mark, verdict)),
        "visibility": mark.visibility,
    }


def _sentences(mark: Mark, verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return [f"{mark.status}: nothing was found", *([mark.text] if mark.text else [])]
    lines = [f"{verdict.status}: {verdict.reason}", mark.text, verdict.answer]
    if verdict.repair:
        lines.append(f"Smallest repair: {verdict.repair}")
    lines += verdict.remarks
    for step in verdict.steps:
        name = step.question.partition("/step:")[2]
        lines.append(f"Step {name}: {step.status}. {step.reason}")
    if mark.by_hand:
        lines.append(f"Points given by a person: {mark.by_hand}")
    return [line for line in lines if line]
