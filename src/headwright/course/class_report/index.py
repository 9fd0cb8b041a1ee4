"""The page of a class, one file that needs no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from headwright.course.class_report import sections, spread
from headwright.course.class_report.alike import alike
from headwright.course.class_report.record import ClassRecord, shown_name
from headwright.course.class_report.students import linked, shown_id, students
from headwright.exercise.bank import Bank
from headwright.homework.showing.exports import faults
from headwright.homework.showing.pages import CSS, Draw, as_text, counted
from headwright.report.page import page

_DESCRIPTION = "Marks, distributions and most common faults of a class"


def index_page(record: ClassRecord, bank: Bank, *, draw: Draw = as_text) -> str:
    titles = {question.id: question.title for question in bank}
    right = {question.id: question.right for question in bank}
    found = spread.by_question(record.graded)
    whole = len(record.graded)
    body = [
        f"{CSS}<style>{_static('students.css')}</style>",
        _heading(record),
        students(record, [one.id for one in found]),
        sections.points(spread.totals(record.graded)),
        sections.questions(found, titles, whole),
        sections.faults(faults([one.report for one in record.graded]), whole, draw),
        _same(record, right),
        *_unmatched(record),
        f"<script>{_static('students.js')}</script>",
    ]
    return page("The class", "\n".join(body), description=_DESCRIPTION)


def _heading(record: ClassRecord) -> str:
    number = len(record.graded)
    plural = "s" if number != 1 else ""
    statuses = Counter(mark.status for one in record.graded for mark in one.marks)
    return f"<h1>{number} hand-in{plural}</h1><p>{counted(statuses)}</p>"


def _same(record: ClassRecord, right: Mapping[str, str]) -> str:
    return sections.same_answers(
        alike(record.graded, right), lambda student: linked(student, record)
    )


def _unmatched(record: ClassRecord) -> list[str]:
    """What the roster and the documents do not agree about."""
    strangers = [one.student for one in record.graded if one.student.id in record.nobody]
    nobody = [linked(student, record) for student in strangers]
    without = [f"{escape(shown_name(one))}{shown_id(one)}" for one in record.without]
    return [
        sections.listed("Nothing handed in", "In the roster, without a document.", without),
        sections.listed(
            "Documents without a student",
            "Their paths name no student of the roster, or several.",
            nobody,
        ),
    ]


def _static(name: str) -> str:
    return files("headwright.course.class_report").joinpath("static", name).read_text("utf-8")
