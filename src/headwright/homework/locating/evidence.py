"""What speaks for a question at a segment: shapes of formulas, words, numbering.

Evidence is a table with one row for each segment and one column for each question; the last column
is "none of them". Weights of shapes and words come from the bank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.exercise.bank import Bank, Course, Question
from headwright.homework.locating.numbering import (
    QuestionNumber,
    Reading,
    letter_runs,
    question_numbers,
)
from headwright.homework.locating.walk import is_bold_line
from headwright.homework.meaning.formula import Chain, symbols
from headwright.homework.meaning.shapes import shapes_of
from headwright.homework.meaning.statements import Piece, Said, Statement
from headwright.homework.reading.document import Segment

# How often a shape counts in one segment; the square root of that is its weight
MOST_PER_TAG = 2.0
# Words in a heading, in a bold line, in a title above another heading, in a question restated from the handout
HEADING = 3.0
BOLD = 2.0
TITLE = 0.2
RESTATED = 0.6
# A label that names the question's part or number, or another one
PART_FITS = 2.5
PART_MISFITS = -3.0
NUMBER_FITS = 2.0
NUMBER_MISFITS = -3.0
NOT_ASKED = -4.0
# In a paragraph below: a question that the course does not ask; any question before the first label
NOT_ASKED_BELOW = -0.7
INTRODUCTION = -0.7
NO_QUESTION = -1.0
LATER_LABEL = 0.1  # each label of a question but its first
LATER_QUESTION = 0.3  # each question of a part but its first, under the part's letter alone
# Another exercise has less than this share of the evidence of the best one
FOREIGN = 0.1
# A label that some question fits; what is left of it in the paragraphs below
LABEL_READ = 6.0
INHERITED = 0.4

_MOST_SEARCHED = 2000  # characters of one stretch of prose
_NEARBY = 6  # segments on either side that may belong to the same line


@dataclass(frozen=True)
class Numbering:
    """Which course the document may follow, and what numbers its parts there."""

    course: Course
    reading: Reading


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
            said = np.array([_word_evidence(table, piece.text) for table in tables])
            evidence[row] += _word_weight(segments, row) * said
        elif piece.chain not in repeated:  # said again, it may be a reminder in a later part
            repeated.add(piece.chain)
            shapes.setdefault(row, Counter()).update(shapes_of(piece.chain) - ambiguous)

    for row, counts in shapes.items():
        evidence[row, :-1] += [_shape_evidence(question, counts) for question in bank]
    for row, segment in enumerate(segments):
        # A restated question tells where we are, but less than an answer
        if segment.voice == "question":
            evidence[row] *= RESTATED
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


def _word_evidence(words: Mapping[str, float], text: str) -> float:
    searched = text[:_MOST_SEARCHED]
    weights = words.items()
    return sum(weight for word, weight in weights if re.search(word, searched, re.IGNORECASE))


def _word_weight(segments: Sequence[Segment], row: int) -> float:
    """Words in a heading count more, except in a heading above another heading: that one titles a
    whole section."""
    if is_bold_line(segments[row]):
        return BOLD
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


def foreign_rows(segments: Sequence[Segment], content: np.ndarray) -> list[bool]:
    """Rows of another exercise: a run through the alphabet in which nothing speaks for any
    question, beside one in which much does."""
    runs = letter_runs(segments)
    strength: dict[int | None, float] = dict.fromkeys(runs, 0.0)
    for row, run in enumerate(runs):
        strength[run] += max(float(content[row, :-1].max() - content[row, -1]), 0.0)
    most = max(strength.values())
    return [strength[run] < FOREIGN * most for run in runs]


def numbering_evidence(
    segments: Sequence[Segment], bank: Bank, numbering: Numbering, foreign: Sequence[bool]
) -> np.ndarray:
    """Evidence from labels under one numbering; those of another exercise (`foreign`) speak for
    none of the questions."""
    evidence = np.zeros((len(segments), len(bank.questions) + 1))
    asked = np.array([question.id in numbering.course.labels for question in bank])
    held: np.ndarray | None = None  # evidence from the last label
    introduction = True
    for row, number in enumerate(question_numbers(segments, numbering.reading)):
        if number is not None and foreign[row]:
            evidence[row, -1] = LABEL_READ
            held = None
        elif number is not None:
            # Numberings compete: a label that must be ignored costs
            fit = _label_evidence(bank, numbering.course, number)
            evidence[row] = LABEL_READ + fit - _most(number)
            held = fit
        elif row and segments[row].paragraph != segments[row - 1].paragraph:
            evidence[row, :-1] = np.where(asked, INTRODUCTION * introduction, NOT_ASKED_BELOW)
            if held is not None:  # a label still holds in the paragraphs below
                evidence[row] += INHERITED * (held - held[:-1].max())
        introduction = introduction and number is None
    return evidence


def _label_evidence(bank: Bank, course: Course, number: QuestionNumber) -> np.ndarray:
    fits = [_fit(course.labels.get(question.id, ()), number) for question in bank]
    return np.array([*fits, NO_QUESTION])


def _fit(labels: Sequence[str], number: QuestionNumber) -> float:
    """How well a label fits a question with these labels; the first of them fits best."""
    if not labels:
        return NOT_ASKED
    return max(_fit_one(label, number) - LATER_LABEL * place for place, label in enumerate(labels))


def _fit_one(label: str, number: QuestionNumber) -> float:
    part, _, inside = label.partition(".")
    fit = 0.0
    if number.part:
        fit += PART_FITS if number.part == part else PART_MISFITS
    if number.number and inside:
        fit += NUMBER_FITS if str(number.number) == inside else NUMBER_MISFITS
    elif inside:
        fit -= LATER_QUESTION * (int(inside) - 1) if inside.isdigit() else 0.0
    return fit


def _most(number: QuestionNumber) -> float:
    return PART_FITS * bool(number.part) + NUMBER_FITS * bool(number.number)
