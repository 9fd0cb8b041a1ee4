"""What labels say, as students write them: `(a) - i)`, `1.2 (b)`, `ii`, `Question 3`.

Letters may number parts or what stands inside them; the row of all labels tells which.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from headwright.homework.reading.document import Segment
from headwright.homework.reading.numerals import CHINESE_NUMERALS, ROMAN_NUMERALS

_LETTERS = "abcdefgh"
_ROMAN = {numeral: count for count, numeral in enumerate(ROMAN_NUMERALS[:8], start=1)}
_CHINESE = {numeral: count for count, numeral in enumerate(CHINESE_NUMERALS[:6], start=1)}
_TOKEN = re.compile(rf"\d+|[A-Za-z]+|[{''.join(_CHINESE)}]")

# What letters number: the parts, the questions of a part whose heading names it, or what stands
# inside parts that are counted by numbers (2b)
Reading = Literal["part", "number", "inner"]


@dataclass(frozen=True)
class QuestionNumber:
    """Where a label puts us: a part ("a", ...) and a number inside it (0: none)."""

    part: str
    number: int


def readings(segments: Iterable[Segment]) -> tuple[Reading, ...]:
    """What letters may number. They number parts if they run through the alphabet once (twice with
    a second exercise); letters that start again and again number what stands inside the parts."""
    letters: list[tuple[str, bool]] = []  # with nothing behind it?
    for segment in segments:
        tokens = _tokens(segment.label or "")
        place = next((k for k, token in enumerate(tokens) if _is_letter(token)), None)
        if place is not None:
            letters.append((tokens[place], place == len(tokens) - 1))

    restarts = 0
    for (before, _), (letter, alone) in itertools.pairwise(letters):
        # "(a)" once more, with nothing behind the letter, starts again as well.
        restarts += letter < before or (letter == before and alone)
    return ("part",) if letters and restarts <= 1 else ("number", "inner")


def question_numbers(
    segments: Iterable[Segment], reading: Reading
) -> Iterator[QuestionNumber | None]:
    """For every segment the place its own label leads to; None without a label."""
    if reading == "part":
        return _letters_number_parts(segments)
    if reading == "number":
        return _letters_number_questions(segments)
    return _letters_number_inside(segments)


def _letters_number_parts(segments: Iterable[Segment]) -> Iterator[QuestionNumber | None]:
    """(a) is a part and ii its second question."""
    part = ""
    last = 0
    for segment in segments:
        tokens = _tokens(segment.label or "")
        letter = next((token for token in tokens if _is_letter(token)), "")
        others = [token for token in tokens if token != letter]
        number = _counted(others[-1]) if others else 0
        if letter:
            ends_in_letter = tokens.index(letter) == len(tokens) - 1
            part = letter
            last = 0 if ends_in_letter else number
            yield QuestionNumber(part, last)
        elif number:
            if number <= last:  # counting starts again: a part began whose letter was lost
                part = ""
            last = number
            yield QuestionNumber(part, number)
        else:
            yield None


def _letters_number_questions(segments: Iterable[Segment]) -> Iterator[QuestionNumber | None]:
    """The part comes from the heading and (b) is its second question."""
    for segment in segments:
        words = [token for token in _tokens(segment.label or "") if not token.isdigit()]
        number = _letter_or_roman(words[-1]) if words else 0
        yield QuestionNumber("", number) if number else None


def _letters_number_inside(segments: Iterable[Segment]) -> Iterator[QuestionNumber | None]:
    """Numbers count parts and letters what stands inside them, 2b."""
    part = ""
    for segment in segments:
        label = (segment.label or "").strip()
        tokens = _tokens(label)
        if sum(token.isdigit() for token in tokens) > 1:  # 1.2 numbers sections
            part = ""
            tokens = []
        words = [token for token in tokens if not token.isdigit() and token not in _CHINESE]
        number = _letter_or_roman(words[0]) if words else 0

        count = _digit_or_chinese(tokens[0]) if tokens else 0
        bracketed = label[:1] in ("(", "（")
        if bracketed and len(tokens) == 1 and count:
            number = count
        elif 1 <= count <= 6:
            part = _LETTERS[count - 1]
        yield QuestionNumber(part, number) if tokens and (part or number) else None


def is_own_number(label: str, part: str, usual: tuple[str, ...]) -> bool:
    """Is this label the question's own, such as (c) ii. for the second question of part c?"""
    tokens = _tokens(label)
    if not tokens or not usual:
        return False
    own = usual[0].partition(".")[2]
    number = _ROMAN.get(tokens[-1], 0)
    letters = [token for token in tokens[:-1] if _is_letter(token)]
    return str(number) == own and letters in ([], [part])


def _tokens(label: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(label)]


def _is_letter(token: str) -> bool:
    return len(token) == 1 and token in _LETTERS


def _counted(token: str) -> int:
    return _ROMAN.get(token) or _digit(token)


def _letter_or_roman(token: str) -> int:
    if _is_letter(token):
        return _LETTERS.index(token) + 1
    return _ROMAN.get(token, 0)


def _digit_or_chinese(token: str) -> int:
    return _CHINESE.get(token) or _digit(token)


def _digit(token: str) -> int:
    return int(token) if token.isdigit() and len(token) == 1 else 0
