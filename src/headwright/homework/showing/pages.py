"""A report to look at: one page per document with every judged span marked in the student's text.

Self-contained HTML; everything that came from a document is escaped. How a formula is shown is the
caller's choice (`draw`). No page leads to another, so that each student can be sent theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from headwright.homework.showing.example_tables import counterexample
from headwright.homework.showing.exports import STATUSES
from headwright.homework.showing.quoting import formulas_and_words
from headwright.homework.verdict import WHOLE, Report, Verdict
from headwright.report.formula import formula
from headwright.report.notation import set_around_quotes, set_plain
from headwright.report.page import page

SIGNS = {"correct": "✓", "incomplete": "◐", "wrong": "✗", "missing": "–", "unread": "?"}
Titles = Mapping[str, str]  # question id -> what it asks about
Draw = Callable[[str], str]  # LaTeX -> HTML
# Of a document's page, by which it is known again
DESCRIPTION = "Written answers judged by computation"
# Where a course puts the marks of the hand-in; no document can write it, its "<" would be escaped
PLACE_OF_MARKS = "<!-- marks -->"
_MOST_TEXT = 200_000  # characters of a document shown on its page
CSS = """
<style>
.status{font-weight:600;white-space:nowrap}
.s-correct{--s:var(--ok)}.s-incomplete{--s:var(--maybe)}.s-wrong{--s:var(--no)}\
.s-missing,.s-unread{--s:var(--soft)}
.status,.sign{color:var(--s)}
article{border-left:4px solid var(--s)}
mark{background:color-mix(in srgb,var(--s) 12%,transparent);color:inherit;
border-radius:2px;scroll-margin-top:4rem}
mark a,.plain{color:inherit;text-decoration:none}
mark a{border-bottom:2px solid var(--s)}
mark sup{color:var(--s);font-weight:600;font-size:.7em;margin-left:.15em}
.source{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.86rem;line-height:1.6}
.answer{overflow-x:auto;padding:.35rem 0}
table.numbers{font-size:.82rem;margin:.2rem 0}
.numbers td,.numbers th{padding:.1rem .45rem;text-align:right;white-space:nowrap}
.numbers th:first-child{text-align:left}
.bar-of-weight{width:12rem;min-width:5rem}
.bar-of-weight i{display:block;height:.7rem;background:var(--key);border-radius:2px;min-width:1px}
h1{overflow-wrap:anywhere}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:2px solid var(--line);color:var(--soft)}
details summary{cursor:pointer}
</style>
"""


def as_text(latex: str) -> str:
    return f"<code>{escape(latex[:1000])}</code>"


def drawn(latex: str) -> str:
    """The formula as a picture; what the drawing program does not know is shown as it was written.
    For judging processes: how long drawing takes is in the hands of whoever wrote the formula."""
    if len(latex) <= 300 and not re.search(r"[^\x00-\x7f]{4}|\\text\{[^{}]{80}", latex):
        try:
            return formula(latex)
        except Exception:
            # A typesetter fails in many ways on what students write; all mean "show the source".
            return as_text(latex)
    return as_text(latex)


def document_page(
    report: Report,
    text: str,
    titles: Titles,
    *,
    draw: Draw = as_text,
    hidden: Collection[str] = (),
) -> str:
    """`hidden` are questions that the student is told nothing about."""
    told = tuple(verdict for verdict in report.verdicts if verdict.question not in hidden)
    report = replace(report, verdicts=told)
    name = Path(report.document).name or report.document
    counts = Counter(verdict.status for verdict in report.verdicts)
    notes = [f'<p class="soft">{escape(note)}</p>' for note in report.notes]
    cards = [
        _card(i, verdict, titles.get(verdict.question, ""), draw)
        for i, verdict in enumerate(report.verdicts)
    ]
    heading = [f"<h1>{escape(name)}</h1>", f"<p>{counted(counts)}</p>", *notes]
    body = [CSS, *heading, PLACE_OF_MARKS, *cards]
    if text:
        source = f'<div class="source">{_marked(report, text)}</div>'
        body.append(f"<h2>The document</h2><section>{source}</section>")
    return page(f"{name}: verdicts", "\n".join(body), description=DESCRIPTION)


def counted(counts: Counter[str]) -> str:
    """How often each status occurs, with its sign."""
    parts = [
        f'<span class="status s-{status}">{SIGNS[status]} {counts[status]} {status}</span>'
        for status in STATUSES
        if counts[status]
    ]
    return " · ".join(parts)


def _card(i: int, verdict: Verdict, title: str, draw: Draw) -> str:
    """Everything that is said about one answer."""
    parts = [
        _heading(i, verdict),
        f'<p class="soft">{set_plain(title)}</p>' if title else "",
        _answer(verdict, draw),
        f"<p>{set_around_quotes(verdict.reason)}</p>",
        counterexample(verdict.counterexample),
        f"<p><b>Smallest repair:</b> {set_plain(verdict.repair)}</p>" if verdict.repair else "",
        *(f'<p class="soft">{set_around_quotes(remark)}</p>' for remark in verdict.remarks),
        _steps(verdict.steps, draw),
    ]
    return f'<article class="s-{verdict.status}" id="v{i}">{"".join(parts)}</article>'


def _heading(i: int, verdict: Verdict) -> str:
    name = "the document" if verdict.question == WHOLE else verdict.question
    status = f'<span class="status">{SIGNS[verdict.status]} {verdict.status}</span>'
    where = ""
    if verdict.span:
        where = f'<a class="soft" href="#at{i}">line {verdict.span.line_start}</a>'
    return f"<h2>{escape(name)} {status} {where}</h2>"


def _answer(verdict: Verdict, draw: Draw) -> str:
    if not verdict.answer:
        return ""
    said = shown(verdict.answer, draw)
    if is_prose(verdict.answer):
        return f"<blockquote>{said}</blockquote>"
    return f'<div class="answer">{said}</div>'


def is_prose(answer: str) -> bool:
    return any(not formula for formula, _ in formulas_and_words(answer))


def shown(answer: str, draw: Draw) -> str:
    """Words as words, formulas drawn."""
    pieces = formulas_and_words(answer)
    if all(formula for formula, _ in pieces):
        return draw(answer.strip("$"))
    return "".join(
        _drawn_in_text(text, draw) if formula else escape(text) for formula, text in pieces
    )


def _drawn_in_text(formula: str, draw: Draw) -> str:
    """With the spaces that keep it apart from the words beside it."""
    before = " " if formula[:1].isspace() else ""
    after = " " if formula[-1:].isspace() else ""
    return f"{before}{draw(formula.strip())}{after}"


def as_shown(verdict: Verdict) -> dict[str, str]:
    """The answer and its counterexample in the markup of these pages, for the lab."""
    answer = _answer(verdict, drawn)
    return {"answer": answer, "counterexample": counterexample(verdict.counterexample)}


def _steps(steps: Sequence[Verdict], draw: Draw) -> str:
    if not steps:
        return ""
    lines = "".join(_step(step, draw) for step in steps)
    table = f'<div class="wide"><table>{lines}</table></div>'
    return f"<details open><summary>Steps on the way ({len(steps)})</summary>{table}</details>"


def _step(step: Verdict, draw: Draw) -> str:
    status = f'<td class="status">{SIGNS[step.status]} {step.status}</td>'
    answer = shown(step.answer, draw) if step.answer else ""
    reason = set_around_quotes(step.reason)
    return f'<tr class="s-{step.status}">{status}<td>{answer}<br>{reason}</td></tr>'


# ------------------------------------------------------------------------------- the student's text


def _marked(report: Report, text: str) -> str:
    """The source with every judged span highlighted; where spans overlap the earlier one wins."""
    spans = sorted(
        (v.span.start, v.span.end, i, v)
        for i, v in enumerate(report.verdicts)
        if v.span and 0 <= v.span.start < v.span.end <= len(text)
    )
    out = []
    at = 0
    for span_start, end, i, verdict in spans:
        start = max(span_start, at)
        if start >= end or start > _MOST_TEXT:
            out.append(f'<span id="at{i}"></span>')
            continue
        out.append(escape(text[at:start]))
        out.append(_mark(i, verdict, text[start:end]))
        at = end
    shown = max(at, _MOST_TEXT)
    out.append(escape(text[at:shown]))
    if len(text) > shown:
        out.append('<p class="soft">… the rest is not shown.</p>')
    return "".join(out)


def _mark(i: int, verdict: Verdict, text: str) -> str:
    title = escape(verdict.reason, quote=True)
    sign = f"<sup>{escape(verdict.question)} {SIGNS[verdict.status]}</sup>"
    link = f'<a href="#v{i}">{escape(text)}{sign}</a>'
    return f'<mark id="at{i}" class="s-{verdict.status}" title="{title}">{link}</mark>'
