"""`headwright bench NAME [PATH ...]`: runs `benchmarks/NAME.py` of the source tree and shows its
table of ratios."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.conventions import Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.cli.terminal.screen import fitted
from headwright.errors import InputError

_FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
_NONE = "none: benchmarks come with the source tree, not with the installed package"


@headwright_command("bench", example="headwright bench style --quick")
@click.argument("name", required=False)
@click.argument("paths", nargs=-1, metavar="[PATH ...]")
@click.option("--quick", is_flag=True, help="Small sizes, seconds instead of minutes.")
def command(name: str | None, paths: tuple[str, ...], quick: bool) -> Reply:
    """Run one benchmark and print its ratios. Without NAME: list the benchmarks.

    Some benchmarks measure files of yours and take their paths.
    """
    known = _benchmarks()
    names = ", ".join(known)
    if name is None and known:
        return Reply({"benchmarks": known}, lambda console: console.print(f"benchmarks: {names}"))
    if name not in known:
        wanted = f"a benchmark ({names or _NONE})"
        near = difflib.get_close_matches(str(name), known, n=1)
        attempt = f"headwright bench {near[0]}" if near else "headwright bench, in a clone"
        raise InputError(wanted=wanted, got=repr(name), attempt=attempt)

    run = _load(name).run
    _insist_on_paths(name, run, paths)
    result = _told(name, lambda: run(*paths, quick=quick))
    return Reply(result, lambda console: _render(console, result))


def _told(name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run it under a bar, with every row on stderr as soon as it is there."""
    telling = _load("telling")
    with progress_bar(name) as step:

        def listener(row: dict[str, Any], done: int, total: int | None) -> None:
            click.echo(telling.in_one_line(row), err=True)
            step(done, total)

        with telling.listening(listener):
            return run()


def _insist_on_paths(name: str, run: Callable[..., Any], paths: tuple[str, ...]) -> None:
    """A benchmark's paths are the parameters of its `run` that have a position."""
    parameters = inspect.signature(run).parameters.values()
    asked = [p.name.upper() for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(paths) != len(asked):
        raise InputError(
            wanted=f"{len(asked)} path{'s' * (len(asked) != 1)} for the benchmark {name}",
            got=str(len(paths)),
            attempt=" ".join(["headwright bench", name, *asked]),
        )


def _benchmarks() -> list[str]:
    """The files that can be run as a benchmark; others beside them are shared by several."""
    paths = _FOLDER.glob("*.py")
    return sorted(path.stem for path in paths if "def run(" in path.read_text(encoding="utf-8"))


def _load(name: str) -> Any:
    sys.path.insert(0, str(_FOLDER.parent))
    return importlib.import_module(f"benchmarks.{name}")


def _render(console: Console, result: dict[str, Any]) -> None:
    cell = _load("telling").cell
    columns = dict.fromkeys(column for row in result["rows"] for column in row)
    table = Table(*columns, title=result["title"])
    for row in result["rows"]:
        cells = [cell(row.get(column, "")) for column in columns]
        table.add_row(*cells)
    console.print(fitted(table, console))
    for note in result.get("notes", []):
        console.print(f"- {note}")
