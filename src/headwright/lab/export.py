"""A static copy of the lab: every file the server would answer with, and no engine behind it."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from headwright.files import write_bytes
from headwright.lab import content


def export(folder: str | Path) -> dict[str, int]:
    """Write the copy and return the size of each file by its address. It works from any static
    server."""
    made = {path: make() for path, make in content.documents(engine=False).items()}
    pages = {path: file.read_bytes() for path, file in _walk(content.STATIC)}
    written = {}
    for path, data in sorted({**pages, **made}.items()):
        file = Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, data)
        written[path] = len(data)
    return written


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        found += _walk(entry, f"{path}/") if entry.is_dir() else [(path, entry)]
    return found
