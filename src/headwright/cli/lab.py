"""`headwright lab`: attention in the browser, to be dragged and asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import rich_click as click

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.lab.address import PORT, place

_PORTS = click.IntRange(0, 65535)
_PORT = f"Port on 127.0.0.1; 0 takes a free one. Default: {PORT}, or the next free one."
_FOLDER = click.Path(path_type=Path, file_okay=False)
_EXPORT = "Write a copy that needs no Python to this folder, and stop. It opens by double click."


@headwright_command("lab", example="headwright lab 'preset=pair&q=a+b&beta=6'")
@click.argument("link", default="", required=False)
@click.option("--port", type=_PORTS, default=None, help=_PORT)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option("--export", "folder", type=_FOLDER, default=None, help=_EXPORT)
def command(link: str, port: int | None, no_browser: bool, folder: Path | None) -> Reply:
    """Open the lab in the browser: drag keys, values and queries, ask for designs and exact
    numbers, follow the stations. LINK, a link copied from the lab or its part after #, opens that
    state; write it in quotes."""
    if folder is not None:
        return _export(folder)

    state = place(link) if link else ""

    from headwright.lab.serve import serve

    serve(port=port, place=state, browser=not no_browser, announce=_announce(port))
    return Reply({"stopped": True}, lambda console: console.print("The lab is closed."))


def _export(folder: Path) -> Reply:
    from headwright.lab.export import export

    sizes = export(folder)
    count = len(sizes)
    total = sum(sizes.values())
    written = f"{count} pages, {total / 1024:.0f} KB in {folder}"
    hint = f"Open {folder / 'index.html'} by double click, or put the folder on any web host."
    return Reply(
        {"folder": str(folder), "files": count, "bytes": total},
        lambda console: console.print(f"{written}\n{hint}", soft_wrap=True, markup=False),
    )


def _announce(port: int | None) -> Callable[[str], None]:
    """Print the address, and before it why the port is not the usual one."""

    def announce(address: str) -> None:
        taken = urlsplit(address).port
        if port is None and taken != PORT:
            said = f"Port {PORT} is in use, so this lab has port {taken}."
            click.echo(f"{said} Links copied from it name that port.", err=True)
        click.echo(f"headwright lab: {address} (Ctrl+C ends it)", err=True)

    return announce
