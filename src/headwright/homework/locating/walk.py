"""The most plausible walk through a document: which question stands behind each segment.

Moving from one question to the next is cheap where a label or a heading stands and expensive in the
middle of a sentence. The best walk is found exactly (Viterbi). Costs are in units of evidence.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwright.homework.reading.document import Segment

# Another question, by what stands in between: nothing, a new paragraph, a label or heading; or a
# heading stands right above, or both stand in one answer, or both ask something
INSIDE = 0
AT_BREAK = 1
AT_LABEL = 2
BELOW_HEADING = 3
IN_ANSWER = 4
BOTH_ASK = 5
GOING_ON = {INSIDE: 4.0, AT_BREAK: 2.2, AT_LABEL: 0.2, BELOW_HEADING: 0.8, IN_ANSWER: 3.0}
STAYING = {INSIDE: 0.0, AT_BREAK: 0.0, AT_LABEL: 0.6, BELOW_HEADING: 0.0, IN_ANSWER: 0.0}
GOING_ON[BOTH_ASK] = 0.0
STAYING[BOTH_ASK] = 1.5

ENTER = 1.0  # any question
LEAVE = 0.5  # all questions, or come back from there
SKIP = 0.12  # each question that is passed over
# To an earlier question
BACK = {INSIDE: 6.0, AT_BREAK: 6.0, AT_LABEL: 3.0, BELOW_HEADING: 6.0, IN_ANSWER: 12.0}
BACK[BOTH_ASK] = 3.0
ASIDE = 0.8  # to or from the section on positions, which stands in various places

_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]{3,200}\1:?")


@dataclass(frozen=True)
class Walk:
    """The question behind each segment (the number of questions: none), by how much the best other
    walk that says something else there is worse, and which table of evidence led to it."""

    questions: list[int]
    margins: np.ndarray
    table: int


def best_walk(boundaries: Sequence[int], parts: tuple[str, ...], tables: np.ndarray) -> Walk:
    """The best walk of all under several tables of evidence, across these boundaries."""
    costs = [_costs(parts, boundary) for boundary in boundaries]
    entering = np.array([ENTER] * len(parts) + [0.0])
    scores = [tables[:, 0] - entering]
    came_from: list[np.ndarray] = []
    for row, cost in enumerate(costs, start=1):
        reached = scores[-1][:, :, None] - cost
        came_from.append(reached.argmax(axis=1))
        scores.append(reached.max(axis=1) + tables[:, row])

    best = int(scores[-1].max(axis=1).argmax())
    walk = [int(scores[-1][best].argmax())]
    for before in reversed(came_from):
        walk.append(int(before[best, walk[-1]]))
    walk.reverse()

    forward = np.array([score[best] for score in scores])
    return Walk(walk, _margins(forward, tables[best], costs, walk), best)


def boundaries(segments: Sequence[Segment]) -> list[int]:
    """What stands between each segment and the next."""
    return [_boundary(before, here) for before, here in itertools.pairwise(segments)]


def _margins(
    forward: np.ndarray, evidence: np.ndarray, costs: list[np.ndarray], walk: list[int]
) -> np.ndarray:
    """For every segment, the score of the best walk less that of the best walk that says something
    else there. `forward`: the best score up to each segment."""
    onward = np.zeros_like(forward)  # the best score from each segment on
    for row in range(len(walk) - 2, -1, -1):
        onward[row] = (onward[row + 1] + evidence[row + 1] - costs[row]).max(axis=1)
    through = forward + onward
    rows = np.arange(len(walk))
    chosen = through[rows, walk]
    through[rows, walk] = -np.inf
    return chosen - through.max(axis=1)


def is_bold_line(segment: Segment) -> bool:
    """A line in bold type asks or titles what stands below it."""
    return segment.kind == "prose" and _BOLD_LINE.fullmatch(segment.text.strip()) is not None


def _boundary(before: Segment, here: Segment) -> int:
    if here.label:
        return AT_LABEL
    if before.paragraph == here.paragraph and not here.display:
        return INSIDE
    if here.kind == "heading" or is_bold_line(here):
        return AT_LABEL
    if before.kind == "heading" or is_bold_line(before):
        # A label alone on its line belongs to what follows
        is_lone_label = before.label and not before.text.strip()
        return AT_BREAK if is_lone_label else BELOW_HEADING
    if before.voice != here.voice and "question" in (before.voice, here.voice):
        return AT_LABEL
    return IN_ANSWER if before.voice == here.voice == "answer" else AT_BREAK


@functools.lru_cache(maxsize=16)
def _costs(parts: tuple[str, ...], between: int) -> np.ndarray:
    """cost[from, to] of moving between questions across such a boundary."""
    size = len(parts) + 1
    cost = np.full((size, size), STAYING[between])
    for here in range(size):
        for there in range(size):
            if here != there:
                cost[here, there] = GOING_ON[between] + _distance(parts, here, there, between)
    return cost


def _distance(parts: tuple[str, ...], here: int, there: int, between: int) -> float:
    none = len(parts)
    if there == none:
        return LEAVE
    if here == none:
        return ENTER + LEAVE
    return ENTER + _order(parts, here, there, between)


def _order(parts: tuple[str, ...], here: int, there: int, between: int) -> float:
    if (parts[here] == "p") != (parts[there] == "p"):
        return ASIDE
    return SKIP * (there - here - 1) if there > here else BACK[between]
