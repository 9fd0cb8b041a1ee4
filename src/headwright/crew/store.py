"""Where results are kept: a folder that says what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwright.crew.database import Database
from headwright.crew.record import Store
from headwright.crew.values import plain_value
from headwright.errors import InputError
from headwright.files import write_text

_ABOUT = "about.json"


def opened(folder: str | Path, about: dict[str, Any]) -> Store:
    """The store in `folder`, new or with what is there; one that is about something else is
    refused."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _insist_on_about(place / _ABOUT, plain_value(about))
    return Database(place)


def _insist_on_about(path: Path, about: dict[str, Any]) -> None:
    if not path.exists():
        write_text(path, json.dumps(about, indent=1, sort_keys=True) + "\n")
        return
    there = json.loads(path.read_text(encoding="utf-8"))
    if there != about:
        raise InputError(
            wanted=f"a store about {about}",
            got=f"{path.parent} is about {there}",
            attempt="another folder, or delete that one",
        )
