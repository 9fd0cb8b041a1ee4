"""`headwright tour`: the whole exercise in the terminal, as JSON, and as report.html with figures."""

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
from headwright.report.formula import spelled
from headwright.tour import STATIONS, Station, walk
from headwright.tour.pages import shown, write_report, write_station


@headwright_command("tour")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("headwright-tour"),
              show_default=True, help="Folder for report.html and the figures.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def command(out: Path, seed: int) -> Reply:
    """Walk the whole exercise: every claim, its numbers by independent routes, the verdict, one
    figure each."""
    stations: list[Station] = []
    sections: list[str] = []
    for station in progress(walk(seed), "walking", total=len(STATIONS)):
        sections.append(write_station(station, out))
        stations.append(station)
    report = write_report(sections, stations, out)
    holds = all(s.holds for s in stations)
    record = {
        "stations": [s.record() for s in stations],
        "holds": holds,
        "seed": seed,
        "report": str(report),
    }
    return Reply(record, lambda console: render(console, stations, report), holds=holds)


def render(console: Console, stations: list[Station], report: Path) -> None:
    """The tour for a terminal, eighty columns or more."""
    for station in stations:
        mark = "[green]holds[/green]" if station.holds else "[bold red]fails[/bold red]"
        console.print(
            Rule(
                f"[bold]{int(station.id)}[/bold]  {escape(station.title)}",
                align="left",
                style="dim",
            )
        )
        console.print(Padding(escape(spelled(station.claim)), (0, 0, 1, 2)))
        console.print(Padding(_numbers(station), (0, 0, 1, 2)))
        for fact, true in station.facts.items():
            console.print(f"  {'✓' if true else '✗'} {escape(fact)}", style="dim")
        console.print(Padding(f"{mark}: {escape(station.finding)}", (0, 0, 1, 2)))
    held = sum(s.holds for s in stations)
    console.print(Rule(style="dim"))
    console.print(
        f"{held} of {len(stations)} stations hold. Report with figures: {escape(str(report))}"
    )


def _numbers(station: Station) -> Table:
    """One line per number and route, so that eighty columns are enough for any station."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for comparison in station.comparisons:
        for i, (route, value) in enumerate(comparison.routes.items()):
            agree = ("✓" if comparison.agrees else "✗") if i == 0 else ""
            table.add_row(
                escape(comparison.quantity) if i == 0 else "",
                f"[dim]{escape(route)}[/dim]",
                shown(value),
                agree,
            )
    return table
