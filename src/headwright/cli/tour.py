"""`headwright tour`: the whole exercise in the terminal, as JSON, and as report.html with
figures."""

from __future__ import annotations

from pathlib import Path

import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from headwright.cli.conventions import Reply, progress
from headwright.cli.conventions import command as headwright_command
from headwright.lab.address import PORT, address
from headwright.lab.stations import lab_stations
from headwright.report.formula import spelled
from headwright.tour import STATIONS, Station, walk
from headwright.tour.page.document import write_report, write_station
from headwright.tour.page.tables import shown

_FOLDER = click.Path(file_okay=False, path_type=Path)
_OUT = "Folder for report.html and the figures."
_SEED = click.IntRange(0)
_DRAWS = "Seed of the random draws."
_HERE = Path("headwright-tour")
_LAB = address(PORT)
_WHERE = "Lab that the stations link to. For an exported one beside the report: lab/index.html"
_INDENTED = (0, 0, 1, 2)


@headwright_command("tour", example="headwright tour --out tour")
@click.option("--out", type=_FOLDER, default=_HERE, show_default=True, help=_OUT)
@click.option("--seed", type=_SEED, default=0, show_default=True, metavar="N", help=_DRAWS)
@click.option("--lab", default=_LAB, show_default=True, help=_WHERE)
def command(out: Path, seed: int, lab: str) -> Reply:
    """Walk the whole exercise: every claim, its numbers by independent routes, the verdict, one
    figure each."""
    stations: list[Station] = []
    sections: list[str] = []
    for station in progress(walk(seed), "walking", total=len(STATIONS)):
        card = lab_stations()[station.text.number - 1]
        link = f"{lab}#{card['state']}&station={card['number']}"
        sections.append(write_station(station, out, link))
        stations.append(station)
    report = write_report(sections, stations, out, with_lab=lab != _LAB)

    holds = all(station.holds for station in stations)
    record = {
        "stations": [station.record() for station in stations],
        "holds": holds,
        "seed": seed,
        "report": str(report),
    }
    return Reply(record, lambda console: render(console, stations, report), holds=holds)


def render(console: Console, stations: list[Station], report: Path) -> None:
    """The tour for a terminal, eighty columns or more."""
    for station in stations:
        _station(console, station)
    console.print(Rule(style="dim"))

    held = sum(station.holds for station in stations)
    place = escape(str(report))
    console.print(f"{held} of {len(stations)} stations hold. Report with figures: {place}")


def _station(console: Console, station: Station) -> None:
    title = f"[bold]{int(station.id)}[/bold]  {escape(station.text.title)}"
    console.print(Rule(title, align="left", style="dim"))
    console.print(Padding(escape(spelled(station.text.claim)), _INDENTED))
    console.print(Padding(_numbers(station), _INDENTED))

    for fact, true in station.evidence.facts.items():
        console.print(f"  {_mark(true)} {escape(fact)}", style="dim")
    verdict = "[green]holds[/green]" if station.holds else "[bold red]fails[/bold red]"
    console.print(Padding(f"{verdict}: {escape(station.evidence.finding)}", _INDENTED))


def _numbers(station: Station) -> Table:
    """One line per number and route, so that eighty columns are enough for any station."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for comparison in station.evidence.comparisons:
        quantity = escape(comparison.quantity)
        mark = _mark(comparison.agrees)
        for route, value in comparison.routes.items():
            table.add_row(quantity, f"[dim]{escape(route)}[/dim]", shown(value), mark)
            # Said once, beside the first of its routes.
            quantity = ""
            mark = ""
    return table


def _mark(true: bool) -> str:
    return "✓" if true else "✗"
