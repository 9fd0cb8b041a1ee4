"""The tour as files: `report.html` with every figure inline, and each figure as SVG and PNG beside
it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from headwright.exercise.stations import StationText, without_roles
from headwright.files import write_text
from headwright.report.formula import formula, typeset
from headwright.report.page import page
from headwright.report.style import save, svg
from headwright.tour.station import Comparison, Station

# A number such as 3.2e-05 must not break at its minus on a phone
_UNBROKEN = 'style="white-space:nowrap"'
DESCRIPTION = "The attention exploration exercise, every claim verified by independent routes."


def write_station(station: Station, folder: Path) -> str:
    """Save the station's figure and return its section of the report."""
    drawing = station.evidence.draw()
    save(drawing, folder / station.figure)
    return section(station, drawing)


def write_report(sections: list[str], stations: list[Station], folder: Path) -> Path:
    body = _head(stations) + "".join(sections)
    document = page("headwright tour", body, description=DESCRIPTION)
    return write_text(folder / "report.html", document)


def _head(stations: list[Station]) -> str:
    held = sum(station.holds for station in stations)
    links = [f'<li><a href="#s{s.id}">{escape(s.text.title)}</a></li>' for s in stations]
    return (
        "<h1>Attention exploration, verified</h1>"
        f"<p>{held} of {len(stations)} stations hold. Every number in the tables below was "
        "computed by at least two independent routes; a station holds when they agree.</p>"
        f"<nav><ol>{''.join(links)}</ol></nav>"
    )


def section(station: Station, drawing: Any) -> str:
    evidence = station.evidence
    title = escape(station.text.title)
    verdict = '<span class="ok">holds</span>' if station.holds else '<span class="no">fails</span>'
    facts = [f"<li>{_mark(true)} {escape(fact)}</li>" for fact, true in evidence.facts.items()]
    parts = [
        f'<section id="s{station.id}">',
        f'<h2><span class="number">{station.text.number}</span> {title}</h2>',
        _text(station.text),
        f'<div class="wide">{_table(evidence.comparisons)}</div>',
        f'<ul class="facts">{"".join(facts)}</ul>' if facts else "",
        f"<p><strong>{verdict}.</strong> {escape(evidence.finding)}</p>",
        f"<figure>{svg(drawing, title=evidence.caption)}",
        f"<figcaption>{escape(evidence.caption)}</figcaption></figure>",
        "</section>",
    ]
    return "".join(parts)


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


def _table(comparisons: tuple[Comparison, ...]) -> str:
    """One row per number and route, the number's own cells spanning its routes: fits a phone."""
    header = "<tr><th>number</th><th>route</th><th>value</th><th>agree</th></tr>"
    rows = [row for comparison in comparisons for row in _rows(comparison)]
    return f"<table>{header}{''.join(rows)}</table>"


def _rows(comparison: Comparison) -> list[str]:
    span = f'rowspan="{len(comparison.routes)}"'
    quantity = f"<td {span}>{escape(comparison.quantity)}</td>"
    tolerance = f'title="spread at most {comparison.tolerance:.0e}"'
    agree = f"<td {span} {tolerance}>{_mark(comparison.agrees)}</td>"
    rows = []
    for route, value in comparison.routes.items():
        cells = f'<td class="soft">{escape(route)}</td><td {_UNBROKEN}>{shown(value)}</td>'
        rows.append(f"<tr>{cells}</tr>" if rows else f"<tr>{quantity}{cells}{agree}</tr>")
    return rows


def _mark(true: bool) -> str:
    return "✓" if true else "✗"


def shown(value: float) -> str:
    """Seven significant digits: enough to see routes agree, short enough to read."""
    return f"{value:.7g}"
