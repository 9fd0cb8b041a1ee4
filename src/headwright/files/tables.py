"""Numbers written as text, the way spreadsheets, pandas and NumPy write them: commas, semicolons,
tabs or blanks between cells, perhaps a header, perhaps a first column of row names. What is wrong
is told with its line and column."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from headwright.errors import InputError

# Headings of a column that counts or names the rows; pandas leaves it empty
_INDEX = ("", "index", "id", "row")
# Besides digits: signs, typographic ones too, and the decimal point
_STARTS = "+-\u2212\u2013.,"
_COMMENT = "#"
_LONGEST = 40  # characters of a cell that a message repeats


@dataclass(frozen=True)
class _Row:
    line: int
    cells: list[str]


def read_table(name: str, text: str) -> list[float] | list[list[float]]:
    """The rows of numbers, or the one row as a vector. `name` is what messages call the file."""
    rows = list(_rows(text))
    if not rows:
        attempt = "one row of numbers per line"
        raise InputError(wanted=f"numbers in {name}", got="an empty table", attempt=attempt)
    header = rows[0].cells if _is_header(rows[0].cells) else None
    body = rows[1:] if header is not None else rows
    if not body:
        got = f"a header alone, in line {rows[0].line}"
        raise InputError(wanted=f"numbers in {name}", got=got, attempt="rows below it")
    _insist_on_width(name, rows)

    first = 1 if _has_index(header, body) else 0
    numbers = [_numbers(name, row, first) for row in body]
    return numbers[0] if len(numbers) == 1 else numbers


def _rows(text: str) -> Iterator[_Row]:
    """Rows that hold something; comments, as NumPy writes them, hold nothing."""
    delimiter = _delimiter(text)
    if delimiter is None:
        split = ((i, line.split()) for i, line in enumerate(text.splitlines(), 1))
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        split = ((reader.line_num, row) for row in reader)
    for line, row in split:
        cells = [cell.strip() for cell in row]
        if any(cells) and not cells[0].startswith(_COMMENT):
            yield _Row(line, [_point(cell) for cell in cells] if delimiter == ";" else cells)


def _delimiter(text: str) -> str | None:
    """What stands between the cells of the first row that is no comment; None is blanks."""
    lines = (line for line in text.splitlines() if line.strip())
    first = next((line for line in lines if not line.lstrip().startswith(_COMMENT)), "")
    return next((mark for mark in (";", "\t", ",") if mark in first), None)


def _point(cell: str) -> str:
    """Where semicolons part the cells, a comma is a decimal point."""
    return cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell


def _is_header(cells: list[str]) -> bool:
    """No number in it; or what pandas writes over an index: nothing, and columns counted from 0."""
    counted = [str(i) for i in range(len(cells) - 1)]
    if len(cells) > 1 and cells[0] == "" and cells[1:] == counted:
        return True
    return not any(_looks_like_a_number(cell) for cell in cells)


def _looks_like_a_number(cell: str) -> bool:
    """Also a misspelt one: a row of `1.O` or of typographic minus signs is no header to skip."""
    return _is_number(cell) or cell[:1].isdigit() or cell[:1] in tuple(_STARTS)


def _has_index(header: list[str] | None, body: list[_Row]) -> bool:
    """Is the first column the names of the rows? Said by its heading, or words all the way down."""
    if len(body[0].cells) < 2:
        return False
    if header is not None and header[0].lower() in _INDEX:
        return True
    return all(row.cells[0] and not _is_number(row.cells[0]) for row in body) and len(body) > 1


def _insist_on_width(name: str, rows: list[_Row]) -> None:
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            raise InputError(
                wanted=f"a rectangular table in {name}: {width} cells, as in line {rows[0].line}",
                got=f"{len(row.cells)} in line {row.line}",
                attempt="as many cells in every line",
            )


def _numbers(name: str, row: _Row, first: int) -> list[float]:
    cells = row.cells[first:]
    return [_number(name, row.line, column, cell) for column, cell in enumerate(cells, first + 1)]


def _number(name: str, line: int, column: int, cell: str) -> float:
    place = f"in {name}, line {line}, column {column}"
    if not _is_number(cell):
        got = repr(cell[:_LONGEST]) if cell else "an empty cell"
        raise InputError(wanted=f"a number {place}", got=got, attempt="correct that cell")
    number = float(cell)
    if not math.isfinite(number):
        wanted = f"a finite number {place}"
        raise InputError(wanted=wanted, got=repr(cell[:_LONGEST]), attempt="correct that cell")
    return number


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
