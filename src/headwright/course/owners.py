"""Whose document is it? Platforms write the student into the folder or into the file's name; a
roster says who there is.

    submissions/u17/hw5.md                                   a folder of one's own
    submissions/hw5-u17.md                                   an id in the name
    submissions/limaana_1234_998_hw5.md                      Canvas: name, id, number of the hand-in
    submissions/Ana Lima_5512_assignsubmission_file_/hw5.md  Moodle: a folder with the name

Students choose the names of their files. So a path in which two students are named is nobody's: a
file u18.md in the folder of u17 must not reach the report of u18.
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
    nobody: tuple[str, ...]  # documents of nobody in the roster, or of several at once
    without: tuple[Student, ...]  # students of the roster who have no document
    several: tuple[str, ...] = ()  # those of `nobody` whose path names more than one student


def owners(documents: Sequence[str], roster: Sequence[Student] | None = None) -> Owners:
    """Who handed in what. Without a roster a student is what tells the documents apart: the folder,
    or the file's name."""
    if roster is None:
        told = _told_apart(documents)
        return Owners({name: Student(told[name]) for name in documents}, (), ())
    named = _named_in(documents, _Register(roster))
    by_id = {student.id: student for student in roster}
    found = {name: by_id[next(iter(ids))] for name, ids in named.items() if len(ids) == 1}
    there = {student.id for student in found.values()}
    return Owners(
        found,
        tuple(name for name in documents if name not in found),
        tuple(student for student in roster if student.id not in there),
        tuple(name for name, ids in named.items() if len(ids) > 1),
    )


# --------------------------------------------------------------------------------- with a roster


def _named_in(documents: Sequence[str], register: _Register) -> dict[str, set[str]]:
    """Who is named in each path, by id. Folders further up, such as the home of a teacher with a
    student's name, count only where nothing below them names anybody."""
    paths = {name: PurePath(name) for name in documents}
    shared = _shared_folders([path.parent.parts for path in paths.values()])
    same_name = len(paths) > 1 and len({path.stem for path in paths.values()}) == 1
    found = {}
    for name, path in paths.items():
        folders = path.parts[max(0, shared - 1) : -1]
        found[name] = register.agreed(folders if same_name else (*folders, path.stem))
    if any(found.values()):
        return found
    return {name: register.nearest(path) for name, path in paths.items()}


class _Register:
    """Students by everything that may stand for them in a path."""

    def __init__(self, roster: Sequence[Student]) -> None:
        self._by_word: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        for student in roster:
            for word in (student.id, *student.names, student.email):
                self._note(self._by_word, _joined(word), student)
            for name in _spellings(student.name):
                self._note(self._by_name, name, student)

    @staticmethod
    def _note(known: dict[str, set[str]], word: str, student: Student) -> None:
        if word:
            known.setdefault(word, set()).add(student.id)

    def agreed(self, parts: Sequence[str]) -> set[str]:
        """Who is named by these parts of a path: an id tells two students of one name apart; parts
        that do not agree name all of theirs."""
        named = [ids for part in parts for ids in self._named(part)]
        if not named:
            return set()
        return set.intersection(*named) or set.union(*named)

    def nearest(self, path: PurePath) -> set[str]:
        """Who is named by the deepest part of the path that names anybody."""
        parts = (path.stem, *reversed(path.parts[:-1]))
        return next((ids for part in parts if (ids := self.agreed([part]))), set())

    def _named(self, part: str) -> list[set[str]]:
        """Who is named by ids in this part of a path, and who by a name beside them."""
        words = [word for word in _BETWEEN.split(_folded(part)) if word]
        found = [_taken(words, known) for known in (self._by_word, self._by_name)]
        return [ids for ids in found if ids]


def _taken(words: list[str], known: Mapping[str, set[str]]) -> set[str]:
    """Who is named by a run of words; the longest run counts. Its words are taken out: the name
    within an address is no second name."""
    for length in range(len(words), 0, -1):
        runs = [slice(start, start + length) for start in range(len(words) - length + 1)]
        fitting = [run for run in runs if all(words[run]) and "".join(words[run]) in known]
        found = set().union(*(known["".join(words[run])] for run in fitting))
        for run in fitting:
            words[run] = [""] * length
        if found:
            return found
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
