"""`headwright course demo`: a sample class to try everything out with."""

from __future__ import annotations

from typing import Any

import rich_click as click
from rich.console import Console

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command

_KNOWN = "--roster roster.csv --rubric rubric.toml"
_COMMANDS = (
    f"headwright check submissions/u03 {_KNOWN} --dry-run",
    f"headwright check submissions {_KNOWN} --html pages --csv verdicts.csv",
    f"headwright check submissions {_KNOWN} --gradebook canvas.csv --out filled.csv",
)


@headwright_command("course", example="headwright course demo --out course-demo")
@click.argument("what", type=click.Choice(["demo"]))
@click.option(
    "--out",
    "folder",
    default="course-demo",
    show_default=True,
    type=click.Path(),
    help="A folder that is new or empty.",
)
def command(what: str, folder: str) -> Reply:
    """Write a sample class with known verdicts: headwright course demo.

    30 students, their documents in four formats, a roster, a rubric with two overrides, gradebooks
    as Canvas and Moodle export them, and what check is expected to say (expected.json).
    """
    from headwright.course.demo import write_demo

    written = write_demo(folder)
    data = {"folder": folder, "files": written, "commands": list(_COMMANDS)}
    return Reply(data, lambda console: _show(console, data))


def _show(console: Console, data: dict[str, Any]) -> None:
    console.print(f"{data['folder']}: a class of 30, {len(data['files'])} files")
    console.print("Try, in that folder:")
    for line in data["commands"]:
        console.print(f"  {line}", soft_wrap=True, highlight=False)
