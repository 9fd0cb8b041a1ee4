"""Every question that a document asks has a row: judged, unread or missing.

The walk through a document finds answers; it says nothing about a question that nobody answered,
and may pass over one whose answer looks like its neighbour's. What the handout's own words ask is
added here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headwright.exercise.bank import Bank
from headwright.homework.locating.asked import Asked, asked_questions
from headwright.homework.locating.editions import numbered_questions
from headwright.homework.locating.locate import Located
from headwright.homework.locating.silent import is_silent
from headwright.homework.reading.document import Document, Segment

# Confidence that what follows a question's words answers it, and what a clear lead over every other
# reading of the handout adds
ASKED = 0.6
BY_LEAD = 0.39
CLEAR_LEAD = 6.0
FEW_ASKED = 2


def with_every_question(document: Document, found: list[Located], bank: Bank) -> list[Located]:
    """The located answers, and a row for every question that is asked, in the order of the bank."""
    segments = document.segments
    rows = {located.question: located for located in found}
    known = {question.id for question in bank}
    asked = [one for one in _asked(segments, found, bank) if one.question in known]
    shared = Counter(one.answer for one in asked)
    for place, one in enumerate(asked):
        row = rows.get(one.question)
        if one.answer:
            better = row is None or row.empty or shared[one.answer] == 1
        else:
            better = row is None or _is_borrowed(segments, row, asked, place)
        if better:
            rows[one.question] = _row(document, one)
    rows = _without_questions(segments, rows, asked)
    return [rows[question.id] for question in bank if question.id in rows]


def _asked(segments: Sequence[Segment], found: list[Located], bank: Bank) -> list[Asked]:
    """In the handout's words, or else by its numbers."""
    worded = asked_questions(segments, bank)
    named = {one.question for one in worded}
    places = {located.question: set(located.segments) for located in found if not located.empty}
    places |= {one.question: set(one.answer) for one in worded}
    by_number = numbered_questions(segments, places, bank)
    numbered = [one for one in by_number if one.question not in named]
    if len(named) >= FEW_ASKED:  # the handout is there, and says itself what it asks
        numbered = [one for one in numbered if not one.why]
    return worded + numbered


def _without_questions(
    segments: Sequence[Segment], rows: dict[str, Located], asked: list[Asked]
) -> dict[str, Located]:
    """Without rows that consist of nothing but the words of another question."""
    named = {one.question for one in asked}
    asking = {k for one in asked for k in one.segments}
    kept: dict[str, Located] = {}
    for question, row in rows.items():
        silent = all(is_silent(segments[k]) for k in row.segments)
        if question in named or not silent or asking.isdisjoint(row.segments):
            kept[question] = row
    return kept


def _row(document: Document, one: Asked) -> Located:
    places = one.segments + one.answer
    span = (document.segments[places[0]].start, document.segments[places[-1]].end)
    sure = ASKED + BY_LEAD * min(one.margin / CLEAR_LEAD, 1.0)
    return Located(one.question, places, span, round(sure, 2), not one.answer, one.why)


def _is_borrowed(segments: Sequence[Segment], row: Located, asked: list[Asked], place: int) -> bool:
    """Does this row consist of what stands under other questions, or above this one, only?"""
    one = asked[place]
    spoken = {k for k in row.segments if not is_silent(segments[k])}
    if not spoken:
        return True
    if one.why:
        return False
    above = one.announced and max(spoken) < one.segments[0]
    return above or spoken <= {k for other in asked for k in other.answer}
