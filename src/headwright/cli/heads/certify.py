"""`headwright certify`: re-check a saved design against its keys, without the solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options

# What `headwright design --demo --save` wrote
_SAVED = str(Path(__file__).with_name("demo-design.json"))
_SLOW = "Ball arithmetic instead of error bounds (slow, encloses every digit)."


@headwright_command(
    "certify",
    demo={
        "": _SAVED,
        "--keys": "[[1, 0], [0, 1], [-1, -1]]",
    },
    example="headwright certify design.json --keys keys.npy",
)
@click.argument("design", type=click.Path(dir_okay=False))
@options.array("--keys", "K", "The keys the design was made for, n x d.", required=True)
@click.option("--ball", is_flag=True, help=_SLOW)
def command(design: str, K: Any, ball: bool) -> Reply:
    """Re-check a saved design. Exit 1 if any statement in it does not hold on these keys, 2 if it
    cannot be read."""
    from headwright.design.saved.recheck import certify

    method = "ball" if ball else "float"
    result = certify(design, K, method=method)
    return Reply(result, lambda console: _render(console, result), holds=result.holds)


def _render(console: Console, result: Any) -> None:
    for check in result.checks:
        mark = "[green]✓[/green]" if check.holds else "[red]✗[/red]"
        line = Table.grid(padding=(0, 1))
        line.add_row(mark, escape(f"{check.name}: {check.detail}"))
        console.print(line)

    if result.unchecked:
        names = escape(", ".join(result.unchecked))
        console.print(f"not checked again: {names}")

    verdict = "holds" if result.holds else "does not hold"
    status = escape(result.status)
    console.print(f"design ({status}): [bold]{verdict}[/bold]")
