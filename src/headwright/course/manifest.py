"""What a course handed out, to whom: the record that `check` reads variants from.

The digest covers everything else in the file, so that a slip of the hand is noticed. It is no
signature: whoever means harm can compute it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from headwright.course.people import Student
from headwright.course.variants import Variant, restored_variant, sheet_bank, variant_bank
from headwright.crew.function import engine_version
from headwright.errors import InputError
from headwright.exercise.bank import Bank
from headwright.result import plain

FORMAT = 1
_ASKED = ("id", "asked", "right", "test", "parameters")
_AGAIN = "use the manifest that headwright new wrote, or write the sheets again"


@dataclass(frozen=True)
class Entry:
    """One student's sheet. `file` names it in the folder, without a suffix; `bank` is the digest of
    its questions."""

    student: Student
    file: str
    variant: Variant
    bank: str


@dataclass(frozen=True)
class Manifest:
    """`course` is its id: another seed or other questions are another course."""

    course: str
    title: str
    seed: str
    bank: str
    entries: Sequence[Entry]
    version: str = field(default_factory=engine_version)

    @cached_property
    def by_student(self) -> Mapping[str, Entry]:
        return {entry.student.id: entry for entry in self.entries}

    @property
    def students(self) -> list[Student]:
        """The class; the name of the sheet's file stands for its student, too."""
        return [_with_file(entry) for entry in self.entries]

    def written(self) -> bytes:
        content = self._content()
        content["digest"] = _digest(content)
        return (json.dumps(content, indent=1, ensure_ascii=True) + "\n").encode("ascii")

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "course": self.course,
            "title": self.title,
            "seed": self.seed,
            "version": self.version,
            "bank": self.bank,
            "students": [_row(entry) for entry in self.entries],
        }

    def questions(self, base: Bank) -> Bank:
        """What all sheets ask, before anything is filled in."""
        if bank_digest(base) != self.bank:
            raise InputError(
                wanted=f"the questions that the sheets of {self.title!r} were made from",
                got=f"others (made by version {self.version}, this is {engine_version()})",
                attempt="--bank with the file that headwright new was given, and its version",
            )
        return sheet_bank(base)

    def bank_of(self, student: str, sheet: Bank) -> Bank:
        """The questions of one student; `sheet` is what `questions` returned."""
        entry = self.by_student[student]
        bank = variant_bank(sheet, entry.variant)
        if bank_digest(bank) != entry.bank:
            raise InputError(
                wanted=f"the sheet of {student} as it was handed out",
                got=f"another one (made by version {self.version}, this is {engine_version()})",
                attempt="check with the version that made the sheets",
            )
        return bank


def _with_file(entry: Entry) -> Student:
    student = entry.student
    return Student(student.id, student.name, student.email, (*student.names, entry.file))


def _row(entry: Entry) -> dict[str, Any]:
    return {
        **plain(entry.student),
        "file": entry.file,
        "variant": entry.variant.record(),
        "bank": entry.bank,
    }


def bank_digest(bank: Bank) -> str:
    """Of what is asked and how it is judged; where answers are looked for may improve with the
    program."""
    questions = [{name: plain(getattr(one, name)) for name in _ASKED} for one in bank]
    return _digest([bank.title, bank.setting, dict(bank.letters), questions])


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def course_id(base: Bank, seed: str) -> str:
    return _digest([base.title, bank_digest(base), seed])


# ------------------------------------------------------------------------------------- reading


def read_manifest(path: str | Path) -> Manifest:
    """The manifest in a file, as it was written."""
    file = Path(path)
    content = _content(file)
    told = content.pop("digest", None)
    if content.get("format") != FORMAT:
        raise InputError(
            wanted=f"a manifest of format {FORMAT}",
            got=f"{content.get('format')!r} in {file.name}",
            attempt=_AGAIN,
        )
    if told != _digest(content):
        raise InputError(
            wanted="a manifest as it was written",
            got=f"{file.name}, which was changed afterwards",
            attempt=_AGAIN,
        )
    try:
        entries = [_entry(row) for row in content["students"]]
        names = ("course", "title", "seed", "bank")
        known = {name: str(content[name]) for name in names}
        return Manifest(entries=entries, version=str(content["version"]), **known)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            wanted="a manifest with students and their variants",
            got=f"{file.name}: {type(error).__name__} {error}"[:200],
            attempt=_AGAIN,
        ) from None


def _content(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            wanted="the manifest of a course (manifest.json)",
            got=f"{file}: {type(error).__name__} {error}"[:200],
            attempt="the one that headwright new wrote",
        ) from None
    if not isinstance(content, dict):
        raise InputError(
            wanted="the manifest of a course", got=f"{file.name} is none", attempt=_AGAIN
        )
    return content


def _entry(row: Mapping[str, Any]) -> Entry:
    student = Student(row["id"], row["name"], row["email"], tuple(row["names"]))
    return Entry(student, row["file"], restored_variant(row["variant"]), row["bank"])
