"""The tour as files: `report.html` with every figure inline, and each figure as SVG and PNG beside it."""

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
        folder / "report.html", page("headwright tour", _head(stations) + "".join(sections), description=DESCRIPTION)
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
    facts = "".join(f"<li>{'✓' if true else '✗'} {escape(fact)}</li>" for fact, true in station.facts.items())
    return (
        f'<section id="s{station.id}"><h2><span class="number">{int(station.id)}</span> {escape(station.title)}</h2>'
        f"<p>{typeset(station.claim)}</p>"
        f'<div class="wide">{_table(station.comparisons)}</div>'
        f'<ul class="soft">{facts}</ul>'
        f"<p><strong>{mark}.</strong> {escape(station.finding)}</p>"
        f"<figure>{svg(drawing, title=station.caption)}<figcaption>{escape(station.caption)}</figcaption></figure></section>"
    )


def _table(comparisons: tuple[Comparison, ...]) -> str:
    routes = list(dict.fromkeys(route for c in comparisons for route in c.routes))
    head = "".join(f"<th>{escape(route)}</th>" for route in routes)
    rows = "".join(
        f"<tr><td>{escape(c.quantity)}</td>"
        + "".join(f"<td>{shown(c.routes[r]) if r in c.routes else ''}</td>" for r in routes)
        + f"<td>{c.tolerance:.0e}</td><td>{'✓' if c.agrees else '✗'}</td></tr>"
        for c in comparisons
    )
    return f"<table><tr><th>number</th>{head}<th>tolerance</th><th>agree</th></tr>{rows}</table>"


def shown(value: float) -> str:
    """Seven significant digits: enough to see routes agree, short enough to read."""
    return f"{value:.7g}"
