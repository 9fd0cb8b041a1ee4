"""The tour as files: `report.html` with every figure inline, and each figure as SVG and PNG beside
it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from headwright.files import write_text
from headwright.report.formula import typeset
from headwright.report.page import page
from headwright.report.style import save, svg
from headwright.tour.station import Comparison, Station

DESCRIPTION = "The attention exploration exercise, every claim verified by independent routes."


def write_station(station: Station, folder: Path) -> str:
    """Save the station's figure and return its section of the report."""
    drawing = station.draw()
    save(drawing, folder / station.figure)
    return section(station, drawing)


def write_report(sections: list[str], stations: list[Station], folder: Path) -> Path:
    return write_text(
        folder / "report.html",
        page("headwright tour", _head(stations) + "".join(sections), description=DESCRIPTION),
    )


def _head(stations: list[Station]) -> str:
    held = sum(s.holds for s in stations)
    links = "".join(f'<li><a href="#s{s.id}">{escape(s.title)}</a></li>' for s in stations)
    return (
        f"<h1>Attention exploration, verified</h1><p>{held} of {len(stations)} stations hold. Every number below was "
        "computed by at least two independent routes; a station holds when they agree.</p>"
        f"<nav><ol>{links}</ol></nav>"
    )


def section(station: Station, drawing: Any) -> str:
    mark = '<span class="ok">holds</span>' if station.holds else '<span class="no">fails</span>'
    facts = "".join(
        f"<li>{'✓' if true else '✗'} {escape(fact)}</li>" for fact, true in station.facts.items()
    )
    return (
        f'<section id="s{station.id}"><h2><span class="number">{int(station.id)}</span> {escape(station.title)}</h2>'
        f"<p>{typeset(station.claim)}</p>"
        f'<div class="wide">{_table(station.comparisons)}</div>'
        f'<ul class="facts">{facts}</ul>'
        f"<p><strong>{mark}.</strong> {escape(station.finding)}</p>"
        f"<figure>{svg(drawing, title=station.caption)}<figcaption>{escape(station.caption)}</figcaption></figure></section>"
    )


def _table(comparisons: tuple[Comparison, ...]) -> str:
    """One row per number and route, the number's own cells spanning its routes: fits a phone."""
    rows = []
    for c in comparisons:
        for i, (route, value) in enumerate(c.routes.items()):
            span = f' rowspan="{len(c.routes)}"'
            first = f"<td{span}>{escape(c.quantity)}</td>" if i == 0 else ""
            last = (
                f'<td{span} title="spread at most {c.tolerance:.0e}">{"✓" if c.agrees else "✗"}</td>'
                if i == 0
                else ""
            )
            rows.append(
                f'<tr>{first}<td class="soft">{escape(route)}</td><td>{shown(value)}</td>{last}</tr>'
            )
    return f"<table><tr><th>number</th><th>route</th><th>value</th><th>agree</th></tr>{''.join(rows)}</table>"


def shown(value: float) -> str:
    """Seven significant digits: enough to see routes agree, short enough to read."""
    return f"{value:.7g}"
