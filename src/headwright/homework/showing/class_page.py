"""The index of a class: the distribution of verdicts, the most common faults, and a table of
documents and questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from headwright.homework.showing.exports import STATUSES, Fault, faults, tallies
from headwright.homework.showing.pages import CSS, SIGNS, Draw, Titles, as_text, counted, shown
from headwright.homework.verdict import WHOLE, Report, Verdict
from headwright.report.page import page


@dataclass(frozen=True)
class Entry:
    """What the index needs to know of a page that is already written."""

    report: Report
    file: str


def index_page(entries: Sequence[Entry], titles: Titles, *, draw: Draw = as_text) -> str:
    reports = [entry.report for entry in entries]
    counts = tallies(reports, titles)
    total = Counter(verdict.status for report in reports for verdict in report.verdicts)
    plural = "s" if len(entries) != 1 else ""
    body = [
        CSS,
        f"<h1>{len(entries)} document{plural}</h1><p>{counted(total)}</p>",
        _distribution(counts, titles),
        _common(faults(reports), draw),
        _matrix(entries, list(counts)),
    ]
    described = "Distribution of verdicts and most common faults"
    return page("The class", "\n".join(body), description=described)


def _distribution(counts: dict[str, Counter[str]], titles: Titles) -> str:
    legend = " ".join(
        f'<span class="s-{status}">{_sign(status)} {status}</span>' for status in STATUSES
    )
    lines = []
    for question, count in counts.items():
        title = escape(titles.get(question, ""), quote=True)
        name = f'<th title="{title}">{escape(question)}</th>'
        bar = f'<td style="width:60%">{_bar(count)}</td>'
        lines.append(f'<tr>{name}{bar}<td class="number">{_numbers(count)}</td></tr>')
    table = f'<div class="wide"><table style="width:100%">{"".join(lines)}</table></div>'
    return f'<section><h2>By question</h2><p class="legend">{legend}</p>{table}</section>'


def _sign(status: str) -> str:
    return f'<span class="sign">{SIGNS[status]}</span>'


def _bar(counts: Counter[str]) -> str:
    pieces = []
    for status in STATUSES:
        number = counts[status]
        if number:
            title = f"{number} {status}"
            pieces.append(f'<span class="s-{status}" style="flex:{number}" title="{title}"></span>')
    return f'<div class="bar">{"".join(pieces)}</div>'


def _numbers(counts: Counter[str]) -> str:
    found = [status for status in STATUSES if counts[status]]
    return " ".join(f'<span class="s-{s}">{_sign(s)}{counts[s]}</span>' for s in found)


def _common(found: Sequence[Fault], draw: Draw) -> str:
    if not found:
        return ""
    table = f"<table>{''.join(_fault(fault, draw) for fault in found)}</table>"
    return f'<section><h2>Most common faults</h2><div class="wide">{table}</div></section>'


def _fault(fault: Fault, draw: Draw) -> str:
    number = f'<td class="number">{len(fault.documents)}×</td>'
    question = f"<td>{escape(fault.question)}</td>"
    status = f'<span class="status">{SIGNS[fault.status]}</span>'
    said = f"<td>{status} {shown(fault.answer, draw)}<br>{escape(fault.reason)}</td>"
    return f'<tr class="s-{fault.status}">{number}{question}{said}</tr>'


def _matrix(entries: Sequence[Entry], questions: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(q).replace('.', '.<br>')}</th>" for q in questions)
    lines = "".join(_row(entry, questions) for entry in entries)
    table = f'<table class="matrix"><tr><th>document</th>{head}</tr>{lines}</table>'
    return f'<section><h2>By document</h2><div class="wide">{table}</div></section>'


def _row(entry: Entry, questions: Sequence[str]) -> str:
    verdicts = {verdict.question: verdict for verdict in entry.report.verdicts}
    name = escape(Path(entry.report.document).name)
    link = f'<a href="{escape(entry.file, quote=True)}">{name}</a>'
    if WHOLE in verdicts:
        reason = escape(verdicts[WHOLE].reason)
        width = max(1, len(questions))
        return f'<tr><td>{link}</td><td class="s-unread" colspan="{width}">{reason}</td></tr>'
    cells = "".join(_cell(verdicts.get(question)) for question in questions)
    return f"<tr><td>{link}</td>{cells}</tr>"


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "<td></td>"
    title = escape(verdict.reason, quote=True)
    return f'<td class="s-{verdict.status}" title="{title}">{_sign(verdict.status)}</td>'
