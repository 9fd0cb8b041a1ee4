"""What `headwright xray` shows a person: the table, what was found, and how to repeat a break."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from headwright.probes.finding import BROKEN, HOLDS, NOT_APPLICABLE, UNCLEAR
from headwright.probes.page.parts import SIGNS, headline, verdict
from headwright.probes.page.several import lines

_STYLES = {HOLDS: "green", BROKEN: "bold red", UNCLEAR: "yellow", NOT_APPLICABLE: "dim"}


def show(console: Console, record: Any, script: str | None) -> None:
    """`script` is the file that was written for the counterexamples, if any."""
    console.print(Text(f"{record.layer}: {headline(record)}"))
    if record.parts:
        console.print(_parts(record))
    console.print(_table(record))
    _facts(console, record)
    _counterexamples(console, record, script)


def _table(record: Any) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("property", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for finding in record.properties:
        style = _STYLES[finding.status]
        status = Text(f"{SIGNS[finding.status][0]} {finding.status}", style=style)
        faint = "dim" if finding.status == NOT_APPLICABLE else ""
        name = Text(finding.name, style="bold" if finding.status == BROKEN else faint)
        table.add_row(name, status, Text(finding.evidence, style=faint))
    return table


def _parts(record: Any) -> Table:
    """A line for neighbouring layers of which the same was found."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("part", "pattern", "broken", "unclear"):
        table.add_column(name, overflow="fold")
    for line in lines(record.parts):
        broken = Text(line.broken or "–", style=_STYLES[BROKEN] if line.broken else "dim")
        unclear = Text(line.unclear or "–", style=_STYLES[UNCLEAR] if line.unclear else "dim")
        table.add_row(Text(line.name), Text(line.pattern), broken, unclear)
    return table


def _facts(console: Console, record: Any) -> None:
    lines = {"pattern": record.pattern, "group": record.group}
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, words in lines.items():
        if words:
            grid.add_row(f"[bold]{name}[/bold]", escape(words))
    for note in record.notes:
        grid.add_row("[bold]note[/bold]", escape(note))
    if grid.row_count:
        console.print(grid)
    style = "bold red" if record.broken else "bold"
    console.print(Text(verdict(record), style=style))


def _counterexamples(console: Console, record: Any, script: str | None) -> None:
    """In words; the lines of Python are in the script."""
    shown = [finding for finding in record.broken if finding.counterexample is not None]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in shown:
        grid.add_row(f"  {escape(finding.name)}", escape(finding.counterexample.words))
    if shown:
        console.print(grid)
        how = f"python {script}" if script is not None else "--script F.py writes it as Python"
        console.print(f"Reproduce: {how}", markup=False)
    elif script is not None:
        console.print(f"No counterexample, so {script} was not written", markup=False)
