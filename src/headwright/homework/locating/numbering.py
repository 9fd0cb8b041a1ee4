"""What labels say, as students write them: `(a) - i)`, `1.2 (b)`, `ii`, `Question 3`.

Letters may number parts or what stands inside them; the row of all labels tells which.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from headwright.exercise.courses import PART_LETTERS, Course
from headwright.homework.reading.document import Segment
from headwright.homework.reading.label_parts import (
    CHINESE,
    ROMAN,
    counted,
    digit,
    digit_or_chinese,
    is_letter,
    label_tokens,
    letter_or_roman,
)

_SHEET_PART_QUESTION = 3  # numbers in 1.2.1
_LEAST_THROUGH = 6  # questions
_DEEPEST = 3  # levels: exercise, part, question

# What numbers the parts: letters, digits with letters inside (2b), their headings alone, so that
# letters number the questions below them, or the last level but one of an outline (A.3.b, 1-2); or
# no part is numbered, and the questions are counted through, all of them or those of each exercise
Reading = Literal["letters", "digits", "headings", "outline", "through", "exercises"]


@dataclass(frozen=True)
class QuestionNumber:
    """Where a label puts us: a part ("a", ...) and a number inside it (0: none), or a place among
    all questions (0: none), or among those of one exercise (0: none)."""

    part: str
    number: int
    place: int = 0
    exercise: int = 0

    def among(self, course: Course) -> list[str]:
        """The question at this place of a course; none where it has no such place."""
        ids = list(course.labels)
        if self.exercise:
            ids = [id for listed in course.exercises[self.exercise - 1 :][:1] for id in listed]
        return ids[self.place - 1 : self.place]


def readings(segments: Sequence[Segment]) -> tuple[Reading, ...]:
    """What may number the parts. Letters do if they run through the alphabet once (twice with a
    second exercise); letters that start again and again may number what stands inside."""
    runs = letter_runs(segments)
    outline: tuple[Reading, ...] = ("outline",) if _depth(segments) > 1 else ()
    if not any(run is not None for run in runs):
        through: tuple[Reading, ...] = ("through",) if _counts_through(segments) else ()
        exercises: tuple[Reading, ...] = ("exercises",) if _counts_exercises(segments) else ()
        return (*outline, "digits", "headings", *through, *exercises)
    restarts = max(run for run in runs if run is not None)
    return ("letters", *outline) if restarts <= 1 else ("letters", *outline, "digits", "headings")


def letter_runs(segments: Sequence[Segment]) -> list[int | None]:
    """For every segment the run through the alphabet that it stands in; None before the first."""
    runs: list[int | None] = []
    run: int | None = None
    last = ""
    for segment in segments:
        tokens = label_tokens(segment.label)
        letter = next(filter(is_letter, tokens), "")
        if letter and run is None:
            run = 0
        elif letter and run is not None:
            # "(a)" once more, with nothing behind the letter, starts again as well
            is_last = tokens.index(letter) == len(tokens) - 1
            run += letter < last or (letter == last and is_last)
        last = letter or last
        runs.append(run)
    return runs


def question_numbers(
    segments: Sequence[Segment], reading: Reading
) -> Iterator[QuestionNumber | None]:
    """For every segment the place its own label leads to; None without a label."""
    if reading == "letters":
        return _letters_number_parts(segments)
    if reading == "headings":
        return _items_number_questions(segments)
    if reading == "outline":
        return _levels_number_parts(segments)
    if reading == "through":
        return (QuestionNumber("", 0, n) if n else None for n in map(_last_number, segments))
    if reading == "exercises":
        places = _places_in_exercises(segments)
        return (QuestionNumber("", 0, place[1], place[0]) if place else None for place in places)
    return _digits_number_parts(segments)


def _letters_number_parts(segments: Sequence[Segment]) -> Iterator[QuestionNumber | None]:
    """(a) is a part and ii its second question."""
    part = ""
    last = 0
    digits_list = _counts_in_roman(segments)
    for row, segment in enumerate(segments):
        tokens = label_tokens(segment.label)
        letter = next(filter(is_letter, tokens), "")
        others = [token for token in tokens if token != letter]
        number = counted(others[-1]) if others else 0
        if letter:
            part = letter
            last = 0 if tokens[-1] == letter else number
            yield QuestionNumber(part, last)
        elif number and not (digits_list and others[-1].isdigit()):
            if number <= last and not _answers_begin(segments, row):
                part = ""  # counting starts again: a part began whose letter was lost
            last = number
            yield QuestionNumber(part, number)
        else:
            yield None


def without_lists(segments: Sequence[Segment]) -> list[Segment]:
    """The segments without labels that count inside the answer to one numbered question: its number
    stands before the wrapper (a solution environment) in which counting starts again."""
    out: list[Segment] = []
    asked = 0  # number of the question that is open
    wrapped = 0  # that number where the wrapper began
    counting = False
    for before, segment in itertools.pairwise([None, *segments]):
        assert segment is not None
        tokens = label_tokens(segment.label)
        has_letter = any(map(is_letter, tokens))
        number = counted(tokens[-1]) if tokens else 0
        begins = before is None or before.voice != "answer"
        if segment.voice != "answer" or has_letter:
            wrapped = 0
            counting = False
        elif begins:
            wrapped = 0 if number else asked
        counting = counting or bool(wrapped and number == 1)
        out.append(replace(segment, label=None) if counting else segment)
        if tokens and not counting:
            asked = number
    return out


def _counts_in_roman(segments: Sequence[Segment]) -> bool:
    """Where ii numbers questions, "1." is an item of a list in some answer."""
    numerals = (token for segment in segments for token in label_tokens(segment.label))
    return any(token in ROMAN for token in numerals)


def _answers_begin(segments: Sequence[Segment], row: int) -> bool:
    """Behind "Answer:" the questions above are counted once more."""
    return row > 0 and segments[row - 1].voice == "answer"


def _items_number_questions(segments: Sequence[Segment]) -> Iterator[QuestionNumber | None]:
    """The part comes from the heading and (b), or 2 where nothing but digits counts, is its second
    question."""
    digits_only = all(_only_digits(label_tokens(segment.label)) for segment in segments)
    for segment in segments:
        tokens = label_tokens(segment.label)
        words = tokens if digits_only else [token for token in tokens if not token.isdigit()]
        number = letter_or_roman(words[-1]) or digit(words[-1]) if words else 0
        is_title = segment.kind == "heading" and bool(segment.text.strip())
        yield QuestionNumber("", number) if number and not (digits_only and is_title) else None


def _only_digits(tokens: Sequence[str]) -> bool:
    return not any(letter_or_roman(token) for token in tokens)


def _digits_number_parts(segments: Sequence[Segment]) -> Iterator[QuestionNumber | None]:
    """Digits count parts and letters or numerals what stands inside them: 2b, Q1-4 ii."""
    depth = max((len(_counts(segment.label)) for segment in segments), default=0)
    part = ""
    inside = 0
    listed = 0
    for segment in segments:
        tokens = label_tokens(segment.label)
        words = [token for token in tokens if not token.isdigit() and token not in CHINESE]
        number = letter_or_roman(words[-1]) if words else 0

        counts = _counts(segment.label)
        if _is_bracketed(segment.label) and len(tokens) == 1 and counts:
            number = counts[0]
        elif depth == _SHEET_PART_QUESTION and len(counts) > 1:
            part = _part(counts[1])
            number = counts[2] if len(counts) == depth else number
        elif counts and len(counts) == min(depth, 2):
            part = _part(counts[-1])
        elif counts and part and depth > 1 and _goes_on(segment, counts[0], listed):
            listed = counts[0]  # an item of a list in some answer
            yield QuestionNumber(part, inside)
            continue
        elif counts:  # an exercise of several
            part = ""
        if tokens:
            inside = number
            listed = 0
        yield QuestionNumber(part, number) if tokens and (part or number) else None


def _goes_on(segment: Segment, count: int, listed: int) -> bool:
    """Does a list begin with this item, or go on with it?"""
    return segment.kind != "heading" and count == listed + 1


def _levels_number_parts(segments: Sequence[Segment]) -> Iterator[QuestionNumber | None]:
    """The deepest label has exercise, part and question, or the last two of them: 1.c.2, A.3.b,
    1-2. A shorter one is a part that asks one question."""
    depth = _depth(segments)
    whole = [segment for segment in segments if len(_levels(segment.label)) == depth]
    with_digits = {_begins_with_digit(segment) for segment in whole}
    for segment in segments:
        levels = _levels(segment.label)
        if not levels:
            yield None
        elif len(levels) == 1 and (depth == 3 or segment.kind == "heading"):
            yield None  # an exercise of several
        elif len(levels) == 1 and _begins_with_digit(segment) not in with_digits:
            yield None  # an item of a list in some answer
        else:
            has_number = len(levels) == depth
            part = _part(levels[-2] if has_number else levels[-1])
            yield QuestionNumber(part, levels[-1] if has_number else 0)


def _begins_with_digit(segment: Segment) -> bool:
    counted = [token for token in label_tokens(segment.label) if _levels(token)]
    return bool(counted) and counted[0].isdigit()


def _counts_through(segments: Sequence[Segment]) -> bool:
    """1, 2, 3 and so on, further than any part goes."""
    numbers = [number for number in map(_last_number, segments) if number]
    return numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= _LEAST_THROUGH


def _counts_exercises(segments: Sequence[Segment]) -> bool:
    """1.1, 1.2, 1.3 and so on in the first exercise, further than any part goes."""
    places = [place for place in _places_in_exercises(segments) if place]
    first = [number for exercise, number in places if exercise == 1]
    ordered = places == sorted(set(places))
    return ordered and first == list(range(1, len(first) + 1)) and len(first) >= _LEAST_THROUGH


def _places_in_exercises(segments: Sequence[Segment]) -> list[tuple[int, int] | None]:
    """For every segment with a label such as 2.3 the exercise and the number in it."""
    levels = [_levels(segment.label) for segment in segments]
    return [(found[0], found[1]) if len(found) == 2 else None for found in levels]


def _last_number(segment: Segment) -> int:
    """The last number of an item's label: 1.10 is the tenth."""
    tokens = label_tokens(segment.label) if segment.kind != "heading" else ()
    return int(tokens[-1]) if tokens and tokens[-1].isdigit() else 0


def _depth(segments: Sequence[Segment]) -> int:
    return max((len(_levels(segment.label)) for segment in segments), default=0)


def _levels(label: str | None) -> list[int]:
    """The levels of a label such as A.3 (1), without its words."""
    counts = [letter_or_roman(token) or digit_or_chinese(token) for token in label_tokens(label)]
    return [count for count in counts if count][-_DEEPEST:]


def _counts(label: str | None) -> list[int]:
    """The numbers of a label such as Q1-4 or 三."""
    return [count for count in map(digit_or_chinese, label_tokens(label)) if count]


def _part(count: int) -> str:
    return PART_LETTERS[count - 1] if count <= len(PART_LETTERS) else ""


def _is_bracketed(label: str | None) -> bool:
    return (label or "").strip()[:1] in ("(", "（")
