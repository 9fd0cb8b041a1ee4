"""How the class did: statuses and mean points by question, totals in tenths of what there was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from headwright.course.marks import Graded, Mark

BINS = 10


@dataclass(frozen=True)
class Question:
    """One question over the class. `mean` is over the marks that are settled; None where none
    is."""

    id: str
    statuses: Counter[str]
    mean: float | None
    max_points: float


@dataclass(frozen=True)
class Totals:
    """`bins[k]` hand-ins have at least k tenths of their points, and less than k + 1 (the last one
    has the full marks, too); `still_open` ones wait for a person and are in no bin."""

    bins: tuple[int, ...]
    still_open: int
    shares: tuple[float, ...]  # of the settled ones


def by_question(graded: Sequence[Graded]) -> list[Question]:
    """In the order of the bank, which is that of the marks."""
    marks: dict[str, list[Mark]] = {}
    for one in graded:
        for mark in one.marks:
            marks.setdefault(mark.question, []).append(mark)
    return [_question(id, given) for id, given in marks.items()]


def _question(id: str, marks: Sequence[Mark]) -> Question:
    settled = [mark.points for mark in marks if mark.points is not None]
    return Question(
        id,
        Counter(mark.status for mark in marks),
        fmean(settled) if settled else None,
        max(mark.max_points for mark in marks),
    )


def totals(graded: Iterable[Graded]) -> Totals:
    worth = [one for one in graded if one.max_points]
    settled = [one for one in worth if not one.open_points]
    shares = tuple(one.points / one.max_points for one in settled)
    # A share that rounding leaves just below a tenth belongs to that tenth.
    counts = Counter(min(BINS - 1, int(share * BINS + 1e-9)) for share in shares)
    bins = tuple(counts[k] for k in range(BINS))
    return Totals(bins, len(worth) - len(settled), shares)
