"""Where each question is answered.

A document is a row of segments; a hidden question stands behind each. Shapes of formulas, words and
numbering speak for questions (`evidence`), and the most plausible walk through them decides
(`walk`). Rules such as "the second formula of part b" were rejected: every course year numbers
differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from headwright.exercise.bank import Bank
from headwright.homework.locating.evidence import content_evidence
from headwright.homework.locating.label_evidence import (
    Sheet,
    foreign_rows,
    label_evidence,
    numberings,
)
from headwright.homework.locating.left_out import left_out
from headwright.homework.locating.numbering import without_lists
from headwright.homework.locating.silent import is_silent
from headwright.homework.locating.walk import Walk, best_walk, boundaries
from headwright.homework.meaning.statements import Piece
from headwright.homework.reading.document import Document, Segment

LEAST_CONFIDENCE = 0.2
MOST_CONFIDENCE = 0.99
# What a label, content of its own and the lead over other walks add, and where more adds nothing
BY_LABEL = 0.2
BY_CONTENT = 0.3
BY_MARGIN = 0.3
CLEAR_CONTENT = 6.0
CLEAR_MARGIN = 8.0
# What each doubling beyond this number of segments takes away
LONG_ANSWER = 8
LONGER = 0.06


@dataclass(frozen=True)
class Located:
    """The segments that answer one question, and how sure that is. `empty`: nothing is written
    there; `why` says how that is known, where neither its words nor its label stand there."""

    question: str
    segments: tuple[int, ...]
    span: tuple[int, int]
    confidence: float
    empty: bool = False
    why: str = ""


def locate(document: Document, bank: Bank, pieces: Sequence[Piece]) -> list[Located]:
    """The answered questions in the order of the bank; `pieces` is what the document says."""
    indices = [k for k, segment in enumerate(document.segments) if segment.kind != "code"]
    if not indices:
        return []
    segments = without_lists([document.segments[k] for k in indices])
    row_of = {k: row for row, k in enumerate(indices)}
    content = content_evidence(segments, row_of, pieces, bank)

    parts = tuple(question.part for question in bank)
    sheet = Sheet(segments, bank, content, foreign_rows(segments, content))
    competing = numberings(segments, bank)
    tables = [content + label_evidence(sheet, numbering) for numbering in competing]
    tables.append(content)  # numbering may mean nothing at all
    walk = best_walk(boundaries(segments), parts, np.stack(tables))
    blank: dict[int, range] = {}
    if walk.table < len(competing):
        blank = left_out(segments, bank, competing[walk.table], walk)

    out: list[Located] = []
    for column, question in enumerate(bank):
        rows = [row for row, reached in enumerate(walk.questions) if reached == column]
        rows = _without_introduction(segments, rows, content[:, column])
        empty = all(is_silent(segments[row]) for row in rows)
        rows = list(blank.get(column, ())) if empty else rows
        if not rows:
            continue
        span = (segments[rows[0]].start, segments[rows[-1]].end)
        confidence = _confidence(segments, rows, walk, content[:, column])
        places = tuple(indices[row] for row in rows)
        out.append(Located(question.id, places, span, confidence, empty))
    return out


def _without_introduction(
    segments: Sequence[Segment], rows: list[int], evidence: np.ndarray
) -> list[int]:
    """Without the titles and introductions before the first sign of the answer."""
    for at, row in enumerate(rows):
        if segments[row].label or evidence[row] > 0:
            return rows[at:]
    return rows


def _confidence(
    segments: Sequence[Segment], rows: list[int], walk: Walk, evidence: np.ndarray
) -> float:
    """More where a label leads here, where the answer itself speaks for the question, and where
    every walk that says something else is much worse; less in a long answer, which has more in it
    to be taken for the final word."""
    spoken = [row for row in rows if not is_silent(segments[row])] or rows
    labelled = any(segments[row].label for row in rows)
    own = max(float(evidence[row]) for row in spoken)
    margin = median(walk.margins[spoken].tolist())

    confidence = LEAST_CONFIDENCE + BY_LABEL * labelled
    confidence += BY_CONTENT * min(max(own, 0.0) / CLEAR_CONTENT, 1.0)
    confidence += BY_MARGIN * min(margin / CLEAR_MARGIN, 1.0)
    confidence -= LONGER * math.log2(max(len(spoken) / LONG_ANSWER, 1.0))
    return round(min(max(confidence, LEAST_CONFIDENCE), MOST_CONFIDENCE), 2)
