"""The tour as files: `report.html` with every figure inline, and each figure as SVG and PNG beside
it.

At every station the figure comes first, then the sentence that it proves; the argument and the
numbers are folded away beneath.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from headwright.exercise.stations import StationText, without_roles
from headwright.files import write_text
from headwright.report.formula import formula, typeset
from headwright.report.notation import set_plain
from headwright.report.page import page
from headwright.report.style import inline, save
from headwright.tour.page.tables import facts_list, numbers_table
from headwright.tour.station import Station

DESCRIPTION = "The attention exploration exercise, every claim verified by independent routes."

_START_THE_LAB = " To open a station in the lab, first start it with <code>headwright lab</code>."
_STYLE = """
main{max-width:64rem}
section{display:grid;grid-template-columns:minmax(0,29rem) minmax(0,1fr);gap:.2rem 1.6rem;
padding:.9rem 1.1rem}
section h2{grid-column:1/-1}
section figure{margin:0}
section div>p:first-child{margin-top:0}
sub,sup{font-size:.75em;line-height:0}
details{border-top:1px solid var(--line)}
summary{padding:.45rem 0;cursor:pointer;color:var(--accent)}
details .formula{height:auto}
.numbers{width:100%}
.numbers th[scope=rowgroup]{color:var(--ink);font-weight:400;padding-top:.5rem;border:0}
.numbers td{padding-bottom:.1rem;padding-top:.1rem;border:0}
.numbers td:last-child{white-space:nowrap;text-align:right;padding-right:0}
.lab{margin:.6rem 0 0}
@media(max-width:48rem){section{grid-template-columns:minmax(0,1fr);padding:.8rem .7rem}
main{padding-left:.5rem;padding-right:.5rem}}
@media print{details::details-content{content-visibility:visible;display:block;block-size:auto}
.lab{display:none}}
"""


def write_station(station: Station, folder: Path, link: str) -> str:
    """Save the station's figure and return its section of the report. `link` opens the station in
    the lab."""
    vector, _ = save(station.evidence.draw(), folder / station.figure)
    return section(station, vector.read_text("utf-8"), link)


def write_report(
    sections: list[str], stations: list[Station], folder: Path, *, with_lab: bool = False
) -> Path:
    """The whole page. Unless it comes `with_lab`, an exported one, it says how to start the lab."""
    body = _head(stations, with_lab=with_lab) + "".join(sections)
    document = page("headwright tour", body, description=DESCRIPTION, style=_STYLE)
    return write_text(folder / "report.html", document)


def _head(stations: list[Station], *, with_lab: bool) -> str:
    held = sum(station.holds for station in stations)
    links = [f'<li><a href="#s{s.id}">{escape(s.text.title)}</a></li>' for s in stations]
    return (
        "<h1>Attention exploration, verified</h1>"
        f"<p>{held} of {len(stations)} stations hold: every number was computed by at least two "
        f"independent routes, and they agree.{'' if with_lab else _START_THE_LAB}</p>"
        f"<nav><ol>{''.join(links)}</ol></nav>"
    )


def section(station: Station, picture: str, link: str) -> str:
    """`picture` is its figure as SVG."""
    evidence = station.evidence
    title = escape(station.text.title)
    caption = set_plain(evidence.caption)
    verdict = (
        '<span class="ok">Holds.</span>' if station.holds else '<span class="no">Fails.</span>'
    )
    numbers = numbers_table(evidence.comparisons) + facts_list(evidence.facts)
    parts = [
        f'<section id="s{station.id}">',
        f'<h2><span class="number">{station.text.number}</span> {title}</h2>',
        f"<figure>{inline(picture, title=evidence.caption)}",
        f"<figcaption>{caption}</figcaption></figure>",
        f"<div><p><strong>{verdict}</strong> {set_plain(evidence.finding)}</p>",
        _folded("The argument", _text(station.text)),
        _folded("The numbers, route by route", numbers),
        f'<p class="lab"><a href="{escape(link)}">Open this in the lab</a></p></div>',
        "</section>",
    ]
    return "".join(parts)


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>{body}</details>"


def _text(text: StationText) -> str:
    """What the exercise says: the idea, its formula, what to notice, what to do about it."""
    parts = [f"<p>{_prose(text.idea)}</p>", f"<p>{formula(text.formula, size=19.0)}</p>"]
    parts += [f"<p>{_prose(paragraph)}</p>" for paragraph in text.notice.split("\n\n")]
    if text.remedies:
        items = [f"<li>{_prose(remedy)}</li>" for remedy in text.remedies]
        parts.append(f"<ul>{''.join(items)}</ul>")
    return "".join(parts)


def _prose(markdown: str) -> str:
    return typeset(without_roles(markdown))
