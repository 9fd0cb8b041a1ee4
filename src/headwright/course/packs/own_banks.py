"""Every student's own questions, written out in the pack, where sheets differ: a file each, found
by the e-mail address that the platform knows, under a name that tells nobody's.

Written out, because making them takes the engines that prove a sheet solvable, which no pack has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.course.people import Student
from headwright.errors import InputError
from headwright.exercise.bank import Bank, restored

FOLDER = "banks"


@dataclass(frozen=True)
class OwnBank:
    """One student's questions, and what was drawn for them."""

    bank: Bank
    variant: Mapping[str, Any]


def file_of(address: str) -> str:
    digest = hashlib.sha256(address.strip().casefold().encode("utf-8", "surrogatepass"))
    return f"{FOLDER}/{digest.hexdigest()[:32]}.json"


def own_bank(pack: Path, student: Student) -> OwnBank | None:
    """The questions of whoever handed in; None where all students have the same."""
    if not (pack / FOLDER).is_dir():
        return None
    for name in student.names:
        file = pack / file_of(name)
        if file.is_file():
            content = json.loads(file.read_text("utf-8"))
            return OwnBank(restored(json.dumps(content["bank"])), content["variant"])
    raise InputError(
        wanted="a student who has a sheet",
        got="one for whom the manifest has none",
        attempt="the e-mail address of the roster, or a pack made with the present manifest",
    )
