"""What a study returns: its rows, what was computed and what was there, and where the files are."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.study.page import PAGE, first_rows
from headwright.study.section import Rows
from headwright.study.table import CSV, Table


@dataclass(frozen=True)
class Studied:
    name: str
    out: Path
    table: Table
    skipped: int  # rows that were stored before
    drawn: dict[Path, Any]  # the figures, by their paths as SVG

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
    def figures(self) -> tuple[Path, ...]:
        return tuple(self.drawn)

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

    def plot(self, name: str | None = None) -> Any:
        """The figure of that name, or the first one; a notebook shows it."""
        by_name = {path.stem: drawing for path, drawing in self.drawn.items()}
        if not by_name or (name is not None and name not in by_name):
            raise InputError(
                wanted=f"a figure of this study ({', '.join(by_name) or 'it has none'})",
                got=repr(name),
                attempt="another name" if by_name else "result.rows, which says what failed",
            )
        return by_name[name] if name is not None else next(iter(by_name.values()))

    def _repr_html_(self) -> str:
        """For a notebook: the counts and the first rows."""
        counts = f"{self.table.count} rows: {self.done} computed, {self.skipped} stored before, "
        return (
            f"<p><strong>{escape(self.name)}</strong>: {counts}{self.failed} failed</p>"
            f"{first_rows(self.table)}"
        )
