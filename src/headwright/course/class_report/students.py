"""The students and their marks, a line each; `static/students.js` searches and sorts them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headwright.course.class_report.record import ClassRecord, shown_name
from headwright.course.marks import Graded, Mark
from headwright.course.people import Student
from headwright.homework.showing.pages import SIGNS
from headwright.homework.verdict import WHOLE

_SEARCH = """<p id="searching" hidden><label>Search a name or an id
<input id="search" type="search" autocomplete="off"></label> <span id="shown" role="status"></span>
<span class="soft">A heading sorts the table.</span></p>"""
_BY_HAND = '<p class="soft">* points that a person gave</p>'


def students(record: ClassRecord, questions: Sequence[str]) -> str:
    # A question's number may break behind its dot, so that many of them fit beside each other.
    titles = ["Student", "Points", "Open", *(escape(q).replace(".", ".<br>") for q in questions)]
    head = "".join(f"<th>{title}</th>" for title in titles)
    lines = "".join(_line(one, record, questions) for one in record.graded)
    table = f'<table class="students"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
    by_hand = any(mark.by_hand for one in record.graded for mark in one.marks)
    note = _BY_HAND if by_hand else ""
    box = f'<div class="wide box" tabindex="0" role="region" aria-label="Students">{table}</div>'
    return f"<section><h2>Students</h2>{_SEARCH}{box}{note}</section>"


def linked(student: Student, record: ClassRecord) -> str:
    """The name, which leads to the student's own page; further documents are numbered."""
    files = [escape(file, quote=True) for file in record.pages.get(student.id, ())]
    name = escape(shown_name(student))
    if not files:
        return name
    others = [f' <a href="{file}">({k})</a>' for k, file in enumerate(files[1:], 2)]
    return f'<a href="{files[0]}">{name}</a>{"".join(others)}'


def shown_id(student: Student) -> str:
    """What tells two students of one name apart; nothing where the id is shown as the name."""
    return f' <span class="id">{escape(student.id)}</span>' if student.name else ""


def _line(one: Graded, record: ClassRecord, questions: Sequence[str]) -> str:
    marks = {mark.question: mark for mark in one.marks}
    cells = [
        f"<td>{linked(one.student, record)}{_under(one, record)}</td>",
        f"<td>{one.points:.4g} / {one.max_points:g}</td>",
        f"<td>{one.open_points:g}</td>" if one.open_points else "<td></td>",
        *(_cell(marks.get(question)) for question in questions),
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _under(one: Graded, record: ClassRecord) -> str:
    """What stands with the name: the id, and what is to be known about the hand-in."""
    said = []
    if one.student.id in record.nobody:
        said.append("of no student in the roster, or of several")
    if record.notes.get(one.student.id):
        said.append(record.notes[one.student.id])
    said += [verdict.reason for verdict in one.report.verdicts if verdict.question == WHOLE]
    lines = [f'<span class="under">{escape(text)}</span>' for text in said]
    return shown_id(one.student) + "".join(lines)


def _cell(mark: Mark | None) -> str:
    if mark is None:
        return "<td></td>"
    points = "open" if mark.points is None else f"{mark.points:.4g} of {mark.max_points:g}"
    by_hand = "*" if mark.by_hand else ""
    title = f"{mark.status}, {points}"
    return f'<td class="s-{mark.status}" title="{title}">{SIGNS[mark.status]}{by_hand}</td>'
