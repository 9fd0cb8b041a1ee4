"""Where a key stands in a TOML file: the standard reader tells lines of syntax errors only."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[(\[)?\s*(?P<path>[^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""\s*(?P<key>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of `["question", "b.q", "points"]`, or of `["override", 1, "student"]`, the second
    table of that name; of the nearest thing around it where it is not written out; 1 if nothing
    is."""
    best = 1
    deepest = 0
    for line, written in _written(text):
        depth = _shared(written, path)
        if depth > deepest and depth == len(written):
            best = line
            deepest = depth
    return best


def _written(text: str) -> list[tuple[int, list[str | int]]]:
    """Every table and key with its line."""
    found: list[tuple[int, list[str | int]]] = []
    counts: dict[str, int] = {}
    table: list[str | int] = []
    for number, line in enumerate(text.splitlines(), 1):
        opened = _TABLE.match(line)
        if opened is not None:
            table = _parts(opened.group("path"))
            if opened.group(1):
                name = opened.group("path")
                counts[name] = counts.get(name, -1) + 1
                table = [*table, counts[name]]
            found.append((number, table))
            continue
        key = _KEY.match(line)
        if key is not None:
            found.append((number, [*table, *_parts(key.group("key"))]))
    return found


def _parts(path: str) -> list[str | int]:
    return [part.strip("\"'") for part in _PART.findall(path)]


def _shared(written: Sequence[str | int], path: Sequence[str | int]) -> int:
    depth = 0
    for one, other in zip(written, path, strict=False):
        if one != other:
            break
        depth += 1
    return depth
