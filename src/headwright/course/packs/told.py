"""A mark in words, as a platform shows it: plain text of a bounded length, and green only where an
answer was read and has all its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwright.course.marks import VISIBLE, Graded, Mark
from headwright.homework.verdict import Verdict

_OPENING = "Judged by computation."
_OPEN = "{points:g} of {most:g} points wait for a person."
_WAITS = "(a person will read it)"
# Characters of one text. With four bytes for a character at worst, all texts together stay below
# the million bytes that the strictest platform takes.
_LONGEST = 4_000
_ALL_TEXTS = 200_000
_TEXTS_OF_A_TEST = 3


def waits(mark: Mark) -> bool:
    """Nobody has read the answer, even where the rubric gives points for it already."""
    return mark.points is None or (mark.status == "unread" and not mark.by_hand)


def passes(mark: Mark) -> bool:
    """All points, of more than none, for an answer that was read."""
    return not waits(mark) and mark.max_points > 0 and mark.points == mark.max_points


def name(mark: Mark, titles: Mapping[str, str]) -> str:
    words = [mark.question, titles.get(mark.question, ""), _WAITS if waits(mark) else ""]
    return " ".join(word for word in words if word)


def opening(graded: Graded) -> list[str]:
    """The lines above the tests. Points that wait are counted where the student may see the tests:
    the others would give away what is hidden."""
    lines = [_OPENING]
    seen = [mark for mark in graded.marks if mark.visibility == VISIBLE]
    open_points = sum(mark.max_points for mark in seen if mark.points is None)
    if open_points:
        most = sum(mark.max_points for mark in seen)
        lines.append(_OPEN.format(points=open_points, most=most))
    if graded.report.unread:
        lines.append(f"{graded.report.document}: {graded.report.unread}")
    return lines


def sentences(mark: Mark, verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return [f"{mark.status}: nothing was found", *([mark.text] if mark.text else [])]
    lines = [f"{verdict.status}: {verdict.reason}", mark.text, verdict.answer]
    if verdict.repair:
        lines.append(f"Smallest repair: {verdict.repair}")
    lines += verdict.remarks
    for step in verdict.steps:
        part = step.question.partition("/step:")[2]
        lines.append(f"Step {part}: {step.status}. {step.reason}")
    if mark.by_hand:
        lines.append(f"Points given by a person: {mark.by_hand}")
    return [line for line in lines if line]


def text(lines: Sequence[str], tests: int = 0) -> str:
    """The lines as one text in results with so many tests: cut where it is too long for all of them
    to fit, and without characters that a page cannot show."""
    most = min(_LONGEST, _ALL_TEXTS // (_TEXTS_OF_A_TEST * (tests + 1)))
    whole = "\n".join(lines)
    clean = "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in whole)
    return clean if len(clean) <= most else f"{clean[: most - 2].rstrip()} …"
