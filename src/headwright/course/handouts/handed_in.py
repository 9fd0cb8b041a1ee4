"""Documents that were written on sheets: whose variant each of them is judged by, and whether the
sheet is the student's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headwright.course.handouts.marker import marker, marker_in
from headwright.course.manifest import Manifest
from headwright.course.owners import Owners
from headwright.course.people import Student
from headwright.exercise.bank import Bank
from headwright.homework.reading.sources import Source

_MOST_READ = 100_000  # bytes of a document in which the sheet's code is looked for
_NOBODY = "it is not known whose document this is, so there is no sheet to judge it by"
_NO_SHEET = "the manifest has no sheet for this student"


@dataclass(frozen=True)
class HandedIn:
    """One document: the questions it answers, and what is odd about its sheet."""

    bank: Bank
    digest: str
    note: str = ""


def class_of_manifest(manifest: Manifest, roster: Sequence[Student] | None) -> list[Student]:
    """The roster, where one is given, with the names of the sheets' files; else the manifest's
    students."""
    listed = {student.id: student for student in manifest.students}
    if roster is None:
        return list(listed.values())
    return [_with_names(student, listed.get(student.id)) for student in roster]


def _with_names(student: Student, listed: Student | None) -> Student:
    more = () if listed is None else tuple(listed.names)
    return replace(student, names=tuple(dict.fromkeys((*student.names, *more))))


def claimed(documents: Sequence[Source], found: Owners, manifest: Manifest) -> Owners:
    """Documents that nobody's name is on belong to the student whose code is; a path that names two
    students stays nobody's."""
    by_code = {str(marker(manifest.course, id)): id for id in manifest.by_student}
    owned = dict(found.by_document)
    for source in documents:
        if source.name not in owned and source.name not in found.several:
            student = by_code.get(str(marker_in(_beginning(source))))
            if student is not None:
                owned[source.name] = manifest.by_student[student].student
    there = {student.id for student in owned.values()}
    nobody = tuple(name for name in found.nobody if name not in owned)
    without = tuple(student for student in found.without if student.id not in there)
    in_order = {d.name: owned[d.name] for d in documents if d.name in owned}
    return Owners(in_order, nobody, without, found.several)


def judged_by(
    source: Source, student: Student | None, manifest: Manifest, sheet: Bank, digest: str
) -> tuple[Source, HandedIn]:
    """The document with the bank of its student; one without a sheet is not opened."""
    if student is None or student.id not in manifest.by_student:
        why = _NOBODY if student is None else _NO_SHEET
        return replace(source, refused=source.refused or why), HandedIn(sheet, digest)
    bank = manifest.bank_of(student.id, sheet)
    note = _note(source, student, manifest)
    return source, HandedIn(bank, manifest.by_student[student.id].bank, note)


def _note(source: Source, student: Student, manifest: Manifest) -> str:
    """Where the code on the sheet is another one than the student's."""
    found = marker_in(_beginning(source))
    own = marker(manifest.course, student.id)
    if found is None or found == own:
        return ""
    whose = "another course" if found.course != own.course else "another student"
    return f"written on a sheet of {whose} {found}; judged by the student's own sheet {own}"


def _beginning(source: Source) -> str:
    if source.path is None or source.refused:
        return source.text
    try:
        with source.path.open("rb") as stream:
            return stream.read(_MOST_READ).decode("latin-1")
    except OSError:
        return ""


def by_document(pairs: Sequence[tuple[Source, HandedIn]]) -> Mapping[str, HandedIn]:
    return {source.name: handed for source, handed in pairs}
