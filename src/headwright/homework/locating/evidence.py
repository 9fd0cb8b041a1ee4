"""What speaks for a question at a segment: shapes of formulas and words.

Evidence is a table with one row for each segment and one column for each question; the last column
is "none of them". Weights of shapes and words come from the bank.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from headwright.exercise.bank import Bank, Question
from headwright.homework.locating.walk import is_bold_line
from headwright.homework.meaning.formula import Chain, symbols
from headwright.homework.meaning.shapes import shapes_of
from headwright.homework.meaning.statements import Piece, Said, Statement
from headwright.homework.reading.document import Segment

# How often a shape counts in one segment; the square root of that is its weight
MOST_PER_TAG = 2.0
# Words in a heading, in a bold line, in a title above another heading, in the handout's question;
# formulas in such a question
HEADING = 3.0
BOLD = 2.0
TITLE = 0.2
ASKED = 1.5
RESTATED = 0.6

_MOST_SEARCHED = 2000  # characters of one stretch of prose
_FEWEST_SEARCHED = 4
_CAPITAL_CODE = re.compile(r"\\[A-Z]|\(\?P")
_NEARBY = 6  # segments on either side that may belong to the same line


def content_evidence(
    segments: Sequence[Segment], row_of: Mapping[int, int], pieces: Sequence[Piece], bank: Bank
) -> np.ndarray:
    """Evidence from shapes and words. `row_of`: a segment's row by its index in the document."""
    evidence = np.zeros((len(segments), len(bank.questions) + 1))
    shapes: dict[int, Counter[str]] = {}
    ambiguous = _scale_tags(pieces)
    repeated: set[Chain] = set()
    for piece in pieces:
        row = row_of.get(piece.segment)
        if row is None:
            continue
        if isinstance(piece, Said):
            tables = [*(question.words for question in bank), bank.elsewhere]
            said = np.array([word_evidence(table, piece.text) for table in tables])
            evidence[row] += _word_weight(segments, row) * said
        elif piece.chain not in repeated:  # said again, it may be a reminder in a later part
            repeated.add(piece.chain)
            shapes.setdefault(row, Counter()).update(shapes_of(piece.chain) - ambiguous)

    for row, counts in shapes.items():
        speaks = np.array([_shape_evidence(question, counts) for question in bank])
        # What a question gives tells where we are, but less than an answer
        restated = segments[row].voice == "question"
        evidence[row, :-1] += RESTATED * speaks if restated else speaks
    return evidence


def _scale_tags(pieces: Sequence[Piece]) -> set[str]:
    """A letter that multiplies a query somewhere is a scale everywhere: then "gamma" says nothing
    about lengths."""
    for piece in pieces:
        if isinstance(piece, Statement) and _is_query(piece.chain):
            found = (symbol for term in piece.chain.terms[1:] for symbol in symbols(term))
            if any(symbol.name == "gamma" and not symbol.index for symbol in found):
                return {"gamma"}
    return set()


def _is_query(chain: Chain) -> bool:
    return any(tag.startswith("query of") for tag in shapes_of(chain))


def _shape_evidence(question: Question, counts: Counter[str]) -> float:
    known = [(tag, count) for tag, count in counts.items() if tag in question.shapes]
    return sum(question.shapes[tag] * min(count, MOST_PER_TAG) ** 0.5 for tag, count in known)


def word_evidence(words: Mapping[str, float], text: str) -> float:
    searched = text[:_MOST_SEARCHED].lower()
    if len(searched) < _FEWEST_SEARCHED and searched.isascii():  # ", and"
        return 0.0
    return sum(weight for word, weight in words.items() if _is_found(word, searched))


@functools.lru_cache(maxsize=4096)
def _is_found(word: str, text: str) -> bool:
    """Questions share words, and documents short stretches between their formulas."""
    return _pattern(word).search(text) is not None


@functools.lru_cache(maxsize=512)
def _pattern(word: str) -> re.Pattern[str]:
    """For text in small letters. Ignoring case takes several times as long, so only a word whose
    capitals mean something else (\\W) does."""
    if _CAPITAL_CODE.search(word):
        return re.compile(word, re.IGNORECASE)
    return re.compile(word.lower())


def _word_weight(segments: Sequence[Segment], row: int) -> float:
    """Words in a heading count more, except in a heading above another heading: that one titles a
    whole section."""
    if is_bold_line(segments[row]):
        return BOLD
    if segments[row].voice == "question" and segments[row].kind == "prose":
        return ASKED
    if segments[row].kind != "heading" or _is_sentence(segments, row):
        return 1.0
    if row + 1 < len(segments):
        below = segments[row + 1]
        if below.kind == "heading" and below.text.strip():
            return TITLE
    return HEADING


def _is_sentence(segments: Sequence[Segment], row: int) -> bool:
    """A numbered line with formulas in it is an answer, even where it was typed as a heading."""
    paragraph = segments[row].paragraph
    nearby = segments[max(0, row - _NEARBY) : row + _NEARBY + 1]
    return any(other.paragraph == paragraph and other.kind == "math" for other in nearby)
