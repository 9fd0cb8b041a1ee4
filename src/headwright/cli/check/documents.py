"""The documents that `headwright check` is given: files, folders, standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from headwright.errors import InputError

_STANDARD_INPUT = "-"


def is_below(document: str, paths: Sequence[str]) -> bool:
    """Is it one of the documents that these paths name?"""
    return any(PurePath(document).is_relative_to(path) for path in paths)


def documents(paths: tuple[str, ...]) -> list[Any]:
    from headwright.homework.reading.sources import sources

    if not paths:
        attempt = "headwright check answers.md, a folder, - for standard input, or --demo"
        raise InputError(wanted="documents to check", got="none", attempt=attempt)
    named = [path for path in paths if path != _STANDARD_INPUT]
    found = sources(named) if named else []
    if _STANDARD_INPUT in paths:
        found.insert(0, _standard_input())
    return found


def _standard_input() -> Any:
    from headwright.homework.limits import MOST_BYTES
    from headwright.homework.reading.encodings import decoded
    from headwright.homework.reading.sources import Source

    text, _ = decoded(sys.stdin.buffer.read(MOST_BYTES))
    return Source("standard input", text=text)
