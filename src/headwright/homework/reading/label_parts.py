"""The parts of a label, and what they count: letters, Roman numerals, digits in several scripts."""

from __future__ import annotations

import functools
import re

from headwright.exercise.courses import PART_LETTERS
from headwright.homework.reading.numerals import (
    CHINESE_NUMERALS,
    CIRCLED_DIGITS,
    KOREAN_LETTERS,
    ROMAN_NUMERALS,
)

ROMAN = {numeral: count for count, numeral in enumerate(ROMAN_NUMERALS[:8], start=1)}
CHINESE = {numeral: count for count, numeral in enumerate(CHINESE_NUMERALS[:6], start=1)}
# A letter may stand right before a numeral: 1aii
_TOKEN = re.compile(
    rf"\d+|[A-Ha-h](?=(?:{'|'.join(ROMAN)})(?![A-Za-z]))|[A-Za-z]+|[{''.join(CHINESE)}]"
)
# Other letters and digits, by those that they stand for
_AS_USUAL = str.maketrans(KOREAN_LETTERS + CIRCLED_DIGITS, PART_LETTERS + "12345678")

# Every way to number a document is tried on all of its labels, and a class writes the same ones.
_LABELS_KEPT = 4096


def has_part_letter(label: str | None) -> bool:
    return any(map(is_letter, label_tokens(label)))


@functools.lru_cache(maxsize=_LABELS_KEPT)
def label_tokens(label: str | None) -> tuple[str, ...]:
    """The letters, numerals and words of a label, in small letters and usual digits."""
    usual = (label or "").translate(_AS_USUAL)
    return tuple(token.lower() for token in _TOKEN.findall(usual))


def is_letter(token: str) -> bool:
    return len(token) == 1 and token in PART_LETTERS


def counted(token: str) -> int:
    return ROMAN.get(token) or digit(token)


def letter_or_roman(token: str) -> int:
    if is_letter(token):
        return PART_LETTERS.index(token) + 1
    return ROMAN.get(token, 0)


def digit_or_chinese(token: str) -> int:
    return CHINESE.get(token) or digit(token)


def digit(token: str) -> int:
    return int(token) if token.isdigit() and len(token) == 1 else 0
