"""The class behind the documents of `headwright check`: who wrote them, what they are worth, and
what other programs get to see of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headwright import __version__
from headwright.course.anonymous import Redaction, hidden_student, pseudonym
from headwright.course.hand_ins import hand_ins
from headwright.course.handouts.handed_in import HandedIn, by_document, judged_by
from headwright.course.manifest import Manifest, bank_digest
from headwright.course.marks import Graded, Mark
from headwright.course.owners import Owners
from headwright.course.people import Student
from headwright.course.rubric import Rubric
from headwright.exercise.bank import Bank
from headwright.homework.reading.sources import Source
from headwright.homework.verdict import Report
from headwright.result import plain


@dataclass(frozen=True)
class Class:
    """The documents with their students, before anything is judged."""

    documents: Sequence[Source]
    students: Mapping[str, Student]  # by document
    unmatched: Mapping[str, Sequence[str]]
    redactions: Mapping[str, Redaction] | None = None  # by document, where names are hidden
    sheets: Mapping[str, HandedIn] = field(default_factory=dict)  # by document, with a manifest

    def signed(self, outcomes: Iterable[Any]) -> Iterator[Any]:
        """Judged documents with the student's id on them; without names where they are hidden."""
        for outcome in outcomes:
            notes = (*self._notes(outcome.name), *outcome.report.notes)
            student = self.students[outcome.name].id
            report = replace(outcome.report, student=student, notes=notes)
            page = outcome.page
            if self.redactions is not None:
                report = self.redactions[outcome.name].report(report)
                page = self.redactions[outcome.name].page(page)
            yield replace(outcome, report=report, page=page)

    def _notes(self, document: str) -> tuple[str, ...]:
        note = self.sheets[document].note if document in self.sheets else ""
        return (note,) if note else ()


def class_of(documents: Sequence[Source], found: Owners) -> Class:
    """A student for every document; one that is nobody's goes by its own name."""
    students = {one.name: found.by_document.get(one.name, Student(one.name)) for one in documents}
    without = [student.id for student in found.without]
    unmatched = {"documents": found.nobody, "several": found.several, "students": without}
    return Class(documents, students, unmatched)


def on_sheets(known: Class, manifest: Manifest, sheet: Bank) -> Class:
    """The same class, each document with the questions of its student's sheet."""
    nobody = set(known.unmatched["documents"])
    digest = bank_digest(sheet)
    pairs = []
    for source in known.documents:
        student = None if source.name in nobody else known.students[source.name]
        pairs.append(judged_by(source, student, manifest, sheet, digest))
    documents = [source for source, _ in pairs]
    return replace(known, documents=documents, sheets=by_document(pairs))


def hidden(known: Class, key: bytes) -> Class:
    """The same class under pseudonyms; several documents of one student are numbered."""
    documents: list[Source] = []
    students: dict[str, Student] = {}
    redactions: dict[str, Redaction] = {}
    renamed: dict[str, str] = {}
    sheets: dict[str, HandedIn] = {}
    for source in known.documents:
        student = known.students[source.name]
        unnamed = hidden_student(key, student)
        name = unnamed.id
        while name in students:
            name = f"{name}-more"
        renamed[source.name] = name
        documents.append(replace(source, name=name))
        students[name] = unnamed
        redactions[name] = Redaction(student, unnamed.id)
        if source.name in known.sheets:
            sheets[name] = known.sheets[source.name]
    unmatched = {
        "documents": [renamed[name] for name in known.unmatched["documents"]],
        "several": [renamed[name] for name in known.unmatched["several"]],
        "students": [pseudonym(key, id) for id in known.unmatched["students"]],
    }
    return Class(documents, students, unmatched, redactions, sheets)


@dataclass(frozen=True)
class Marked:
    """The result of one run: reports, marks, and the JSON record of both."""

    reports: Sequence[Report]
    graded: Sequence[Graded]
    data: dict[str, Any]

    @property
    def worth(self) -> dict[tuple[str, str], tuple[float | None, float]]:
        """Points and the most there are, by document and question."""
        rows = self.data["verdicts"]
        return {
            (row["document"], row["question"]): (row["points"], row["max_points"]) for row in rows
        }


def marked(known: Class, reports: Sequence[Report], rubric: Rubric, bank: Bank) -> Marked:
    graded = graded_of(known, reports, rubric)
    data = {
        "verdicts": _rows(reports, graded),
        "students": [_total(one) for one in graded],
        "documents": _documents(known, bank_digest(bank)),
        "run": {"version": __version__, "rubric": rubric.digest},
        "unmatched": {what: list(names) for what, names in known.unmatched.items()},
    }
    return Marked(reports, graded, data)


def graded_of(known: Class, reports: Sequence[Report], rubric: Rubric) -> list[Graded]:
    graded = hand_ins(reports, known.students, rubric)
    return graded if known.redactions is None else [_without_reasons(one) for one in graded]


def _without_reasons(one: Graded) -> Graded:
    """Why a person gave other points may name anybody."""
    hidden_reason = "by a person"
    marks = tuple(replace(mark, by_hand=mark.by_hand and hidden_reason) for mark in one.marks)
    return replace(one, marks=marks)


def _rows(reports: Sequence[Report], graded: Sequence[Graded]) -> list[dict[str, Any]]:
    """A row per document and question. The points of a question stand in the row that counts; a
    second document of the same student has none for it."""
    counted = _counted(graded)
    rows = []
    for report in reports:
        for verdict in report.verdicts:
            row = {"document": report.document, "student": report.student, **plain(verdict)}
            mark = counted.get(id(verdict))
            row["points"] = mark.points if mark is not None else None
            row["max_points"] = mark.max_points if mark is not None else 0.0
            rows.append(row)
    return rows


def _counted(graded: Sequence[Graded]) -> Mapping[int, Mark]:
    """Marks by the verdict they belong to."""
    found = {}
    for one in graded:
        verdicts = {verdict.question: verdict for verdict in one.report.verdicts}
        for mark in one.marks:
            if mark.question in verdicts:
                found[id(verdicts[mark.question])] = mark
    return found


def _total(one: Graded) -> dict[str, Any]:
    return {
        "student": one.student.id,
        "name": one.student.name,
        "document": one.report.document,
        "points": one.points,
        "open_points": one.open_points,
        "max_points": one.max_points,
        "marks": [plain(mark) for mark in one.marks],
    }


def _documents(known: Class, bank: str) -> list[dict[str, Any]]:
    """`bank` is the digest of the questions that all documents answer that have no sheet."""
    rows = []
    for source in known.documents:
        sheet = known.sheets.get(source.name)
        row = {"document": source.name, "student": known.students[source.name].id}
        row["digest"] = _digest(source)
        row["bank"] = bank if sheet is None else sheet.digest
        if sheet is not None:
            row["note"] = sheet.note
        rows.append(row)
    return rows


def _digest(source: Source) -> str:
    """Of the bytes that were judged; empty where they cannot be read."""
    try:
        data = source.path.read_bytes() if source.path is not None else source.text.encode("utf-8")
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()[:16]
