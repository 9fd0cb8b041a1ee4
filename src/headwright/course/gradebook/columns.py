"""What the columns of an exported sheet mean: who a row is about, and where the mark goes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from headwright.course.sheet import Sheet
from headwright.errors import InputError


@dataclass(frozen=True)
class Platform:
    """How one platform exports marks (platforms.toml)."""

    name: str
    known_by: Sequence[str]
    identity: Sequence[str]
    fixed: Sequence[str]
    skip: Sequence[str] = ()
    locked: Mapping[str, Any] = field(default_factory=dict)
    full: str = ""
    empty: Sequence[str] = ()

    def recognises(self, header: Sequence[str]) -> bool:
        has_all = all(name in header for name in self.known_by)
        return has_all and any(name in header for name in self.identity)

    def is_fixed(self, title: str) -> bool:
        named = title in self.identity or title == self.full
        return named or any(re.fullmatch(pattern, title) for pattern in self.fixed)


@dataclass(frozen=True)
class Columns:
    """Places in a row: `identity`, the surest first, and `mark`."""

    platform: Platform
    identity: tuple[int, ...]
    mark: int
    locked: int | None


@cache
def platforms() -> tuple[Platform, ...]:
    file = resources.files("headwright.course.gradebook").joinpath("platforms.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    return tuple(Platform(**row) for row in table["platform"])


def columns(sheet: Sheet, wanted: str | None = None) -> Columns:
    """What the columns of this sheet mean; `wanted` names the one for the marks where several could
    be meant."""
    header = [title.lower() for title in sheet.header]
    platform = next((one for one in platforms() if one.recognises(header)), None)
    if platform is None:
        raise InputError(
            wanted="a column that says who a row is about (ID, Email address, SIS Login ID, ...)",
            got=f"the columns {', '.join(sheet.header)[:200]} in {sheet.name}",
            attempt="export the sheet from the platform again, or name a column id",
        )
    identity = tuple(header.index(name) for name in platform.identity if name in header)
    locked = platform.locked.get("column")
    return Columns(
        platform,
        identity,
        _mark_column(sheet, platform, wanted),
        header.index(locked) if locked in header else None,
    )


def _mark_column(sheet: Sheet, platform: Platform, wanted: str | None) -> int:
    header = [title.lower() for title in sheet.header]
    possible = [place for place, title in enumerate(header) if not platform.is_fixed(title)]
    if wanted is not None:
        possible = [place for place in possible if _is_called(header[place], wanted.lower())]
    if len(possible) == 1:
        return possible[0]
    titles = ", ".join(sheet.header[place] for place in possible) or "none"
    asked = f"called {wanted!r} " if wanted is not None else ""
    raise InputError(
        wanted=f"one column {asked}for the marks in {sheet.name}",
        got=f"{len(possible)}: {titles[:300]}",
        attempt='--column "TITLE" with one of the sheet\'s titles',
    )


def _is_called(title: str, wanted: str) -> bool:
    """By its whole title, or without the number that a platform adds: "Homework 5 (1234)"."""
    bare = re.sub(r"\s*\((?:\d+|real)\)$", "", title)
    return wanted in (title, bare, bare.partition(": ")[2])
