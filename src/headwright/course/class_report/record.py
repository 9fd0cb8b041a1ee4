"""What the page of a class is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwright.course.marks import Graded
from headwright.course.people import Student


@dataclass(frozen=True)
class ClassRecord:
    """`pages` are the files of a student's pages, by id; `nobody` are ids of hand-ins that belong
    to nobody in the roster; `without` are students who handed in nothing; `notes`, by id,
    say what is odd about the sheet that a hand-in was written on."""

    graded: Sequence[Graded]
    pages: Mapping[str, Sequence[str]]
    nobody: frozenset[str] = frozenset()
    without: Sequence[Student] = field(default=())
    notes: Mapping[str, str] = field(default_factory=dict)


def shown_name(student: Student) -> str:
    """The name; under a pseudonym, or without a roster, there is only the id. `names` is never
    shown: behind a pseudonym it holds the old ones."""
    return student.name or student.id
