"""Where results are kept: a folder that says what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwright.crew.store import database, disk, parts
from headwright.crew.store.record import Store
from headwright.crew.values import plain_value
from headwright.errors import InputError
from headwright.files import write_text

_ABOUT = "about.json"


def opened(folder: str | Path, about: dict[str, Any]) -> Store:
    """The store in `folder`, new or with what is there; one that is about something else is
    refused. SQLite on a disk of this machine, parts on one that machines share."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        _insist_on_about(place / _ABOUT, plain_value(about))
        return _store(place)
    except OSError as reason:
        raise InputError(
            wanted="a folder for a store",
            got=f"{place}: {reason.strerror or reason}",
            attempt="a folder of your own on a disk with space",
        ) from None


def _store(place: Path) -> Store:
    if (place / parts.FOLDER).is_dir():
        return parts.Parts(place)
    if not disk.is_shared(place):
        return database.Database(place)
    if (place / database.NAME).exists():
        raise InputError(
            wanted="a store for a disk that machines share",
            got=f"{place / database.NAME}, which works on a local disk only",
            attempt="move the folder to a local disk, or start a new one here",
        )
    return parts.Parts(place)


def _insist_on_about(path: Path, about: dict[str, Any]) -> None:
    if not path.exists():
        write_text(path, json.dumps(about, indent=1, sort_keys=True) + "\n")
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as reason:
        there = f"nothing readable ({reason})"
    if there != about:
        raise InputError(
            wanted=f"a store about {json.dumps(about):.200}",
            got=f"{path.parent} is about {json.dumps(there):.200}",
            attempt="another folder, or delete that one",
        )
