"""What a student handed in, as one: several documents of a student are merged question by question,
and the best verdict counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.course.rubric import Rubric, grade
from headwright.homework.verdict import Report, Verdict

# The best first. Whatever was written counts before what is missing in another document.
BEST_FIRST = ("correct", "incomplete", "wrong", "unread", "missing")


def hand_ins(
    reports: Sequence[Report], students: Mapping[str, Student], rubric: Rubric
) -> list[Graded]:
    """One per student, in the order of the documents. `students` by document."""
    by_student: dict[str, list[Report]] = {}
    known: dict[str, Student] = {}
    for report in reports:
        student = students[report.document]
        known[student.id] = student
        by_student.setdefault(student.id, []).append(report)
    return [grade(known[id], merged(theirs), rubric) for id, theirs in by_student.items()]


def merged(reports: Sequence[Report]) -> Report:
    """One report for all documents of a hand-in. That one of them could not be read stays in it:
    what is missing in the others may stand there."""
    if len(reports) == 1:
        return reports[0]
    best: dict[str, Verdict] = {}
    for report in reports:
        for verdict in report.verdicts:
            known = best.setdefault(verdict.question, verdict)
            if BEST_FIRST.index(verdict.status) < BEST_FIRST.index(known.status):
                best[verdict.question] = verdict
    names = ", ".join(report.document for report in reports)
    notes = tuple(note for report in reports for note in report.notes)
    return Report(names, tuple(best.values()), notes)
