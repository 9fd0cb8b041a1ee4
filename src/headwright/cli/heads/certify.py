"""`headwright certify`: re-check a saved design against its keys, without the solver."""

from __future__ import annotations

from typing import Any

import rich_click as click
from rich.console import Console
from rich.markup import escape

from headwright.cli.conventions import ARRAY, Reply
from headwright.cli.conventions import command as headwright_command


@headwright_command("certify")
@click.argument("design", type=click.Path(dir_okay=False))
@click.option(
    "--keys", "K", type=ARRAY, required=True, help="The keys the design was made for, n x d."
)
@click.option(
    "--ball",
    is_flag=True,
    help="Ball arithmetic instead of error bounds (slow, encloses every digit).",
)
def command(design: str, K: Any, ball: bool) -> Reply:
    """Re-check a saved design. Exit 1 if any statement in it does not hold on these keys, 2 if it
    cannot be read."""
    from headwright.design.saved import certify

    result = certify(design, K, method="ball" if ball else "float")
    return Reply(result, lambda console: _render(console, result), holds=result.holds)


def _render(console: Console, result: Any) -> None:
    for check in result.checks:
        mark = "[green]✓[/green]" if check.holds else "[red]✗[/red]"
        console.print(f"{mark} {escape(f'{check.name}: {check.detail}')}", soft_wrap=True)
    if result.unchecked:
        console.print(f"not checked again: {escape(', '.join(result.unchecked))}")
    verdict = "holds" if result.holds else "does not hold"
    console.print(f"design ({escape(result.status)}): [bold]{verdict}[/bold]")
