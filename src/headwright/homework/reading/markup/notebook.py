"""A notebook as one text: its cells, one below the other; code between fences, outputs left out."""

from __future__ import annotations

import json
from typing import Any


def is_notebook(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"cells"' in text[:100_000]


def notebook_text(raw: str) -> str:
    """The text of all cells; `ValueError` where there are none."""
    cells = _cells(json.loads(raw))
    texts = [_cell_text(cell) for cell in cells]
    return "\n\n".join(filter(None, texts))


def _cells(book: Any) -> list[Any]:
    if not isinstance(book, dict):
        raise ValueError("it has no list of cells")
    cells = book.get("cells")
    if cells is None:
        cells = _cells_of_worksheets(book.get("worksheets"))
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells")
    return cells


def _cells_of_worksheets(worksheets: Any) -> list[Any] | None:
    """Before version 4 of the format, cells stood in worksheets."""
    if not isinstance(worksheets, list):
        return None
    cells = [sheet.get("cells") for sheet in worksheets if isinstance(sheet, dict)]
    lists = [one for one in cells if isinstance(one, list)]
    return [cell for one in lists for cell in one] if lists else None


def _cell_text(cell: Any) -> str:
    if not isinstance(cell, dict):
        return ""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str) or not source.strip():
        return ""
    if cell.get("cell_type") == "code":
        inside = source.replace("```", "``")
        return f"```python\n{inside}\n```"
    return source
