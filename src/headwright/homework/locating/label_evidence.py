"""What labels and titles say for a question, under one numbering: a course that asks its questions
in a certain order, and a reading of what numbers its parts.

Numberings compete: a label that a numbering can read is worth something in it, and one that must be
ignored costs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwright.exercise.bank import Bank
from headwright.exercise.courses import Course
from headwright.homework.locating.numbering import (
    QuestionNumber,
    Reading,
    letter_runs,
    question_numbers,
    readings,
)
from headwright.homework.reading.document import Segment

# A label that names the question's part or number, or another one
PART_FITS = 2.5
PART_MISFITS = -3.0
NUMBER_FITS = 2.0
NUMBER_MISFITS = -3.0
NOT_ASKED = -4.0
NO_QUESTION = -1.0
LATER_LABEL = 0.1  # each label of a question but its first
LATER_QUESTION = 0.3  # each question of a part but its first, under the part's letter alone
# A label that some question fits; what is left of it in the paragraphs below
LABEL_READ = 6.0
INHERITED = 0.4
# In a paragraph below: a question that the course does not ask; any question before the first label
NOT_ASKED_BELOW = -0.7
INTRODUCTION = -0.7
# Another exercise has less than this share of the evidence of the best one
FOREIGN = 0.1
# By how much a title must speak for one part before all others
CLEAR_TITLE = 0.8


@dataclass(frozen=True)
class Numbering:
    """Which course the document may follow, what numbers its parts there, and where the label of
    each segment then leads to."""

    course: Course
    reading: Reading
    numbers: tuple[QuestionNumber | None, ...]


def numberings(segments: Sequence[Segment], bank: Bank) -> list[Numbering]:
    """Every course, in every reading of the labels."""
    numbers: dict[Reading, tuple[QuestionNumber | None, ...]] = {
        reading: tuple(question_numbers(segments, reading)) for reading in readings(segments)
    }
    return [Numbering(course, *reading) for course in bank.courses for reading in numbers.items()]


@dataclass(frozen=True)
class Sheet:
    """A document with what its content says: one row for each segment. `foreign`: rows of another
    exercise."""

    segments: Sequence[Segment]
    bank: Bank
    content: np.ndarray
    foreign: tuple[bool, ...]


def label_evidence(sheet: Sheet, numbering: Numbering) -> np.ndarray:
    """Evidence from labels and titles; labels of another exercise speak for no question."""
    segments = sheet.segments
    evidence = np.zeros_like(sheet.content)
    asked = np.array([question.id in numbering.course.labels for question in sheet.bank])
    titles = _titled_parts(sheet, numbering)
    held: np.ndarray | None = None  # what the last label and the title above it say
    title: np.ndarray | None = None
    introduction = True
    for row, number in enumerate(numbering.numbers):
        if row in titles:
            title = titles[row]
            held = title
            evidence[row] = LABEL_READ + title - PART_FITS
        elif number is not None and sheet.foreign[row]:
            held = None
            evidence[row, -1] = LABEL_READ
        elif number is not None:
            fit = _fits(sheet.bank, numbering.course, number)
            held = fit if title is None else fit + title - PART_FITS
            evidence[row] = LABEL_READ + held - _most(number)
        elif row and segments[row].paragraph != segments[row - 1].paragraph:
            evidence[row, :-1] = np.where(asked, INTRODUCTION * introduction, NOT_ASKED_BELOW)
            if held is not None:  # a label still holds in the paragraphs below
                evidence[row] += INHERITED * (held - held[:-1].max())
        introduction = introduction and held is None
    return evidence


def foreign_rows(segments: Sequence[Segment], content: np.ndarray) -> tuple[bool, ...]:
    """Rows of another exercise: a run through the alphabet in which nothing speaks for any
    question, beside one in which much does."""
    runs = letter_runs(segments)
    strength: dict[int | None, float] = dict.fromkeys(runs, 0.0)
    for row, run in enumerate(runs):
        best = content[row, :-1].max() - content[row, -1]
        strength[run] += max(float(best), 0.0)
    most = max(strength.values())
    return tuple(strength[run] < FOREIGN * most for run in runs)


def _titled_parts(sheet: Sheet, numbering: Numbering) -> dict[int, np.ndarray]:
    """Where headings number the parts: for the row of each title that names one part clearly, how
    it fits every question."""
    if numbering.reading != "headings":
        return {}
    part_of = [
        (question.part, *(label[0] for label in numbering.course.labels.get(question.id, ())[:1]))
        for question in sheet.bank
    ]
    found: dict[int, np.ndarray] = {}
    for row, segment in enumerate(sheet.segments):
        if segment.kind != "heading" or not segment.text.strip():
            continue
        strength: dict[tuple[str, ...], float] = dict.fromkeys(part_of, 0.0)
        for part, said in zip(part_of, sheet.content[row], strict=False):
            strength[part] = max(strength[part], float(said))
        best, second = sorted(strength, key=lambda part: -strength[part])[:2]
        if strength[best] - strength[second] >= CLEAR_TITLE:
            fits = [PART_FITS if part == best else PART_MISFITS for part in part_of]
            found[row] = np.array([*fits, NO_QUESTION])
    return found


def _fits(bank: Bank, course: Course, number: QuestionNumber) -> np.ndarray:
    if number.place:
        here = number.among(course)
        fits = [NUMBER_FITS if question.id in here else NUMBER_MISFITS for question in bank]
        return np.array([*fits, NO_QUESTION])
    return _labels_fit(tuple(course.labels.get(question.id, ()) for question in bank), number)


@functools.lru_cache(maxsize=4096)
def _labels_fit(labels: tuple[tuple[str, ...], ...], number: QuestionNumber) -> np.ndarray:
    """Documents of a class have few labels, and share them."""
    fits = np.array([*(_fit(one, number) for one in labels), NO_QUESTION])
    fits.flags.writeable = False
    return fits


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
    elif inside.isdigit():
        fit -= LATER_QUESTION * (int(inside) - 1)
    return fit


def _most(number: QuestionNumber) -> float:
    numbered = number.number or number.place
    return PART_FITS * bool(number.part) + NUMBER_FITS * bool(numbered)
