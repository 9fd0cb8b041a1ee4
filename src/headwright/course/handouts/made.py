"""All files of a course, in memory: nothing is written before everything is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headwright.course.handouts.marker import marker
from headwright.course.handouts.names import file_names
from headwright.course.handouts.text import SheetText
from headwright.course.manifest import Entry, Manifest, bank_digest, course_id
from headwright.course.people import Student
from headwright.course.variants import drawn, sheet_bank, variant_bank
from headwright.course.variants.solvable import prove_solvable
from headwright.exercise.bank import Bank

MANIFEST = "manifest.json"
SHEETS = "sheets"
KEYS = "keys"


@dataclass(frozen=True)
class MadeSheet:
    """One student's entry in the manifest, and the files by their place in the folder."""

    entry: Entry
    files: dict[str, bytes]


def made_sheets(roster: Sequence[Student], base: Bank, seed: str) -> Iterator[MadeSheet]:
    """A sheet and its key per student, in the roster's order; each variant is proved solvable
    first."""
    sheet = sheet_bank(base)
    course = course_id(base, seed)
    names = file_names(student.id for student in roster)
    for student in roster:
        variant = drawn(seed, student.id)
        prove_solvable(variant)
        bank = variant_bank(sheet, variant)
        code = marker(course, student.id)
        name = names[student.id]
        blank = SheetText(student, bank, code)
        key = SheetText(student, bank, code, answered=True)
        files = {
            f"{SHEETS}/{name}.md": blank.markdown(),
            f"{SHEETS}/{name}.tex": blank.tex(),
            f"{KEYS}/{name}.md": key.markdown(),
            f"{KEYS}/{name}.tex": key.tex(),
        }
        encoded = {place: text.encode("utf-8", "replace") for place, text in files.items()}
        yield MadeSheet(Entry(student, name, variant, bank_digest(bank)), encoded)


def made_manifest(made: Iterable[MadeSheet], base: Bank, seed: str) -> Manifest:
    return Manifest(
        course=course_id(base, seed),
        title=base.title,
        seed=seed,
        bank=bank_digest(base),
        entries=[one.entry for one in made],
    )
