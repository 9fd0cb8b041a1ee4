"""What a study returns: its rows, what was computed and what was there, and where the files are."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from headwright.study.page import PAGE, first_rows
from headwright.study.section import Rows
from headwright.study.table import CSV, Table


@dataclass(frozen=True)
class Studied:
    name: str
    out: Path
    table: Table
    skipped: int  # rows that were stored before
    figures: tuple[Path, ...]

    @property
    def rows(self) -> Rows:
        """All of them, in the grid's order; a failed one has its message under "error"."""
        return list(self.table.rows())

    @property
    def failed(self) -> int:
        return len(self.table.errors)

    @property
    def done(self) -> int:
        """Rows that were computed now."""
        return self.table.count - self.skipped - self.failed

    @property
    def page(self) -> Path:
        return self.out / PAGE

    def plain(self) -> dict[str, Any]:
        return {
            "rows": self.table.count,
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "figures": [str(path) for path in self.figures],
            "table": str(self.out / CSV),
            "page": str(self.page),
        }

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def _repr_html_(self) -> str:
        """For a notebook: the counts and the first rows."""
        counts = f"{self.table.count} rows: {self.done} computed, {self.skipped} stored before, "
        return (
            f"<p><strong>{escape(self.name)}</strong>: {counts}{self.failed} failed</p>"
            f"{first_rows(self.table)}"
        )
