"""Gradescope's results.json.

A test whose score equals its `max_score` shows green, 0 of 0 included, so that every test has a
`status`, and one without points has no score at all. Text is text: the platform would otherwise
read the output as markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headwright.course.hand_ins import merged
from headwright.course.marks import Graded, Mark
from headwright.course.packs import told
from headwright.course.people import Student
from headwright.course.rubric import Rubric, grade
from headwright.homework.verdict import Report, Verdict

_FORMATS = {"output_format": "text", "test_output_format": "text", "test_name_format": "text"}


def results(
    graded: Graded,
    titles: Mapping[str, str],
    extra: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """One submission; `extra` is kept by the platform with it, `notes` are for the student."""
    verdicts = {verdict.question: verdict for verdict in graded.report.verdicts}
    number = len(graded.marks)
    tests = [_test(mark, verdicts.get(mark.question), titles, number) for mark in graded.marks]
    return {
        "score": graded.points,
        "output": told.text([*told.opening(graded), *notes], number),
        **_FORMATS,
        "visibility": "visible",
        "tests": tests,
        "extra_data": dict(extra or {}),
    }


def not_graded(reason: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The checker failed, not the student; nothing is green."""
    test = {"name": "Checker", "score": 0.0, "max_score": 1.0, "status": "failed"}
    output = told.text([reason])
    return {
        "score": 0.0,
        "output": output,
        **_FORMATS,
        "visibility": "visible",
        "tests": [{**test, "output": output, "visibility": "visible"}],
        "extra_data": dict(extra or {}),
    }


def of_one_submission(
    reports: Sequence[Report], rubric: Rubric, titles: Mapping[str, str]
) -> dict[str, Any]:
    """All documents are one student's; the platform knows whose."""
    return results(grade(Student("submission"), merged(reports), rubric), titles)


def _test(
    mark: Mark, verdict: Verdict | None, titles: Mapping[str, str], number: int
) -> dict[str, Any]:
    worth = {"score": mark.points or 0.0, "max_score": mark.max_points}
    # A question without points passes by what was found alone
    passed = told.passes(mark) if mark.max_points else mark.status == "correct"
    return {
        "number": mark.question,
        "name": told.text([told.name(mark, titles)], number),
        **(worth if mark.max_points else {}),
        "status": "passed" if passed else "failed",
        "output": told.text(told.sentences(mark, verdict), number),
        "visibility": mark.visibility,
    }
