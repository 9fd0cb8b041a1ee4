"""`headwright lab`: attention under your fingers, in the browser."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command


@headwright_command("lab")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port on 127.0.0.1; 0 takes a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Write a static copy of the page to this folder and stop.",
)
def command(port: int, no_browser: bool, folder: Path | None) -> Reply:
    """Open the lab in the browser: drag keys, values and queries, ask the engine, follow the
    stations."""
    if folder is not None:
        from headwright.lab.export import export

        written = export(folder)
        data = {"folder": str(folder), "files": len(written), "bytes": sum(written.values())}
        size = f"{data['files']} files, {data['bytes'] / 1024:.0f} KB in {folder}"
        hint = f"Serve them with: python -m http.server -d {folder}"
        return Reply(
            data, lambda console: console.print(f"{size}\n{hint}", soft_wrap=True, markup=False)
        )
    from headwright.lab.serve import serve

    serve(port=port, browser=not no_browser, announce=_announce)
    return Reply({"stopped": True}, lambda console: console.print("The lab is closed."))


def _announce(address: str) -> None:
    click.echo(f"headwright lab: {address} (Ctrl+C ends it)", err=True)
