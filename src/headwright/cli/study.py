"""`headwright study NAME|module:function --grid G.toml --out DIR`: a function at every point of a
grid, as a table, figures and a page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.cli.crew_bar import Tally, counted
from headwright.cli.crew_options import crew_options, refuse_two_places, saying_how_to_go_on
from headwright.crew import Outcome
from headwright.crew.executor import chosen
from headwright.errors import InputError
from headwright.files import write_text
from headwright.study.asked import study_of
from headwright.study.built_in import built_in_studies
from headwright.study.running import carried_out
from headwright.study.studied import Studied

_TEMPLATE = Path(sys.modules["headwright.study"].__path__[0]) / "template"
_RUN = "headwright study sweep:leak --grid sweep.toml --out sweep-results"
_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_POSITIVE = click.IntRange(1)
_MOST_MESSAGES = 3


@headwright_command("study", example="headwright study price --small --out price")
@click.argument("name", required=False, metavar="[NAME|MODULE:FUNCTION]")
@click.option("--grid", type=_FILE, metavar="G.toml", help="The values of every parameter.")
@click.option("--small", is_flag=True, help="The small grid of a built-in study: seconds.")
@click.option("--out", type=_FOLDER, metavar="DIR", help="Folder for the table, page and store.")
@crew_options
@click.option("--limit", type=_POSITIVE, metavar="N", help="Only the first N points of the grid.")
@click.option("--retry", is_flag=True, help="Compute failed points again.")
@click.option("--new", is_flag=True, help="A template to start from; with --out as two files.")
def command(name: str | None, new: bool, out: Path | None, **asked: Any) -> Reply:
    """A function at every point of a grid: results.csv, figures and index.html.

    What is in the folder already is not computed again, so the same command continues after any
    interruption. Without NAME: list the studies that come with headwright.
    """
    if new:
        return _template(out)
    if name is None:
        return _listed()
    return _studied(name, out, **asked)


def _studied(
    name: str, out: Path | None, *, grid: Path | None, small: bool, limit: int | None, **how: Any
) -> Reply:
    if small and grid is not None:
        got = f"both --small and --grid {grid}"
        raise InputError(wanted="one grid", got=got, attempt="leave one of them out")
    study = study_of(name, grid, small=small, limit=limit)
    if out is None:
        raise InputError(wanted="a folder for the results", got="none", attempt="--out results")
    result = _carried_out(study, out, **how)
    holds = result.failed == 0
    return Reply(result.plain(), lambda console: _render(console, result), holds=holds)


def _carried_out(
    study: Any, out: Path, *, workers: int | None, cluster: str | None, retry: bool
) -> Studied:
    refuse_two_places(workers, cluster)
    tally = Tally(study.count)

    def watch(outcomes: Iterator[Outcome]) -> Iterable[Outcome]:
        return counted(outcomes, study.name, tally)

    with saying_how_to_go_on(out, tally, "points"), chosen(workers, cluster) as executor:
        return carried_out(study, out, executor, retry=retry, watch=watch)


def _render(console: Console, result: Studied) -> None:
    counts = f"{result.table.count:,} rows: {result.done:,} computed, {result.skipped:,} stored"
    console.print(f"{counts} before, {result.failed:,} failed", markup=False)
    for message in list(dict.fromkeys(result.table.errors.values()))[:_MOST_MESSAGES]:
        console.print(f"  failed: {message}", markup=False)
    if result.failed:
        console.print("  the same command with --retry computes them again")
    console.print(f"Page: {result.page}", markup=False)


def _listed() -> Reply:
    known = built_in_studies().values()
    data = [{"name": one.name, "title": one.title, "asks": one.asks} for one in known]

    def render(console: Console) -> None:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for one in known:
            table.add_row(f"[bold]{escape(one.name)}[/bold]", escape(one.asks))
        console.print(table)
        console.print("Your own function: headwright study --new", markup=False)

    return Reply({"studies": data}, render)


def _template(out: Path | None) -> Reply:
    files = {name: (_TEMPLATE / name).read_text("utf-8") for name in ("sweep.toml", "sweep.py")}
    data = {"files": files, "run": _RUN}
    if out is None:
        # Printed as it is: a console would break its lines
        text = "\n".join(f"# ---- {name} ----\n{text}" for name, text in files.items())
        return Reply(data, lambda console: click.echo(f"{text}\n# ---- then ----\n# {_RUN}"))
    there = [name for name in files if (out / name).exists()]
    if there:
        wanted = f"a folder without {there[0]}"
        raise InputError(wanted=wanted, got=str(out), attempt="another folder")
    for name, text in files.items():
        write_text(out / name, text)
    said = f"{', '.join(str(out / name) for name in files)}; in that folder: {_RUN}"
    return Reply(data, lambda console: console.print(said, markup=False, soft_wrap=True))
