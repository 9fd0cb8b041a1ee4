"""Fill in the marks of a class: one cell per student, every other byte as it was."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
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
    still_open: tuple[str, ...]  # some points wait for a person
    other_mark: tuple[str, ...]  # another mark stands there already
    locked: tuple[str, ...]  # the platform takes no mark for this row

    def told(self) -> dict[str, list[str]]:
        """Who got a mark and who did not, for a reader."""
        lists = {name: value for name, value in vars(self).items() if name != "sheet"}
        return {name: list(value) for name, value in lists.items()}


def fill(
    sheet: Sheet, graded: Sequence[Graded], *, column: str | None = None, overwrite: bool = False
) -> Filled:
    """A mark that a person wrote into the sheet stays, unless `overwrite`; a total that is not
    settled yet is not written."""
    meaning = columns(sheet, column)
    rows = [list(row) for row in sheet.rows]
    left = _Left()
    matched = _matched(sheet, meaning, graded)
    for place, one in matched.items():
        cells = rows[place]
        if one is None:
            left.unmatched_rows.append(_named(sheet, meaning, place))
            continue
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

    there = {one.student.id for one in matched.values() if one is not None}
    return Filled(
        Sheet(sheet.name, sheet.mark, sheet.encoding, rows),
        tuple(left.filled),
        tuple(one.student.id for one in graded if one.student.id not in there),
        tuple(left.unmatched_rows),
        tuple(left.still_open),
        tuple(left.other_mark),
        tuple(left.locked),
    )


class _Left:
    """Who was filled in and who was left, while the rows are gone through."""

    def __init__(self) -> None:
        self.filled: list[str] = []
        self.unmatched_rows: list[str] = []
        self.still_open: list[str] = []
        self.other_mark: list[str] = []
        self.locked: list[str] = []


# ------------------------------------------------------------------------------- who a row is about


def _matched(sheet: Sheet, meaning: Columns, graded: Sequence[Graded]) -> dict[int, Graded | None]:
    """The hand-in that belongs to each row of a student; None where there is none."""
    by_name = _by_name(graded)
    rows: dict[int, Graded | None] = {}
    for place, row in enumerate(sheet.rows[1:], 1):
        cells = [cell.text for cell in row]
        if not any(cells) or cells[0].lower() in meaning.platform.skip:
            continue
        if len(cells) <= meaning.mark:
            raise InputError(
                wanted=f"{len(sheet.header)} cells in every row of {sheet.name}",
                got=f"{len(cells)} in row {place + 1}",
                attempt="export the sheet again",
            )
        rows[place] = _student_of(cells, meaning, by_name)

    owners = [one.student.id for one in rows.values() if one is not None]
    twice = sorted({id for id in owners if owners.count(id) > 1})
    if twice:
        raise InputError(
            wanted="one row for each student",
            got=f"several for {', '.join(twice[:5])} in {sheet.name}",
            attempt="remove the rows that are not meant",
        )
    return rows


def _by_name(graded: Iterable[Graded]) -> dict[str, list[Graded]]:
    """Who may be meant by a cell. What is said of two students names neither."""
    known: dict[str, list[Graded]] = {}
    for one in graded:
        for name in _names(one.student):
            known.setdefault(name, []).append(one)
    return known


def _names(student: Student) -> set[str]:
    given = (student.id, *student.names, student.email, student.name, _turned(student.name))
    return {_folded(name) for name in given if name}


def _turned(name: str) -> str:
    """ "Last, First" of "First Last"."""
    first, _, last = name.rpartition(" ")
    return f"{last}, {first}" if first else ""


def _student_of(
    cells: Sequence[str], meaning: Columns, by_name: dict[str, list[Graded]]
) -> Graded | None:
    for place in meaning.identity:
        candidates = by_name.get(_folded(cells[place]), [])
        if cells[place] and len(candidates) == 1:
            return candidates[0]
    return None


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
