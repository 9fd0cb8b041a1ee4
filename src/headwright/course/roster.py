"""The students of a course, from the list that a platform or a teacher exports."""

from __future__ import annotations

from pathlib import Path

from headwright.course.gradebook.columns import platforms
from headwright.course.people import Student
from headwright.course.sheet import Sheet, read_sheet
from headwright.errors import InputError

# What columns are called, by what they say; the first column of a kind that is there counts.
_COLUMNS = {
    "id": (
        "student id", "student_id", "sid", "sis user id", "id number", "matriculation number",
        "matrikelnummer", "identifier", "id", "username", "login",
    ),
    "name": ("name", "full name", "student", "student name", "display name"),
    "first": ("first name", "given name", "firstname", "vorname"),
    "last": ("last name", "surname", "family name", "lastname", "nachname"),
    "email": ("email", "e-mail", "email address", "mail", "e-mail address"),
}  # fmt: skip
# What else may stand for a student: every column that is called so
_NAMES = ("id", "sis user id", "sis login id", "login", "username", "user name", "id number", "sid")
_SHOWN = 5


def read_roster(path: str | Path) -> list[Student]:
    """The students in a file, in its order; each is there once."""
    sheet = read_sheet(path)
    columns = _columns(sheet)
    found: dict[str, tuple[int, Student]] = {}
    twice: list[str] = []
    for line, cells in sheet.lines():
        if cells[0].lower() in _about_nobody():
            continue
        student = _student(sheet, columns, line, cells)
        known = found.setdefault(student.id, (line, student))
        if known[0] != line:
            twice.append(f"{student.id} in lines {known[0]} and {line}")
    if twice:
        raise InputError(
            wanted="each student once",
            got=f"{'; '.join(twice[:_SHOWN])} of {sheet.name}",
            attempt="remove the second line, or give the students different ids",
        )
    if not found:
        raise InputError(
            wanted="at least one student", got=f"none in {sheet.name}", attempt="export the roster"
        )
    return [student for _, student in found.values()]


def _about_nobody() -> set[str]:
    """What the first cell says in rows of a gradebook that are about no student."""
    return {words for platform in platforms() for words in platform.skip}


def _columns(sheet: Sheet) -> dict[str, int]:
    header = [name.lower() for name in sheet.header]
    columns: dict[str, int] = {}
    for kind, names in _COLUMNS.items():
        there = [name for name in names if name in header]
        if there:
            columns[kind] = header.index(there[0])
    if "id" not in columns and "email" in columns:
        columns["id"] = columns["email"]
    if "id" not in columns:
        raise InputError(
            wanted="a column that tells students apart (id, SID, SIS User ID, Email, ...)",
            got=f"the columns {', '.join(sheet.header)[:200]} in {sheet.name}",
            attempt="name one of them id",
        )
    return columns


def _student(sheet: Sheet, columns: dict[str, int], line: int, cells: list[str]) -> Student:
    def cell(kind: str) -> str:
        place = columns.get(kind)
        return cells[place] if place is not None and place < len(cells) else ""

    id = cell("id")
    if not id:
        raise InputError(
            wanted="an id for every student",
            got=f"none in line {line} of {sheet.name}",
            attempt="fill it in, or remove the line",
        )
    name = cell("name") or " ".join(part for part in (cell("first"), cell("last")) if part)
    named = zip(sheet.header, cells, strict=False)
    others = [text for title, text in named if title.lower() in _NAMES and text and text != id]
    return Student(id, name, cell("email"), tuple(others))
