"""Verdicts become marks, by a rubric."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.course.rubric.record import Fault, Override, Rubric, Worth
from headwright.homework.verdict import WHOLE, Report, Verdict


def grade(student: Student, report: Report, rubric: Rubric) -> Graded:
    """A mark for every question that counts. Where a document could not be read at all, every
    question that has no answer elsewhere waits for a person."""
    verdicts = {verdict.question: verdict for verdict in report.verdicts}
    by_hand = _by_hand(student, rubric.overrides)
    marks = []
    for question, worth in rubric.questions.items():
        asked = question in verdicts or rubric.all_count or bool(report.unread)
        verdict = _verdict(verdicts, question) if asked else None
        if rubric.all_count or verdict is not None or question in by_hand:
            marks.append(_mark(question, worth, verdict, by_hand.get(question)))
    return Graded(student, report, tuple(marks))


def _verdict(verdicts: Mapping[str, Verdict], question: str) -> Verdict | None:
    """On the question, or on a document that could not be read and may have the answer."""
    found = verdicts.get(question)
    if found is None or found.status == "missing":
        return verdicts.get(WHOLE, found)
    return found


def strangers(rubric: Rubric, students: Sequence[Student]) -> list[Override]:
    """Overrides for nobody of this class: a slip of the pen that would otherwise go unnoticed."""
    known = {name for student in students for name in (student.id, *student.names)}
    return [one for one in rubric.overrides if one.student not in known]


def _by_hand(student: Student, overrides: Sequence[Override]) -> Mapping[str, Override]:
    names = (student.id, *student.names)
    return {one.question: one for one in overrides if one.student in names}


def _mark(question: str, worth: Worth, verdict: Verdict | None, by_hand: Override | None) -> Mark:
    status = verdict.status if verdict is not None else "missing"
    fault = _fault(worth, verdict)
    text = fault.text if fault is not None else worth.texts.get(status, "")
    if by_hand is not None:
        points: float | None = by_hand.points
        reason = by_hand.reason
    else:
        share = _share(worth, verdict, fault)
        points = None if share is None else share * worth.points
        reason = ""
    return Mark(question, status, points, worth.points, text, worth.visibility, reason)


def _share(worth: Worth, verdict: Verdict | None, fault: Fault | None) -> float | None:
    """The share of the points; right steps may earn more than the answer itself."""
    if verdict is None:
        return worth.shares.get("missing")
    share = worth.shares.get(verdict.status)
    if share is None:
        return None
    if fault is not None and fault.share is not None:
        return fault.share
    judged = [step for step in verdict.steps if step.status != "unread"]
    if verdict.status == "correct" or not judged:
        return share
    right = sum(step.status == "correct" for step in judged)
    return max(share, worth.steps * right / len(judged))


def _fault(worth: Worth, verdict: Verdict | None) -> Fault | None:
    if verdict is None or verdict.status not in ("wrong", "incomplete"):
        return None
    return next((one for one in worth.faults if re.search(one.says, verdict.reason)), None)
