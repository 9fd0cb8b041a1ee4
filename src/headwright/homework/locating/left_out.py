"""Questions whose number stands in the document with nothing behind it.

Labels tell what was left out only where they are trusted: where the answers that were found stand
under the numbers that their course gives them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwright.exercise.bank import Bank
from headwright.homework.locating.label_evidence import Numbering
from headwright.homework.locating.numbering import QuestionNumber
from headwright.homework.locating.silent import is_silent
from headwright.homework.locating.walk import Walk
from headwright.homework.reading.document import Segment

LEAST_AGREEING = 2
MOST_DISAGREEING = 0.5  # of those that agree


@dataclass(frozen=True)
class _Item:
    """The rows under one label, the questions that may have it, and the one found there."""

    rows: range
    may_be: tuple[int, ...]
    found: int | None

    @property
    def agrees(self) -> bool:
        return self.found in self.may_be


def left_out(
    segments: Sequence[Segment], bank: Bank, numbering: Numbering, walk: Walk
) -> dict[int, range]:
    """Columns of the questions that were left out, with the rows of their labels."""
    items = list(_items(segments, bank, numbering, walk))
    answered = [item for item in items if item.found is not None]
    agreeing = [item for item in answered if item.agrees]
    disagreeing = len(answered) - len(agreeing)
    if len(agreeing) < LEAST_AGREEING or disagreeing > MOST_DISAGREEING * len(agreeing):
        return {}

    taken = {item.found for item in answered}
    out: dict[int, range] = {}
    for place, item in enumerate(items):
        if item.found is None:
            free = [column for column in item.may_be if column not in taken | set(out)]
            beside = _beside(items, place)
            if free and beside is not None:
                out[_nearest(free, beside)] = item.rows
    return out


def _items(
    segments: Sequence[Segment], bank: Bank, numbering: Numbering, walk: Walk
) -> Iterator[_Item]:
    none = len(bank.questions)
    labelled = [row for row, number in enumerate(numbering.numbers) if number is not None]
    for row, after in itertools.pairwise([*labelled, len(segments)]):
        number = numbering.numbers[row]
        assert number is not None
        rows = range(row, _end(segments, row, after))
        spoken = [walk.questions[k] for k in rows if not is_silent(segments[k])]
        known = [column for column in spoken if column != none]
        found = max(set(known), key=known.count) if known else None
        if spoken and found is None:
            continue  # it says something, and nobody knows what
        yield _Item(rows, _having(number, bank, numbering), found)


def _end(segments: Sequence[Segment], row: int, after: int) -> int:
    """Where the item ends: before the next label, or before a title that numbers nothing."""
    below = range(row + 1, after)
    titles = [k for k in below if segments[k].kind == "heading" and segments[k].label is None]
    return titles[0] if titles else after


def _having(number: QuestionNumber, bank: Bank, numbering: Numbering) -> tuple[int, ...]:
    """The questions that have this number in the course."""
    asked = numbering.course.labels
    if number.place:
        ids = number.among(numbering.course)
    else:
        label = f"{number.part}.{number.number}" if number.number else number.part
        ids = [id for id, labels in asked.items() if number.part and label in labels]
    return tuple(column for column, question in enumerate(bank) if question.id in ids)


def _beside(items: list[_Item], place: int) -> int | None:
    """What was found under the next number, or else under the last one."""
    others = [*items[place + 1 :], *reversed(items[:place])]
    return next((item.found for item in others if item.agrees), None)


def _nearest(columns: list[int], beside: int) -> int:
    return min(columns, key=lambda column: abs(column - beside))
