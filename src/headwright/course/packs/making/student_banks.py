"""From a manifest to the questions that a pack has for every student."""

from __future__ import annotations

import json

from headwright.course.manifest import Entry, Manifest
from headwright.course.packs.own_banks import file_of
from headwright.errors import InputError
from headwright.exercise.bank import Bank
from headwright.result import plain


def own_bank_files(manifest: Manifest, sheet: Bank) -> dict[str, bytes]:
    """`sheet` is what all sheets ask, before anything is filled in."""
    files: dict[str, bytes] = {}
    for entry in manifest.entries:
        name = file_of(_address(entry))
        if name in files:
            raise InputError(
                wanted="an e-mail address of their own for every student",
                got=f"the one of {entry.student.id} twice",
                attempt="correct the roster, and write the sheets again",
            )
        bank = manifest.bank_of(entry.student.id, sheet)
        content = {"variant": entry.variant.record(), "bank": plain(bank)}
        files[name] = json.dumps(content).encode("ascii")
    return files


def _address(entry: Entry) -> str:
    address = entry.student.email.strip()
    if not address:
        raise InputError(
            wanted="an e-mail address for every student, by which the platform knows them",
            got=f"none for {entry.student.id}",
            attempt="a roster with a column email, and sheets written with it",
        )
    return address
