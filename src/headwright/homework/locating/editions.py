"""Documents without the handout's text that are numbered like a published handout.

Such a document says where a question belongs, and so which of them has nothing under its number or
comes after the last one. A numbering that fits no handout, or several, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwright.exercise.bank import Bank
from headwright.homework.locating.asked import Asked
from headwright.homework.locating.silent import is_silent
from headwright.homework.reading.document import Segment
from headwright.homework.reading.numerals import ROMAN_NUMERALS
from headwright.homework.reading.segments.who_speaks import items

ENDED = "the document ends before this question; its numbers are those of a published handout"
LEAST_FITTING = 2
LEAST_PARTS = 3  # that a numbering needs to be told from others
_TOKEN = re.compile(r"[a-z]+|\d+")
_PARTS = "abcdefgh"
_NUMBERS = {numeral: count for count, numeral in enumerate(ROMAN_NUMERALS[:6], start=1)}


@dataclass
class Exercise:
    """What is numbered in one exercise: "c.2" -> its segments, in document order."""

    places: dict[str, list[int]] = field(default_factory=dict)
    part: str = ""

    def leaves(self) -> list[str]:
        """The numbers that have no numbers inside them."""
        inner = {path.partition(".")[0] for path in self.places if "." in path}
        return [path for path in self.places if path not in inner]


def exercises(segments: Sequence[Segment]) -> list[Exercise]:
    """The document's numbering; another exercise begins where the letters start again."""
    found = [Exercise()]
    number = 0
    for item in items(segments):
        path = _path(item[0].label or "", found[-1].part)
        if path:
            part = path[0]
            if path in found[-1].places or part < found[-1].part:
                found.append(Exercise())
            found[-1].part = part
        here = found[-1].places.setdefault(path, []) if path else _last(found[-1])
        here += range(number, number + len(item))
        number += len(item)
    return found


def _last(exercise: Exercise) -> list[int]:
    """The segments of the latest number; a list of its own before the first."""
    return next(reversed(exercise.places.values()), [])


def _path(label: str, part: str) -> str:
    """Where a label leads, inside the part that is open; empty where it numbers neither."""
    tokens = _TOKEN.findall(label.lower())
    letters = [token for token in tokens if len(token) == 1 and token in _PARTS]
    numbers = [_NUMBERS[token] for token in tokens if token in _NUMBERS]
    if letters:
        return f"{letters[0]}.{numbers[-1]}" if numbers else letters[0]
    return f"{part}.{numbers[-1]}" if numbers and part else ""


def edition_of(exercise: Exercise, bank: Bank) -> Mapping[str, str]:
    """The questions of the one handout that is numbered like this; empty where none or several
    are. Its first numbers must be there without a gap: an answer whose number was left out may
    stand under the number before. Of a short handout, all must be there."""
    leaves = exercise.leaves()
    parts = {path[0] for path in leaves}
    fitting: list[Mapping[str, str]] = []
    for questions in (handout for course in bank.courses for handout in course.handouts):
        begun = leaves == list(questions)[: len(leaves)]
        told_apart = len(parts) >= LEAST_PARTS
        if leaves == list(questions) or (begun and told_apart):
            fitting.append(questions)
    return fitting[0] if len(fitting) == 1 else {}


def numbered_questions(
    segments: Sequence[Segment], found: Mapping[str, set[int]], bank: Bank
) -> list[Asked]:
    """The questions that a published numbering leads to. `found`: where the walk through the
    document found answers; without two at their numbers the numbering may be another exercise's."""
    asked: list[Asked] = []
    is_attention = False
    for exercise in exercises(segments):
        questions = edition_of(exercise, bank)
        fits = [path for path in exercise.places if _is_found(exercise, path, questions, found)]
        silent = not any(_spoken(segments, exercise.places[path]) for path in exercise.places)
        if len(fits) >= LEAST_FITTING or (silent and is_attention):
            asked += _numbered(segments, exercise, questions)
        is_attention = any(_is_in(exercise, places) for places in found.values())
    return asked


def _is_in(exercise: Exercise, places: set[int]) -> bool:
    return any(not places.isdisjoint(here) for here in exercise.places.values())


def _is_found(
    exercise: Exercise, path: str, questions: Mapping[str, str], found: Mapping[str, set[int]]
) -> bool:
    here = found.get(questions.get(path, ""), set())
    return not here.isdisjoint(exercise.places[path])


def _numbered(
    segments: Sequence[Segment], exercise: Exercise, questions: Mapping[str, str]
) -> list[Asked]:
    last = tuple(_last(exercise))
    asked: list[Asked] = []
    for path, question in questions.items():
        if path in exercise.places:
            here = exercise.places[path]
            asked.append(Asked(question, tuple(here), _spoken(segments, here)))
        else:
            asked.append(Asked(question, last, (), why=ENDED))
    return asked


def _spoken(segments: Sequence[Segment], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k in places if not is_silent(segments[k]))
