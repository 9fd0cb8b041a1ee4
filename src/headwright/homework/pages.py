"""Reports to look at: one page per document with every judged span marked in the student's text,
and an index with the class's distribution and most common faults. Self-contained HTML; everything
that came from a document is escaped. How a formula is shown is the caller's choice (`draw`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from headwright.homework.exports import STATUSES, Fault, faults, tallies
from headwright.homework.verdict import WHOLE, Report, Verdict
from headwright.report.formula import formula
from headwright.report.page import page
from headwright.result import plain

SIGNS = {"correct": "✓", "incomplete": "◐", "wrong": "✗", "missing": "–", "unread": "?"}
Titles = Mapping[str, str]  # question id -> what it asks about
Draw = Callable[[str], str]  # LaTeX -> HTML
# Of a document's page, by which it is known again
DESCRIPTION = "Written answers judged by computation"
_MOST_TEXT = 200_000  # characters of a document shown on its page
_CSS = """
<style>
.status{font-weight:600;white-space:nowrap}
.s-correct{--s:var(--ok)}.s-incomplete{--s:var(--maybe)}.s-wrong{--s:var(--no)}.s-missing,.s-unread{--s:var(--soft)}
.status,.sign{color:var(--s)}
article{border-left:4px solid var(--s)}
mark{background:color-mix(in srgb,var(--s) 18%,transparent);color:inherit;
border-bottom:2px solid var(--s);border-radius:2px;scroll-margin-top:4rem}
mark a,.plain{color:inherit;text-decoration:none}
mark sup{color:var(--s);font-weight:600;font-size:.7em;margin-left:.15em}
.source{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.86rem;line-height:1.6}
.answer{overflow-x:auto;padding:.35rem 0}
.bar{display:flex;height:1rem;min-width:9rem;border-radius:.25rem;overflow:hidden;gap:1px}
.bar span{background:var(--s)}
.bar .s-missing,.bar .s-unread{opacity:.45}
.bar .s-incomplete{background-image:repeating-linear-gradient(135deg,transparent 0 4px,rgba(255,255,255,.35) 4px 7px)}
.matrix td,.matrix th{padding:.15rem .35rem;text-align:center}
.matrix td:first-child,.matrix th:first-child{text-align:left}
.weights{display:grid;grid-template-columns:auto 1fr auto;gap:.15rem .6rem;
align-items:center;max-width:26rem;font-size:.85rem}
.number span{white-space:nowrap}
.weights i{display:block;height:.7rem;background:var(--key);border-radius:2px;min-width:1px}
.legend>span{margin-right:1rem;white-space:nowrap}
h1{overflow-wrap:anywhere}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:2px solid var(--line);color:var(--soft)}
details summary{cursor:pointer}
</style>
"""


@dataclass(frozen=True)
class Entry:
    """What the index needs to know of a page that is already written."""

    report: Report
    file: str


# ---------------------------------------------------------------------------------------------- formulas


def as_text(latex: str) -> str:
    return f"<code>{escape(latex[:1000])}</code>"


def drawn(latex: str) -> str:
    """The formula as a picture; what the drawing program does not know is shown as it was written.
    For worker processes: how long drawing takes is in the hands of whoever wrote the formula."""
    if len(latex) <= 300 and not re.search(r"[^\x00-\x7f]{4}|\\text\{[^{}]{80}", latex):
        try:
            return formula(latex)
        except (
            Exception
        ):  # a typesetter fails in many ways on what students write; all mean "show the source"
            pass
    return as_text(latex)


# -------------------------------------------------------------------------------------------- one document


def document_page(report: Report, text: str, titles: Titles, *, draw: Draw = as_text) -> str:
    name = Path(report.document).name or report.document
    body = [
        _CSS,
        f'<p class="soft"><a href="index.html">All documents</a></p><h1>{escape(name)}</h1>',
        f"<p>{_counted(Counter(v.status for v in report.verdicts))}</p>",
        *(f'<p class="soft">{escape(note)}</p>' for note in report.notes),
        *(
            _card(i, verdict, titles.get(verdict.question, ""), draw)
            for i, verdict in enumerate(report.verdicts)
        ),
    ]
    if text:
        body.append(
            f'<h2>The document</h2><section><div class="source">{_marked(report, text)}</div></section>'
        )
    return page(f"{name}: verdicts", "\n".join(body), description=DESCRIPTION)


def _counted(counts: Counter[str]) -> str:
    return " · ".join(
        f'<span class="status s-{s}">{SIGNS[s]} {counts[s]} {s}</span>'
        for s in STATUSES
        if counts[s]
    )


def _card(i: int, verdict: Verdict, title: str, draw: Draw) -> str:
    name = "the document" if verdict.question == WHOLE else verdict.question
    where = (
        f'<a class="soft" href="#at{i}">line {verdict.span.line_start}</a>' if verdict.span else ""
    )
    parts = [
        f'<h2>{escape(name)} <span class="status">{SIGNS[verdict.status]} {verdict.status}</span> {where}</h2>',
        f'<p class="soft">{escape(title)}</p>' if title else "",
        _answer(verdict, draw),
        f"<p>{escape(verdict.reason)}</p>",
        _counterexample(verdict.counterexample),
        f"<p><b>Smallest repair:</b> {escape(verdict.repair)}</p>" if verdict.repair else "",
        *(f'<p class="soft">{escape(remark)}</p>' for remark in verdict.remarks),
        _steps(verdict.steps, draw),
    ]
    return f'<article class="s-{verdict.status}" id="v{i}">{"".join(parts)}</article>'


def _answer(verdict: Verdict, draw: Draw) -> str:
    if not verdict.answer:
        return ""
    if verdict.status == "unread":
        return f"<blockquote>{escape(verdict.answer[:2000])}</blockquote>"
    return f'<div class="answer">{draw(verdict.answer)}</div>'


def _steps(steps: Sequence[Verdict], draw: Draw) -> str:
    if not steps:
        return ""
    lines = "".join(
        f'<tr class="s-{s.status}"><td class="status">{SIGNS[s.status]} {s.status}</td>'
        f"<td>{draw(s.answer) if s.answer else ''}<br>{escape(s.reason)}</td></tr>"
        for s in steps
    )
    table = f'<div class="wide"><table>{lines}</table></div>'
    return f"<details open><summary>Steps on the way ({len(steps)})</summary>{table}</details>"


def _counterexample(example: Any) -> str:
    if not example:
        return ""
    fields = plain(dict(example))
    claim = fields.pop("claim", None) or fields.pop("story", None)
    weights = next((fields[k] for k in ("weights", "alpha") if _numbers(fields.get(k))), None)
    named = {fields[k]: k for k in ("j", "a", "b") if isinstance(fields.get(k), int)}
    if isinstance(fields.get("order"), list):
        named = {i: str(name) for i, name in enumerate(fields["order"])}
    lines = "".join(
        f"<tr><th>{escape(str(k))}</th><td><code>{escape(_short(v))}</code></td></tr>"
        for k, v in fields.items()
    )
    head = f"<b>Counterexample.</b> {escape(str(claim))}" if claim else "<b>Counterexample.</b>"
    picture = _weights(weights, named) if weights else ""
    return f'<p>{head}</p>{picture}<div class="wide"><table>{lines}</table></div>'


def _numbers(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= 24
        and all(isinstance(x, (int, float)) for x in value)
    )


def _weights(weights: list[float], named: dict[int, str]) -> str:
    """The weights as bars: what the answer really attends to. Keys are counted from 0, as
    everywhere."""
    bars = "".join(
        f"<span>key {named.get(i, i)}</span><i style='width:{100 * max(0.0, min(1.0, w)):.1f}%'></i>"
        f"<span>{w:.3f}</span>"
        for i, w in enumerate(weights)
    )
    return f'<figure><div class="weights" role="img" aria-label="attention weights">{bars}</div></figure>'


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # + 0.0: no "-0"
    if isinstance(value, list):
        return "[" + ", ".join(_short(x) for x in value[:12]) + (", …]" if len(value) > 12 else "]")
    return str(value)


def _marked(report: Report, text: str) -> str:
    """The source with every judged span highlighted; where spans overlap the earlier one wins."""
    spans = sorted(
        (v.span.start, v.span.end, i, v)
        for i, v in enumerate(report.verdicts)
        if v.span and 0 <= v.span.start < v.span.end <= len(text)
    )
    out, at = [], 0
    for start, end, i, verdict in spans:
        start = max(start, at)
        if start >= end or start > _MOST_TEXT:
            out.append(f'<span id="at{i}"></span>')
            continue
        out += [
            escape(text[at:start]),
            f'<mark id="at{i}" class="s-{verdict.status}" title="{escape(verdict.reason, quote=True)}">'
            f'<a href="#v{i}">{escape(text[start:end])}'
            f"<sup>{escape(verdict.question)} {SIGNS[verdict.status]}</sup></a></mark>",
        ]
        at = end
    rest = text[at : max(at, _MOST_TEXT)]
    cut = '<p class="soft">… the rest is not shown.</p>' if len(text) > max(at, _MOST_TEXT) else ""
    return "".join([*out, escape(rest), cut])


# ------------------------------------------------------------------------------------------------- the class


def index_page(entries: Sequence[Entry], titles: Titles, *, draw: Draw = as_text) -> str:
    reports = [entry.report for entry in entries]
    counts = tallies(reports, titles)
    questions = list(counts)
    total = Counter(v.status for r in reports for v in r.verdicts)
    body = [
        _CSS,
        f"<h1>{len(entries)} document{'s' if len(entries) != 1 else ''}</h1><p>{_counted(total)}</p>",
        _distribution(counts, titles),
        _common(faults(reports), draw),
        _matrix(entries, questions),
    ]
    return page(
        "The class", "\n".join(body), description="Distribution of verdicts and most common faults"
    )


def _distribution(counts: dict[str, Counter[str]], titles: Titles) -> str:
    legend = " ".join(
        f'<span class="s-{s}"><span class="sign">{SIGNS[s]}</span> {s}</span>' for s in STATUSES
    )
    lines = "".join(
        f'<tr><th title="{escape(titles.get(q, ""), quote=True)}">{escape(q)}</th>'
        f'<td style="width:60%">{_bar(count)}</td><td class="number">{_numbers_of(count)}</td></tr>'
        for q, count in counts.items()
    )
    table = f'<div class="wide"><table style="width:100%">{lines}</table></div>'
    return f'<section><h2>By question</h2><p class="legend">{legend}</p>{table}</section>'


def _bar(counts: Counter[str]) -> str:
    pieces = "".join(
        f'<span class="s-{s}" style="flex:{counts[s]}" title="{counts[s]} {s}"></span>'
        for s in STATUSES
        if counts[s]
    )
    return f'<div class="bar">{pieces}</div>'


def _numbers_of(counts: Counter[str]) -> str:
    return " ".join(
        f'<span class="s-{s}"><span class="sign">{SIGNS[s]}</span>{counts[s]}</span>'
        for s in STATUSES
        if counts[s]
    )


def _common(found: Sequence[Fault], draw: Draw) -> str:
    if not found:
        return ""
    lines = "".join(
        f'<tr class="s-{f.status}"><td class="number">{len(f.documents)}×</td><td>{escape(f.question)}</td>'
        f'<td><span class="status">{SIGNS[f.status]}</span> {draw(f.answer)}<br>{escape(f.reason)}</td></tr>'
        for f in found
    )
    return f'<section><h2>Most common faults</h2><div class="wide"><table>{lines}</table></div></section>'


def _matrix(entries: Sequence[Entry], questions: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(q).replace('.', '.<br>')}</th>" for q in questions)
    lines = "".join(_row(entry, questions) for entry in entries)
    table = f'<table class="matrix"><tr><th>document</th>{head}</tr>{lines}</table>'
    return f'<section><h2>By document</h2><div class="wide">{table}</div></section>'


def _row(entry: Entry, questions: Sequence[str]) -> str:
    statuses = {v.question: v for v in entry.report.verdicts}
    link = (
        f'<a href="{escape(entry.file, quote=True)}">{escape(Path(entry.report.document).name)}</a>'
    )
    if WHOLE in statuses:
        reason = f'<td class="s-unread" colspan="{max(1, len(questions))}">{escape(statuses[WHOLE].reason)}</td>'
        return f"<tr><td>{link}</td>{reason}</tr>"
    cells = "".join(
        f'<td class="s-{statuses[q].status}" title="{escape(statuses[q].reason, quote=True)}">'
        f'<span class="sign">{SIGNS[statuses[q].status]}</span></td>'
        if q in statuses
        else "<td></td>"
        for q in questions
    )
    return f"<tr><td>{link}</td>{cells}</tr>"
