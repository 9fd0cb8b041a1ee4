"""Audits of several models: shown one after another, in one table, a page each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from headwright import files
from headwright.cli.audit import view
from headwright.cli.conventions import Outputs, Reply


def reply(audits: Sequence[Any], order: str, folder: str | None, sheet: str | None) -> Reply:
    outputs = Outputs()
    if sheet is not None:
        outputs.attempt(lambda: files.write_text(Path(sheet), table(audits)))
    pages = {} if folder is None else _pages(Path(folder), audits)
    for page, audit in pages.items():
        outputs.attempt(lambda page=page, audit=audit: files.write_text(page, audit.to_html()))

    def render(console: Console) -> None:
        for audit in audits:
            view.show(console, audit, order)
        for page in pages:
            console.print(f"report: {page}", markup=False)

    heads = [audit.sorted(order) if order else audit.cards for audit in audits]
    plain = [audit.plain(cards) for audit, cards in zip(audits, heads, strict=True)]
    return Reply({"audits": plain}, render, faults=outputs.faults)


def table(audits: Sequence[Any]) -> str:
    """All heads of all models. What one model does not have is empty in its rows."""
    rows = [{"model": audit.model, **row} for audit in audits for row in audit.rows()]
    columns = dict.fromkeys(name for row in rows for name in row)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _pages(folder: Path, audits: Sequence[Any]) -> dict[Path, Any]:
    """A file for each audit: two folders may have models of the same name."""
    pages = {}
    for number, audit in enumerate(audits, 1):
        name = re.sub(r"[^\w.-]+", "-", Path(audit.model).name)
        pages[folder / f"{number}-{name}.html"] = audit
    return pages
