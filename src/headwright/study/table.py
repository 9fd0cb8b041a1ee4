"""The rows of a study by columns: parameters first, then every name that any row has, in the order
in which the grid meets them. Floats are written so that reading gives the same bits."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headwright.errors import MissingExtra
from headwright.files import write_bytes, write_text
from headwright.study.grid import ERROR
from headwright.study.section import Rows

CSV = "results.csv"
PARQUET = "results.parquet"
# What a Parquet column of whole numbers holds, and what becomes a float at all
_LARGEST_WHOLE = 2**63
_LARGEST_FLOAT = int(sys.float_info.max)


class Table:
    def __init__(self, parameters: Iterable[str]) -> None:
        self.parameters: dict[str, list[Any]] = {name: [] for name in parameters}
        self.numbers: dict[str, list[int | float | None]] = {}
        self.errors: dict[int, str] = {}  # by row
        self.count = 0

    def add(self, point: Mapping[str, Any], numbers: Mapping[str, Any], error: str = "") -> None:
        """One row. A truth is 1 or 0; what it does not have is None."""
        for name, column in self.parameters.items():
            column.append(point.get(name))
        for name in numbers:
            if name not in self.numbers:
                self.numbers[name] = [None] * self.count
        for name, column in self.numbers.items():
            number = numbers.get(name)
            column.append(int(number) if isinstance(number, bool) else number)
        if error:
            self.errors[self.count] = error
        self.count += 1

    @property
    def columns(self) -> dict[str, list[Any]]:
        """All of them; the messages only where there is one."""
        columns: dict[str, list[Any]] = {**self.parameters, **self.numbers}
        if self.errors:
            columns[ERROR] = [self.errors.get(i) for i in range(self.count)]
        return columns

    def rows(self) -> Iterator[dict[str, Any]]:
        columns = self.columns
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    def finished(self) -> Rows:
        """Without the points that failed."""
        kept = [row for i, row in enumerate(self.rows()) if i not in self.errors]
        for row in kept:
            row.pop(ERROR, None)
        return kept

    def csv(self) -> str:
        columns = self.columns
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(columns)
        # The writer spells floats as repr does, and None as an empty cell
        lines.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def to_pandas(self) -> Any:
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "models") from None
        return pandas.DataFrame(self.columns)

    def write(self, folder: Path) -> list[Path]:
        """results.csv, and results.parquet where pyarrow is installed."""
        written = [write_text(folder / CSV, self.csv())]
        data = self._parquet()
        if data is None:
            # One of other rows must not stand beside the new table
            (folder / PARQUET).unlink(missing_ok=True)
        else:
            written.append(write_bytes(folder / PARQUET, data))
        return written

    def _parquet(self) -> bytes | None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            return None
        columns = {name: _uniform(values) for name, values in self.columns.items()}
        out = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.table(columns), out)
        return out.getvalue().to_pybytes()


def _uniform(values: list[Any]) -> list[Any]:
    """A Parquet column has one type: whole numbers, floats or words, whichever holds all of its
    values."""
    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    largest = max((abs(value) for value in there if isinstance(value, int)), default=0)
    mixed = str in kinds or (bool in kinds and len(kinds) > 1)
    if mixed or largest > _LARGEST_FLOAT:
        return [value if value is None else str(value) for value in values]
    if len(kinds) <= 1 and largest < _LARGEST_WHOLE:
        return values
    return [value if value is None else float(value) for value in values]
