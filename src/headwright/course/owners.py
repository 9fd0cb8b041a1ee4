"""Whose document is it? Platforms write the student into the folder or into the file's name; a
roster says who there is.

    submissions/u17/hw5.md                                   a folder of one's own
    submissions/hw5-u17.md                                   an id in the name
    submissions/limaana_1234_998_hw5.md                      Canvas: name, id, number of the hand-in
    submissions/Ana Lima_5512_assignsubmission_file_/hw5.md  Moodle: a folder with the name
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath

from headwright.course.people import Student

_BETWEEN = re.compile(r"[\s_.,;()\[\]@+-]+")


@dataclass(frozen=True)
class Owners:
    """Students by document, in the order of the documents."""

    by_document: Mapping[str, Student]
    nobody: tuple[str, ...]  # documents of nobody in the roster, or of two students at once
    without: tuple[Student, ...]  # students of the roster who have no document


def owners(documents: Sequence[str], roster: Sequence[Student] | None = None) -> Owners:
    """Who handed in what. Without a roster a student is what tells the documents apart: the folder,
    or the file's name."""
    if roster is None:
        told = _told_apart(documents)
        return Owners({name: Student(told[name]) for name in documents}, (), ())
    register = _Register(roster)
    found = {name: register.owner(PurePath(name)) for name in documents}
    there = {student.id for student in found.values() if student is not None}
    return Owners(
        {name: student for name, student in found.items() if student is not None},
        tuple(name for name, student in found.items() if student is None),
        tuple(student for student in roster if student.id not in there),
    )


# --------------------------------------------------------------------------------- with a roster


class _Register:
    """Students by everything that may stand for them in a path."""

    def __init__(self, roster: Sequence[Student]) -> None:
        self._by_word: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        self._students = {student.id: student for student in roster}
        for student in roster:
            for word in (student.id, *student.names, student.email):
                self._note(self._by_word, _joined(word), student)
            for name in _spellings(student.name):
                self._note(self._by_name, name, student)

    @staticmethod
    def _note(known: dict[str, set[str]], word: str, student: Student) -> None:
        if word:
            known.setdefault(word, set()).add(student.id)

    def owner(self, path: PurePath) -> Student | None:
        """The deepest part of the path that names exactly one student decides; an id counts before
        a name."""
        parts = [path.stem, *reversed(path.parts[:-1])]
        for known in (self._by_word, self._by_name):
            for part in parts:
                named = _named(part, known)
                if len(named) == 1:
                    return self._students[next(iter(named))]
                if named:
                    return None
        return None


def _named(part: str, known: Mapping[str, set[str]]) -> set[str]:
    """Who is named by a run of words in this part of a path; the longest run counts."""
    words = [word for word in _BETWEEN.split(_folded(part)) if word]
    for length in range(len(words), 0, -1):
        runs = ["".join(words[start : start + length]) for start in range(len(words) - length + 1)]
        found = [known[run] for run in runs if run in known]
        if found:
            return set().union(*found)
    return set()


def _spellings(name: str) -> set[str]:
    """ "Ana Maria Lima": as it is, last name first, and with commas turned round."""
    before, comma, behind = name.partition(",")
    words = _BETWEEN.split(_folded(f"{behind} {before}" if comma else name))
    words = [word for word in words if word]
    if not words:
        return set()
    return {"".join(words), "".join([words[-1], *words[:-1]])}


def _joined(word: str) -> str:
    return "".join(_BETWEEN.split(_folded(word)))


def _folded(text: str) -> str:
    """Lower case without accents: file names often lose them."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


# ------------------------------------------------------------------------------ without a roster


def _told_apart(documents: Sequence[str]) -> dict[str, str]:
    """The file's name where all names differ; else the first folder below the one they share."""
    paths = {name: PurePath(name) for name in documents}
    stems = Counter(path.stem for path in paths.values())
    if max(stems.values(), default=0) <= 1:
        return {name: path.stem for name, path in paths.items()}
    shared = _shared_folders([path.parent.parts for path in paths.values()])
    below = {name: path.parts[shared:] for name, path in paths.items()}
    return {name: parts[0] if len(parts) > 1 else name for name, parts in below.items()}


def _shared_folders(folders: Sequence[Sequence[str]]) -> int:
    """How many folders all paths have in common."""
    levels = zip(*folders, strict=False)
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))
