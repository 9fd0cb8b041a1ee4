"""File names for students: any id, on any system, and no two the same."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9-]+")
_LONGEST = 60
# Names that Windows keeps for devices
_DEVICES = re.compile(r"(?i)con|prn|aux|nul|com\d|lpt\d")


def file_names(ids: Iterable[str]) -> dict[str, str]:
    """The name of each id's files, without a suffix: the id itself where every system can write it
    and no other id looks like it, else with a part of its hash."""
    known = list(ids)
    plain = {id: _UNSAFE.sub("-", id).strip("-")[:_LONGEST] for id in known}
    alike = Counter(name.lower() for name in plain.values())
    return {id: _name(id, plain[id], alone=alike[plain[id].lower()] == 1) for id in known}


def _name(id: str, plain: str, *, alone: bool) -> str:
    if alone and plain == id and not _DEVICES.fullmatch(plain):
        return id
    told_apart = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{plain}-{told_apart}" if plain else f"student-{told_apart}"
