"""The page of the class that `headwright check --html` writes beside those of the documents."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.cli.check.marking import Class
from headwright.course.class_report import ClassRecord, index_page
from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.exercise.bank import Bank
from headwright.homework import batch
from headwright.homework.showing.page_folder import Entry
from headwright.homework.showing.pages import as_text


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
