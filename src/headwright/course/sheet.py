"""A table of cells as a file holds it: what is not changed is written back byte for byte.

Spreadsheets and learning platforms differ in encoding, separator, quotes and line ends, and some
reject a file in which any of them has changed. So a cell keeps the text it was written with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from headwright.errors import InputError
from headwright.homework.reading.encodings import decoded

_SEPARATORS = ",;\t|"
_MOST_BYTES = 50_000_000
_MARKS = (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252", "cp1251", "cp949", "gb18030")


@dataclass(frozen=True)
class Cell:
    """`raw` as it stands in the file, quotes included; `end` is what follows: a separator or the
    end of its line."""

    raw: str
    end: str

    @property
    def text(self) -> str:
        if len(self.raw) > 1 and self.raw.startswith('"') and self.raw.endswith('"'):
            return self.raw[1:-1].replace('""', '"').strip()
        return self.raw.strip()

    def with_text(self, text: str) -> Cell:
        quoted = self.raw.startswith('"') or any(sign in text for sign in '",;\t|\r\n')
        doubled = text.replace('"', '""')
        return replace(self, raw=f'"{doubled}"' if quoted else text)


@dataclass(frozen=True)
class Sheet:
    """Rows of cells, the header first. `mark` and `encoding` write the text back as the bytes it
    was."""

    name: str
    mark: bytes
    encoding: str
    rows: list[list[Cell]]

    @property
    def header(self) -> list[str]:
        return [cell.text for cell in self.rows[0]]

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """The rows below the header that say something, with their line numbers."""
        line = 1 + _lines_in(self.rows[0])
        for row in self.rows[1:]:
            cells = [cell.text for cell in row]
            if any(cells):
                yield line, cells
            line += _lines_in(row)

    def written(self) -> bytes:
        text = "".join(cell.raw + cell.end for row in self.rows for cell in row)
        return self.mark + text.encode(self.encoding)


def _lines_in(row: list[Cell]) -> int:
    return 1 + sum(cell.raw.count("\n") for cell in row)


def read_sheet(path: str | Path) -> Sheet:
    """The table in a file with separators, in whatever encoding and with whatever separator."""
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            wanted="a table (CSV)", got=f"{file}: {error.strerror}", attempt="check the path"
        ) from None
    if len(data) > _MOST_BYTES:
        raise InputError(
            wanted="a table of at most 50 MB", got=f"more in {file.name}", attempt="export it again"
        )
    if data.startswith((b"%PDF", b"PK\x03\x04")):
        raise InputError(
            wanted="a table as text (CSV)",
            got=f"{file.name}, which is a PDF or a workbook",
            attempt="export it as CSV",
        )
    return _sheet(file.name, data)


def _sheet(name: str, data: bytes) -> Sheet:
    text, _ = decoded(data)
    if not text.strip("\ufeff \t\r\n"):
        raise InputError(
            wanted="a table with a header", got=f"{name} is empty", attempt="export it"
        )
    mark, encoding = _encoding(name, text, data)
    separator = _separator(text)
    rows = _rows(text, separator)
    return Sheet(name, mark, encoding, rows)


def _encoding(name: str, text: str, data: bytes) -> tuple[bytes, str]:
    """The byte order mark and the encoding that give these very bytes back."""
    for mark in _MARKS:
        for encoding in _ENCODINGS:
            try:
                if data.startswith(mark) and mark + text.encode(encoding) == data:
                    return mark, encoding
            except UnicodeEncodeError:
                continue
    raise InputError(
        wanted="a table whose letters can be read",
        got=f"an encoding that is not known in {name}",
        attempt="save it as UTF-8",
    )


def _separator(text: str) -> str:
    """The sign that stands most often outside of quotes in the first line."""
    first = text.lstrip("\r\n").splitlines()[0]
    outside = re.sub(r'"[^"]*"', "", first)
    counts = Counter(sign for sign in outside if sign in _SEPARATORS)
    return counts.most_common(1)[0][0] if counts else ","


def _rows(text: str, separator: str) -> list[list[Cell]]:
    cell = re.compile(
        rf'("(?:[^"]|"")*"(?=[{re.escape(separator)}\r\n]|\Z)|[^{re.escape(separator)}\r\n]*)'
        rf"({re.escape(separator)}|\r\n|\n|\r|\Z)"
    )
    rows: list[list[Cell]] = [[]]
    place = 0
    while place < len(text):
        found = cell.match(text, place)
        assert found is not None  # the second form of a cell fits everything
        rows[-1].append(Cell(found.group(1), found.group(2)))
        place = found.end()
        if found.group(2) != separator:
            rows.append([])
    if text.endswith(separator):
        rows[-1].append(Cell("", ""))  # an empty cell is the last thing in the file
    if not rows[-1]:
        rows.pop()
    return rows
