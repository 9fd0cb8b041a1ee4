"""Fill in the marks of a class: one cell per student, every other byte as it was."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headwright.course.gradebook.columns import Columns, columns
from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.course.sheet import Sheet
from headwright.errors import InputError


@dataclass(frozen=True)
class Filled:
    """The sheet with marks, and everybody whose cell was left as it was."""

    sheet: Sheet
    filled: tuple[str, ...]  # ids
    unmatched_students: tuple[str, ...]  # handed in, and not in the sheet
    unmatched_rows: tuple[str, ...]  # in the sheet, and nothing was handed in
    unclear_rows: tuple[str, ...]  # their cells name several students
    still_open: tuple[str, ...]  # some points wait for a person
    other_mark: tuple[str, ...]  # another mark stands there already
    locked: tuple[str, ...]  # the platform takes no mark for this row

    def told(self) -> dict[str, list[str]]:
        """Who got a mark and who did not, for a reader."""
        lists = {name: value for name, value in vars(self).items() if name != "sheet"}
        return {name: list(value) for name, value in lists.items()}


def fill(
    sheet: Sheet,
    graded: Sequence[Graded],
    others: Sequence[Student] = (),
    *,
    column: str | None = None,
    overwrite: bool = False,
) -> Filled:
    """A mark that a person wrote into the sheet stays, unless `overwrite`; a total that is not
    settled yet is not written. `others` are in the class, too: the row of a student who handed in
    nothing is not that of a namesake who did."""
    meaning = columns(sheet, column)
    rows = [list(row) for row in sheet.rows]
    left = _Left()
    by_id = {one.student.id: one for one in graded}
    students = [*(one.student for one in graded), *others]
    matched = students_of_rows(sheet, students, column)
    for place, ids in matched.items():
        one = by_id.get(next(iter(ids))) if len(ids) == 1 else None
        if one is None:
            rest = left.unclear_rows if len(ids) > 1 else left.unmatched_rows
            rest.append(_named(sheet, meaning, place))
            continue
        cells = rows[place]
        cell = cells[meaning.mark]
        mark = _number(one.points, sheet)
        if _is_locked(meaning, [c.text for c in cells]):
            left.locked.append(one.student.id)
        elif one.open_points:
            left.still_open.append(one.student.id)
        elif _stands(cell.text, meaning) and not _same_number(cell.text, mark) and not overwrite:
            left.other_mark.append(one.student.id)
        else:
            left.filled.append(one.student.id)
            if not _same_number(cell.text, mark):
                cells[meaning.mark] = cell.with_text(mark)

    there = {id for ids in matched.values() if len(ids) == 1 for id in ids}
    return Filled(
        Sheet(sheet.name, sheet.mark, sheet.encoding, rows),
        unmatched_students=tuple(id for id in by_id if id not in there),
        **{kind: tuple(names) for kind, names in vars(left).items()},
    )


class _Left:
    """Who was filled in and who was left, while the rows are gone through."""

    def __init__(self) -> None:
        self.filled: list[str] = []
        self.unmatched_rows: list[str] = []
        self.unclear_rows: list[str] = []
        self.still_open: list[str] = []
        self.other_mark: list[str] = []
        self.locked: list[str] = []


# ------------------------------------------------------------------------------- who a row is about


def students_of_rows(
    sheet: Sheet, students: Sequence[Student], column: str | None = None
) -> dict[int, set[str]]:
    """Who each row may be about, by id: nobody that is known, one student, or several. A student
    with two rows is refused."""
    meaning = columns(sheet, column)
    by_name = _by_name(students)
    rows: dict[int, set[str]] = {}
    for place, row in enumerate(sheet.rows[1:], 1):
        cells = [cell.text for cell in row]
        if not any(cells) or cells[0].lower() in meaning.platform.skip:
            continue
        if len(cells) <= max(meaning.mark, *meaning.identity):
            raise InputError(
                wanted=f"{len(sheet.header)} cells in every row of {sheet.name}",
                got=f"{len(cells)} in row {place + 1}",
                attempt="export the sheet again",
            )
        rows[place] = _named_in(cells, meaning, by_name)

    known = Counter(next(iter(ids)) for ids in rows.values() if len(ids) == 1)
    twice = sorted(id for id, number in known.items() if number > 1)
    if twice:
        raise InputError(
            wanted="one row for each student",
            got=f"several for {', '.join(twice[:5])} in {sheet.name}",
            attempt="remove the rows that are not meant",
        )
    return rows


def _by_name(students: Iterable[Student]) -> dict[str, set[str]]:
    """Who may be meant by a cell."""
    known: dict[str, set[str]] = {}
    for student in students:
        for name in _names(student):
            known.setdefault(name, set()).add(student.id)
    return known


def _names(student: Student) -> set[str]:
    given = (student.id, *student.names, student.email, student.name, _turned(student.name))
    return {_folded(name) for name in given if name}


def _turned(name: str) -> str:
    """ "Last, First" of "First Last"."""
    first, _, last = name.rpartition(" ")
    return f"{last}, {first}" if first else ""


def _named_in(cells: Sequence[str], meaning: Columns, by_name: Mapping[str, set[str]]) -> set[str]:
    """Whom all cells agree on, such as one of two namesakes by the number; everybody that is named
    where they do not agree: one platform's number may be another student's id."""
    named = [by_name.get(_folded(cells[place]), set()) for place in meaning.identity]
    found = [ids for ids in named if ids]
    if not found:
        return set()
    return set.intersection(*found) or set.union(*found)


def _folded(name: str) -> str:
    """Case, accents written in two ways and extra spaces do not tell students apart."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _named(sheet: Sheet, meaning: Columns, place: int) -> str:
    cells = [cell.text for cell in sheet.rows[place]]
    return next((cells[i] for i in meaning.identity if cells[i]), f"row {place + 1}")


def _stands(text: str, meaning: Columns) -> bool:
    return text not in ("", *meaning.platform.empty)


def _is_locked(meaning: Columns, cells: Sequence[str]) -> bool:
    says = meaning.platform.locked.get("says", ())
    return meaning.locked is not None and cells[meaning.locked].lower() in says


# ----------------------------------------------------------------------------------------- numbers


def _number(points: float, sheet: Sheet) -> str:
    """Two decimals at most. A sheet that is separated by semicolons has decimal commas."""
    text = f"{points:.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if sheet.rows[0][0].end == ";" else text


def _same_number(one: str, other: str) -> bool:
    numbers = [text.replace(",", ".") for text in (one, other)]
    if not all(re.fullmatch(r"[-+]?\d+(?:\.\d*)?", text) for text in numbers):
        return False
    return float(numbers[0]) == float(numbers[1])
