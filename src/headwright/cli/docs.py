"""`headwright docs`: the documentation as a site in one folder, built from the source tree."""

from __future__ import annotations

import time
import webbrowser
from pathlib import Path

import rich_click as click
from click import Group, get_current_context
from rich.console import Console

from headwright.cli.conventions import Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

_ROOT = Path(__file__).resolve().parents[3]
_HERE = Path("headwright-docs")
_FOLDER = click.Path(file_okay=False, path_type=Path)
_OUT = "Folder for the site; one built before is replaced."
_SHOWN = 10


@headwright_command("docs", example="headwright docs --out site --no-browser")
@click.option("--out", type=_FOLDER, default=_HERE, show_default=True, help=_OUT)
@click.option("--no-browser", is_flag=True, help="Build the site and open nothing.")
@click.option("--no-tour", is_flag=True, help="Leave out the tour, which takes longest.")
def command(out: Path, no_browser: bool, no_tour: bool) -> Reply:
    """Build this documentation as a site that needs no server and no network, and open it.

    Needs a clone, where the pages are, and the extra `docs`. Exit 1 if a link leads nowhere.
    """
    if not (_ROOT / "docs" / "README.md").is_file():
        raise InputError(
            wanted="the source tree, where the pages are",
            got="an installed package",
            attempt="headwright docs, in a clone installed with pip install -e '.[docs]'",
        )
    from headwright.site.building import build

    program = get_current_context().find_root().command
    assert isinstance(program, Group)
    start = time.perf_counter()
    with progress_bar("building") as step:
        built = build(_ROOT, out, program, with_tour=not no_tour, step=step)
    seconds = time.perf_counter() - start

    if not no_browser:
        webbrowser.open(built.front.resolve().as_uri())
    record = {
        "front": str(built.front),
        "pages": built.pages,
        "seconds": seconds,
        "warnings": list(built.warnings),
    }
    return Reply(record, lambda console: _render(console, record), holds=not built.warnings)


def _render(console: Console, record: dict) -> None:
    for warning in record["warnings"][:_SHOWN]:
        console.print(warning, soft_wrap=True, markup=False)
    told = f"{record['pages']} pages in {record['seconds']:.1f} s: {record['front']}"
    console.print(told, soft_wrap=True, markup=False)
