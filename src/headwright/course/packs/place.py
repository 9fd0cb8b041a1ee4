"""Where a platform keeps things, and what it knows about a hand-in."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from headwright.course.people import Student

_MOST_FACTS = 20_000_000  # bytes; results of many earlier hand-ins are in it


@dataclass(frozen=True)
class Place:
    """The folders and files of one hand-in on a platform."""

    submission: Path
    pack: Path
    facts: Path
    results: Path


def place(platform: str, root: str | Path) -> Place:
    row = platforms()[platform]
    names = ("submission", "pack", "facts", "results")
    return Place(**{name: Path(root, row[name]) for name in names})


@cache
def platforms() -> Mapping[str, Any]:
    text = files("headwright.course.packs").joinpath("platforms.toml").read_text("utf-8")
    return MappingProxyType(tomllib.loads(text))


def facts(file: Path) -> dict[str, Any]:
    """What the platform says about the hand-in; nothing where it says nothing that can be read."""
    with suppress(OSError, ValueError, RecursionError), file.open("rb") as stream:
        found = json.loads(stream.read(_MOST_FACTS))
        return found if isinstance(found, dict) else {}
    return {}


def student(known: Mapping[str, Any]) -> Student:
    """Who handed in, by everything that an override may call them. A group is one student here."""
    listed = known.get("users")
    users = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = [str(user[key]) for user in users for key in ("id", "email") if user.get(key)]
    return Student("submission", names=tuple(names))
