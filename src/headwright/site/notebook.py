"""A notebook as a page: its text, its code, and what the code printed or drew. Cells are shown as
they are stored; nothing is run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def notebook_page(data: bytes) -> str:
    """Markdown of the notebook stored in `data`."""
    cells = json.loads(data)["cells"]
    return "\n\n".join(block for cell in cells for block in _blocks(cell))


def _blocks(cell: dict[str, Any]) -> Iterator[str]:
    source = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code" and source.strip():
        yield _fenced("python", source)
        for output in cell["outputs"]:
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    """A picture, or else plain text: HTML of a notebook relies on the notebook's own style."""
    shown = output.get("data", {})
    picture = _text(shown.get("image/png", ""))
    words = _text(output.get("text", shown.get("text/plain", "")))
    if picture:
        yield f"![figure](data:image/png;base64,{picture.replace(chr(10), '')})"
    elif words.strip():
        yield _fenced("text", words)


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"


def _text(stored: str | list[str]) -> str:
    """The format allows one text or a list of lines."""
    return stored if isinstance(stored, str) else "".join(stored)
