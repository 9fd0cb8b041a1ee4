"""Which questions a document asks, where the handout's text was left in it.

The handout's text falls into blocks, each with what was written under it. Which question a block
asks is told by its words (the bank's `asks`), its label and its neighbours together: the most
plausible walk through the blocks decides (`walk`), as it does for answers.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headwright.exercise.bank import Bank, Question
from headwright.exercise.courses import PART_LETTERS
from headwright.homework.locating.blocks import Block, blocks_of
from headwright.homework.locating.evidence import word_evidence
from headwright.homework.locating.label_evidence import (
    Sheet,
    foreign_rows,
    label_evidence,
    numberings,
)
from headwright.homework.locating.silent import is_silent
from headwright.homework.locating.walk import AT_LABEL, BELOW_HEADING, BOTH_ASK, best_walk
from headwright.homework.reading.document import Segment
from headwright.homework.reading.segments.who_speaks import items

# What a text says for a question: some of what it would ask about, all of it, each thing more
SOME = 1.0
ALL = 5.0
EACH = 0.5
WORDS = 0.7
SCENE = 0.4  # of that, in what a part says about all of its questions
LABELS = 0.5  # what a label says beside the handout's own words
_LABEL_TOKEN = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True)
class Asked:
    """A question in the handout's words, with the numbers of the segments that ask it and of those
    that answer it right there. `announced`: the document says that an answer belongs there.
    `margin`: by how much any other reading of the handout is worse."""

    question: str
    segments: tuple[int, ...]
    answer: tuple[int, ...]
    announced: bool = False
    margin: float = 0.0
    why: str = ""  # it counts as asked, where its words do not stand there


def asked_questions(segments: Sequence[Segment], bank: Bank) -> list[Asked]:
    """All questions that the handout's text asks, in document order."""
    blocks = list(blocks_of(segments))
    if not any(block.asks for block in blocks):
        return []
    questions, margins = _walked(segments, blocks, bank)
    found: list[Asked] = []
    previous: Block | None = None
    for block, question, margin in zip(blocks, questions, margins, strict=True):
        if not block.asks or not question:
            continue
        here = Asked(question, block.segments, block.answer, block.announced, margin)
        goes_on = previous is not None and previous.item == block.item
        if goes_on and found[-1].question == question:
            found[-1] = _joined(found[-1], here)
        else:
            found.append(here)
        previous = block
    return _answered_together(segments, _answered_below(segments, found))


def _joined(first: Asked, second: Asked) -> Asked:
    """One question in two blocks."""
    return replace(
        first,
        segments=first.segments + second.segments,
        answer=first.answer + second.answer,
        announced=first.announced or second.announced,
        margin=max(first.margin, second.margin),
    )


# ----------------------------------------------------------------------- which question it is


def _walked(
    segments: Sequence[Segment], blocks: list[Block], bank: Bank
) -> tuple[list[str], list[float]]:
    """For every block the question it asks (empty: none), and by how much that is sure."""
    rows = [_as_row(segments, block, place) for place, block in enumerate(blocks)]
    content = np.zeros((len(blocks), len(bank.questions) + 1))
    for row, block in enumerate(blocks):
        weight = 1.0 if block.asks else SCENE
        content[row] = weight * text_evidence(bank, block.text)
    sheet = Sheet(rows, bank, content, foreign_rows(rows, content))
    tables = [content + LABELS * label_evidence(sheet, one) for one in numberings(rows, bank)]
    between = [_between(before, here) for before, here in itertools.pairwise(blocks)]
    parts = tuple(question.part for question in bank)
    walk = best_walk(between, parts, np.stack([*tables, content]))
    ids = [*(question.id for question in bank), ""]
    return [ids[reached] for reached in walk.questions], [float(m) for m in walk.margins]


def _between(before: Block, here: Block) -> int:
    if before.asks and here.asks:
        return BOTH_ASK
    return BELOW_HEADING if before.item == here.item else AT_LABEL


def _as_row(segments: Sequence[Segment], block: Block, place: int) -> Segment:
    """A block as one segment, for the walk."""
    first = segments[block.segments[0]]
    label = block.label if block.opens else None
    return replace(first, text=block.text, label=label, paragraph=place)


def text_evidence(bank: Bank, text: str) -> np.ndarray:
    """What a piece of handout says for each question; the last entry is for none of them."""
    fits = [_fit(question, text) + WORDS * word_evidence(question.words, text) for question in bank]
    return np.array([*fits, word_evidence(bank.elsewhere, text)])


def _fit(question: Question, text: str) -> float:
    needed = question.asks.get("all", ())
    if not needed or any(_pattern(p).search(text) for p in question.asks.get("unless", ())):
        return 0.0
    found = sum(_pattern(pattern).search(text) is not None for pattern in needed)
    return ALL + EACH * found if found == len(needed) else SOME * found / len(needed)


@functools.lru_cache(maxsize=512)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# ---------------------------------------------------------------------------- answers below


def _answered_below(segments: Sequence[Segment], found: list[Asked]) -> list[Asked]:
    """Questions asked together are answered below, under the same numbers; the last of them also
    under a heading that numbers nothing."""
    asking = {k: place for place, one in enumerate(found) for k in one.segments}
    out = list(found)
    waiting: dict[int, str] = {}  # places in `found`, asked together, with their numbers
    part = ""
    reached = 0
    for item in items(segments):
        numbers = range(reached, reached + len(item))
        reached += len(item)
        part, number = _number(item[0].label, part)
        here = list(dict.fromkeys(asking[k] for k in numbers if k in asking))
        if here:
            answered = any(out[place].answer for place in waiting)
            waiting = ({} if answered else waiting) | dict.fromkeys(here, number)
        elif not any(segment.voice == "question" for segment in item):
            spoken = tuple(k for k in numbers if not is_silent(segments[k]))
            open_ones = {place: n for place, n in waiting.items() if not out[place].answer}
            place = _place_of(number if item[0].label else "", open_ones, max(waiting, default=0))
            if spoken and place is not None:
                out[place] = replace(out[place], answer=spoken)
    return out


def _answered_together(segments: Sequence[Segment], found: list[Asked]) -> list[Asked]:
    """Questions of one part that are asked one after the other, with one "Answer:" below the last,
    share what stands there, if it has a paragraph for each of them."""
    out: list[Asked] = []
    sharing = 1
    for one in reversed(found):
        after = out[-1] if out else one
        same_part = one.question.partition(".")[0] == after.question.partition(".")[0]
        if not one.answer and not one.announced and after.announced and same_part:
            sharing += 1
        else:
            sharing = 1
        if sharing > 1 and _count_paragraphs(segments, after.answer) >= sharing:
            one = replace(one, answer=after.answer, announced=True)
        out.append(one)
    out.reverse()
    return out


def _count_paragraphs(segments: Sequence[Segment], answer: Sequence[int]) -> int:
    return len({segments[k].paragraph for k in answer})


def _place_of(number: str, open_ones: dict[int, str], last: int) -> int | None:
    """Which of the open questions is answered under this number; the last one under none."""
    if not number:
        return last if last in open_ones else None
    return next((place for place, own in open_ones.items() if own == number), None)


def _number(label: str | None, part: str) -> tuple[str, str]:
    """The part that is open behind this label, and the whole number: "c ii"."""
    tokens = _LABEL_TOKEN.findall((label or "").lower())
    letters = [token for token in tokens if len(token) == 1 and token in PART_LETTERS]
    part = letters[0] if letters else part
    return part, f"{part} {tokens[-1]}" if tokens else part
