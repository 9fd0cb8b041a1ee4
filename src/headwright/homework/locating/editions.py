"""Documents without the handout's text that are numbered like a published handout.

Such a document says where a question belongs, and so which of them has nothing under its number, or
whose number is not there. A numbering that fits no handout, or several equally, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwright.exercise.bank import Bank
from headwright.homework.locating.asked import Asked
from headwright.homework.locating.numbering import (
    QuestionNumber,
    Reading,
    question_numbers,
    readings,
)
from headwright.homework.locating.silent import is_silent
from headwright.homework.reading.document import Segment
from headwright.homework.reading.label_parts import label_tokens
from headwright.homework.reading.numerals import ROMAN_NUMERALS
from headwright.homework.reading.segments.who_speaks import items

ENDED = "the document ends before this question; its numbers are those of a published handout"
LEFT_OUT = "its number is not in the document; the other numbers are those of a published handout"
LEAST_FITTING = 2
LEAST_SHARE = 0.6  # of a handout's numbers
LEAST_PARTS = 3  # that a numbering needs to be told from others
_PARTS = "abcdefgh"
_INNER_NUMBER = re.compile(r"(?<![\w)])[(（]?(?:i{1,3}|iv|[a-h]|\d)[)）]|[①-⑧]", re.IGNORECASE)
_JOINT = re.compile(
    r"(?:\b(?:and|und|et|e|y|to|bis|à|a)|[&+,/\-–~、와과と和及])"
    r"\s?[(（]?(?:i{2,3}|iv|[b-d]|[2-4])[)）.:：]",
    re.IGNORECASE,
)
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


@dataclass(frozen=True)
class Edition:
    """A published exercise: its numbers with their questions, and what is asked after it."""

    questions: Mapping[str, str] = field(default_factory=dict)
    later: tuple[str, ...] = ()


def exercises(segments: Sequence[Segment], reading: Reading = "letters") -> list[Exercise]:
    """The document's numbering; another exercise begins where its numbers start again."""
    found = [Exercise()]
    numbers = list(question_numbers(segments, reading))
    reached = 0
    last = ""
    for item in items(segments):
        if reading == "letters":
            path = _path(item[0].label or "", found[-1].part)
        else:
            path = _written(numbers[reached])
            path = "" if path == last else path  # an item of a list
        if path:
            part = path[0]
            if path in found[-1].places or part < found[-1].part:
                found.append(Exercise())
            found[-1].part = part
        here = found[-1].places.setdefault(path, []) if path else _last(found[-1])
        here += range(reached, reached + len(item))
        reached += len(item)
        last = path or last
    return found


def _written(number: QuestionNumber | None) -> str:
    """The path to a place: "c.2", or "03" where questions are counted through."""
    if number is None:
        return ""
    if number.place:
        return f"{number.place:02d}"
    return f"{number.part}.{number.number}" if number.number and number.part else number.part


def _last(exercise: Exercise) -> list[int]:
    """The segments of the latest number; a list of its own before the first."""
    return next(reversed(exercise.places.values()), [])


def _path(label: str, part: str) -> str:
    """Where a label leads, inside the part that is open; empty where it numbers neither."""
    tokens = label_tokens(label)
    letters = [token for token in tokens if len(token) == 1 and token in _PARTS]
    numbers = [_NUMBERS[token] for token in tokens if token in _NUMBERS]
    if letters:
        return f"{letters[0]}.{numbers[-1]}" if numbers else letters[0]
    return f"{part}.{numbers[-1]}" if numbers and part else ""


def editions_of(exercise: Exercise, bank: Bank) -> list[Edition]:
    """The published exercises that are numbered like this: most of their numbers are there, in
    their order. A question whose number was left out has another number of its part beside it, or
    its part is missing as a whole. Of a short handout, all must be there."""
    leaves = exercise.leaves()
    counted = all(path.isdigit() for path in leaves)
    fitting: list[Edition] = []
    for course in bank.courses:
        for place, handout in enumerate(course.handouts):
            questions = _counted_through(handout) if counted else handout
            later = [id for after in course.handouts[place + 1 :] for id in after.values()]
            if leaves == list(questions):
                fitting.append(Edition(questions, tuple(later)))
            elif not counted and _are_most_of(leaves, list(questions)):
                fitting.append(Edition(questions))
    return fitting


def _counted_through(handout: Mapping[str, str]) -> dict[str, str]:
    return {f"{place:02d}": id for place, id in enumerate(handout.values(), start=1)}


def _are_most_of(leaves: list[str], numbers: list[str]) -> bool:
    told_apart = len({path[0] for path in leaves}) >= LEAST_PARTS
    begun = leaves == numbers[: len(leaves)]
    in_order = leaves == [number for number in numbers if number in leaves]
    most = in_order and len(leaves) >= LEAST_SHARE * len(numbers)
    return told_apart and (begun or most)


def numbered_questions(
    segments: Sequence[Segment], found: Mapping[str, set[int]], bank: Bank
) -> list[Asked]:
    """The questions that a published numbering leads to, under the reading of its numbers that fits
    best. `found`: where the walk through the document found answers; without two at their numbers
    the numbering may be another exercise's."""
    best: list[Asked] = []
    most = 0
    for reading in dict.fromkeys(("letters", *readings(segments))):
        asked, fitting = _numbered_under(segments, exercises(segments, reading), found, bank)
        if fitting > most:
            best = asked
            most = fitting
    return best


def _numbered_under(
    segments: Sequence[Segment],
    numbered: list[Exercise],
    found: Mapping[str, set[int]],
    bank: Bank,
) -> tuple[list[Asked], int]:
    """What one reading of the numbers leads to, and how many answers stand at their numbers."""
    asked: list[Asked] = []
    fitting = 0
    is_attention = False
    later: tuple[str, ...] = ()
    for exercise in numbered:
        edition, fits = _best_edition(exercise, found, bank)
        silent = not any(_spoken(segments, exercise.places[path]) for path in exercise.places)
        is_next = bool(later) and tuple(edition.questions.values()) == later
        if fits >= LEAST_FITTING or is_next or (silent and is_attention):
            asked += _numbered(segments, exercise, edition.questions)
            fitting += fits
            later = edition.later
        is_attention = any(_is_in(exercise, places) for places in found.values())

    begun = _begins_next(segments, numbered[-1])
    if begun and not any(id in found for id in later):
        asked += [Asked(question, begun, ()) for question in later]
    return asked, fitting


def _best_edition(
    exercise: Exercise, found: Mapping[str, set[int]], bank: Bank
) -> tuple[Edition, int]:
    """The edition with most answers at its numbers, and how many; none where two are alike."""
    counted: list[tuple[int, Edition]] = []
    for edition in editions_of(exercise, bank):
        questions = edition.questions
        fits = sum(_is_found(exercise, path, questions, found) for path in exercise.places)
        counted.append((fits, edition))
    counted.sort(key=lambda pair: -pair[0])
    if not counted or (len(counted) > 1 and counted[0][0] == counted[1][0]):
        return Edition(), 0
    return counted[0][1], counted[0][0]


def _begins_next(segments: Sequence[Segment], exercise: Exercise) -> tuple[int, ...]:
    """What announces another exercise behind the last number, with nothing in it: "2. not done"."""
    behind = _last(exercise)[1:]
    opening = [k for k in behind if segments[k].label or segments[k].kind == "heading"]
    rest = tuple(k for k in behind if opening and k >= opening[0])
    return () if _spoken(segments, rest) else rest


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
    # Labels behind the last place may be those of a later question, written in a way of their own.
    goes_on = any(segment.label for segment in segments[max(last, default=0) + 1 :])
    final = exercise.leaves()[-1] if exercise.places else ""
    asked: list[Asked] = []
    ended = False
    before = ""
    for path, question in questions.items():
        if path in exercise.places:
            here = exercise.places[path]
            asked.append(Asked(question, tuple(here), _spoken(segments, here)))
            before = path
        elif ended and goes_on:
            continue
        elif before[:1] != path[0] or not _mentions_number(segments, exercise.places[before]):
            asked.append(Asked(question, last, (), why=ENDED if ended else LEFT_OUT))
        ended = ended or path == final
    return asked


def _mentions_number(segments: Sequence[Segment], places: Sequence[int]) -> bool:
    """Is another number named inside: "and then (c) the output ..."? It may be answered there."""
    own = (segments[k] for k in places if segments[k].kind != "math")
    said = [f"{segment.label or ''} {segment.text}" for segment in own]
    return len(_INNER_NUMBER.findall(" ".join(said))) > 1 or bool(_JOINT.search(" ".join(said)))


def _spoken(segments: Sequence[Segment], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k in places if not is_silent(segments[k]))
