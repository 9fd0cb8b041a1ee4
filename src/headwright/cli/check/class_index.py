"""What `headwright check --html` adds to the pages of the documents: their marks, and the page of
the class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from headwright.cli.check.marking import Class
from headwright.course.class_report import ClassRecord, index_page, own_marks
from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.exercise.bank import Bank
from headwright.homework import batch
from headwright.homework.showing.page_folder import Entry
from headwright.homework.showing.pages import as_text
from headwright.homework.verdict import Report


def marks_of(
    entries: Sequence[Entry], graded: Sequence[Graded], *, in_a_course: bool
) -> Callable[[Report], str]:
    """What the page of a document says of its student's marks: nothing outside of a course."""
    number = Counter(entry.report.student for entry in entries)
    by_student = {one.student.id: one for one in graded}

    def marks(report: Report) -> str:
        if not in_a_course:
            return ""
        return own_marks(by_student[report.student], number[report.student])

    return marks


def class_index(
    entries: Sequence[Entry],
    known: Class,
    graded: Sequence[Graded],
    bank: Bank,
    roster: Sequence[Student] | None,
) -> str:
    """Its formulas are drawn by the same processes that judged."""
    record = _record(entries, known, graded, roster or ())
    wanted: list[str] = []
    index_page(record, bank, draw=lambda latex: wanted.append(latex) or "")
    drawn = batch.draw(wanted)

    def draw(latex: str) -> str:
        return drawn.get(latex) or as_text(latex)

    return index_page(record, bank, draw=draw)


def _record(
    entries: Sequence[Entry],
    known: Class,
    graded: Sequence[Graded],
    roster: Sequence[Student],
) -> ClassRecord:
    pages: dict[str, list[str]] = {}
    for entry in entries:
        pages.setdefault(entry.report.student, []).append(entry.file)
    nobody = frozenset(known.students[name].id for name in known.unmatched["documents"])
    # Under pseudonyms nobody is found here, and there is no name to show.
    named = {student.id: student for student in roster}
    without = [named.get(id, Student(id)) for id in known.unmatched["students"]]
    odd = {name: sheet.note for name, sheet in known.sheets.items() if sheet.note}
    # The codes of the two sheets are on the page of the document.
    notes = {known.students[name].id: note.partition(" [")[0] for name, note in odd.items()}
    return ClassRecord(graded, pages, nobody, without, notes)
