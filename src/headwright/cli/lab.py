"""`headwright lab`: attention in the browser, to be dragged and asked."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command

_PORTS = click.IntRange(0, 65535)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_EXPORT = "Write a static copy of the page to this folder and stop."


@headwright_command("lab", example="headwright lab --no-browser")
@click.option("--port", type=_PORTS, default=0, help="Port on 127.0.0.1; 0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option("--export", "folder", type=_FOLDER, default=None, help=_EXPORT)
def command(port: int, no_browser: bool, folder: Path | None) -> Reply:
    """Open the lab in the browser: drag keys, values and queries, ask the engine, follow the
    stations."""
    if folder is not None:
        return _export(folder)

    from headwright.lab.serve import serve

    serve(port=port, browser=not no_browser, announce=_announce)
    return Reply({"stopped": True}, lambda console: console.print("The lab is closed."))


def _export(folder: Path) -> Reply:
    from headwright.lab.export import export

    sizes = export(folder)
    count = len(sizes)
    total = sum(sizes.values())
    written = f"{count} files, {total / 1024:.0f} KB in {folder}"
    hint = f"Serve them with: python -m http.server -d {folder}"
    return Reply(
        {"folder": str(folder), "files": count, "bytes": total},
        lambda console: console.print(f"{written}\n{hint}", soft_wrap=True, markup=False),
    )


def _announce(address: str) -> None:
    click.echo(f"headwright lab: {address} (Ctrl+C ends it)", err=True)
