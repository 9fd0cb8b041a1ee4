"""The marks of one hand-in, for the student: on every page of theirs, above the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headwright.course.marks import VISIBLE, Graded, Mark
from headwright.homework.showing.pages import SIGNS

_ONE_HAND_IN = '<p class="soft">Your documents count as one; the best answer is taken.</p>'


def own_marks(graded: Graded, documents: int = 1) -> str:
    """Points and the rubric's texts. As long as a question is hidden there is no total: it would
    tell what the answer got."""
    seen = [mark for mark in graded.marks if mark.visibility == VISIBLE]
    if not seen:
        return ""
    heading = _total(graded) if len(seen) == len(graded.marks) else "Points"
    lines = "".join(_line(mark) for mark in seen)
    table = f'<div class="wide"><table>{lines}</table></div>'
    return f"<section><h2>{heading}</h2>{_ONE_HAND_IN if documents > 1 else ''}{table}</section>"


def _total(graded: Graded) -> str:
    still_open = f", {graded.open_points:g} still open" if graded.open_points else ""
    return f"{graded.points:.4g} of {graded.max_points:g} points{still_open}"


def _line(mark: Mark) -> str:
    earned = "open" if mark.points is None else f"{mark.points:.4g}"
    points = f"{earned}&nbsp;of&nbsp;{mark.max_points:g}"
    status = f'<td class="status">{SIGNS[mark.status]} {mark.status}</td>'
    cells = f"<th>{escape(mark.question)}</th>{status}<td>{points}</td>"
    return f'<tr class="s-{mark.status}">{cells}<td>{"<br>".join(_said(mark))}</td></tr>'


def _said(mark: Mark) -> Sequence[str]:
    by_hand = f"Points given by a person: {mark.by_hand}" if mark.by_hand else ""
    waits = "A person will read it." if mark.points is None else ""
    return [escape(text) for text in (mark.text, by_hand, waits) if text]
