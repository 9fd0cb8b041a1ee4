"""`headwright pack`: an autograder that a teacher uploads."""

from __future__ import annotations

from typing import Any

import rich_click as click
from rich.console import Console

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command


@headwright_command("pack", example="headwright pack gradescope --out autograder.zip")
@click.argument("platform", metavar="gradescope|prairielearn")
@click.option("--bank", "bank_file", type=click.Path(), help="Your own questions, in TOML.")
@click.option("--rubric", "rubric_file", type=click.Path(), help="What answers are worth, in TOML.")
@click.option(
    "--manifest",
    "manifest_file",
    type=click.Path(),
    help="What headwright new wrote: every student is graded by their own sheet.",
)
@click.option(
    "--wheels",
    "wheels_folder",
    type=click.Path(),
    help="A folder with wheels for the platform; without it, the packages installed here.",
)
@click.option("--out", required=True, type=click.Path(), help="The zip to write.")
def command(
    platform: str,
    bank_file: str | None,
    rubric_file: str | None,
    manifest_file: str | None,
    wheels_folder: str | None,
    out: str,
) -> Reply:
    """An autograder for a learning platform, in one zip that needs no network.

    Without --bank: the classic exercise; without --rubric: one point per question, or the points
    that the bank gives.
    """
    from headwright.course.packs.making.archive import pack

    packed = pack(
        platform,
        out,
        bank_file=bank_file,
        rubric_file=rubric_file,
        manifest_file=manifest_file,
        wheels_folder=wheels_folder,
    )
    return Reply(packed, lambda console: _show(console, packed))


def _show(console: Console, packed: Any) -> None:
    size = packed.bytes / 1e6
    console.print(f"{packed.out}: {size:.0f} MB for {packed.platform}, headwright {packed.version}")
    console.print(f"{packed.questions} questions, {packed.max_points:g} points, bank {packed.bank}")
    if packed.sheets:
        console.print(f"{packed.sheets} students, each graded by their own sheet")
    if packed.hidden:
        of = f"{packed.hidden} of {packed.questions} questions"
        console.print(f"hidden from students at first: {of}; Gradescope hides the total with them")
    versions = " or ".join(packed.pythons)
    console.print(f"needs Python {versions} on Linux, x86_64; no network once that is there")
    if packed.usual_python and packed.usual_python not in packed.pythons:
        console.print(
            f"the platform's usual image has Python {packed.usual_python}: give --wheels for it"
        )
    if not any(wheel.startswith("pypdf-") for wheel in packed.wheels):
        console.print("without pypdf: PDFs will be unread (pip install 'headwright[pdf]')")
