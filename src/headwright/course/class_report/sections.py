"""The parts of the page that say how the class did as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from statistics import fmean, median

from headwright.course.class_report.alike import SHORTEST, Alike
from headwright.course.class_report.bars import bar, counted_share, status_bar
from headwright.course.class_report.spread import BINS, Question, Totals
from headwright.course.people import Student
from headwright.homework.showing.exports import STATUSES, Fault
from headwright.homework.showing.pages import SIGNS, Draw, Titles, shown
from headwright.report.notation import set_around_quotes, set_plain

Linked = Callable[[Student], str]  # a student as HTML, with a link to the page
_MOST_ALIKE = 30
_MOST_NAMED = 12


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def points(found: Totals) -> str:
    """The distribution of totals."""
    whole = sum(found.bins) + found.still_open
    if not whole:
        return ""
    lines = [
        _share_row(f"{10 * k}–{10 * k + 9 if k < BINS - 1 else 100}%", number, whole)
        for k, number in enumerate(found.bins)
    ]
    if found.still_open:
        lines.append(_share_row("open", found.still_open, whole))
    said = ["Share of the points, in hand-ins; the full width is all of them."]
    if found.shares:
        mean = 100 * fmean(found.shares)
        middle = 100 * median(found.shares)
        said.append(f"Mean {mean:.0f}%, median {middle:.0f}%.")
    if found.still_open:
        said.append("Open: some points wait for a person.")
    return section("Points", _soft(" ".join(said)), _table("shares", lines))


def _share_row(name: str, number: int, whole: int) -> str:
    said = counted_share(number, whole) if number else ""
    return f'<tr><th>{name}</th><td>{bar(number, whole)}</td><td class="number">{said}</td></tr>'


def questions(found: Sequence[Question], titles: Titles, whole: int) -> str:
    """The distribution of statuses, and the mean points."""
    legend = " ".join(
        f'<span class="s-{status}"><span class="sign">{SIGNS[status]}</span> {status}</span>'
        for status in STATUSES
    )
    lines = [_question(one, titles.get(one.id, ""), whole) for one in found]
    table = _table("shares by-question", lines)
    return section("Questions", f'<p class="legend">{legend}</p>', table)


def _question(one: Question, title: str, whole: int) -> str:
    name = f'<th>{escape(one.id)}<span class="under">{set_plain(title)}</span></th>'
    mean = "–" if one.mean is None else f"{one.mean:.2g}"
    numbers = f"{_numbers(one.statuses)}<br>mean {mean} of {one.max_points:g}"
    bars = f"<td>{status_bar(one.statuses, whole)}</td>"
    return f'<tr>{name}{bars}<td class="number">{numbers}</td></tr>'


def _numbers(counts: Counter[str]) -> str:
    return " ".join(
        f'<span class="s-{status}"><span class="sign">{SIGNS[status]}</span>{counts[status]}</span>'
        for status in STATUSES
        if counts[status]
    )


def faults(found: Sequence[Fault], whole: int, draw: Draw) -> str:
    """The most common ones."""
    if not found:
        return ""
    said = "The full width is all hand-ins. Reasons that differ only in numbers are one fault."
    lines = [_fault(one, whole, draw) for one in found]
    return section("Most common faults", _soft(said), _table("faults", lines))


def _fault(fault: Fault, whole: int, draw: Draw) -> str:
    number = len(fault.documents)
    share = f"{bar(number, whole)}{counted_share(number, whole)}"
    status = f'<span class="status">{SIGNS[fault.status]} {escape(fault.question)}</span>'
    answer = f'<div class="answer">{shown(fault.answer, draw)}</div>'
    said = f"<td>{status}{answer}{set_around_quotes(fault.reason)}</td>"
    return f'<tr class="s-{fault.status}"><td class="share">{share}</td>{said}</tr>'


def same_answers(found: Sequence[Alike], linked: Linked) -> str:
    if not found:
        return ""
    said = (
        "Word for word but for layout, as far as they are quoted. Only answers of at least "
        f"{SHORTEST} characters without spaces; right formulas are left out. There can be many "
        "reasons: a text that all had, work in a group that was allowed."
    )
    lines = [_same(one, linked) for one in found[:_MOST_ALIKE]]
    more = len(found) - _MOST_ALIKE
    rest = _soft(f"{more} more, all of them shorter.") if more > 0 else ""
    return section("The same answer by several students", _soft(said), _table("", lines), rest)


def _same(one: Alike, linked: Linked) -> str:
    names = "<br>".join(linked(student) for student in one.students[:_MOST_NAMED])
    more = len(one.students) - _MOST_NAMED
    rest = f'<br><span class="soft">and {more} more</span>' if more > 0 else ""
    question = f"<th>{escape(one.question)}</th>"
    answer = f"<td>{escape(one.answer)}</td>"
    return f'<tr>{question}{answer}<td class="names">{names}{rest}</td></tr>'


def listed(title: str, said: str, items: Sequence[str]) -> str:
    """Names, as HTML, in a list that is as long as it must be."""
    if not items:
        return ""
    lines = "".join(f"<li>{item}</li>" for item in items)
    return section(f"{title}: {len(items)}", _soft(said), f"<ul>{lines}</ul>")


def _soft(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>'


def _table(kind: str, lines: Sequence[str]) -> str:
    return f'<div class="wide"><table class="{kind}">{"".join(lines)}</table></div>'
