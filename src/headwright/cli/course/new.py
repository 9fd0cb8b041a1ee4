"""`headwright new`: a roster in, one sheet per student out, with the teacher's keys and a
manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.markup import escape

from headwright.cli.conventions import Reply, progress
from headwright.cli.conventions import command as headwright_command


@headwright_command("new", example="headwright new --roster roster.csv --seed 1 --out sheets")
@click.option(
    "--roster", "roster_file", required=True, type=click.Path(), help="The class, as CSV."
)
@click.option(
    "--seed", default="0", show_default=True, help="A different seed makes different sheets."
)
@click.option("--bank", "bank_file", type=click.Path(), help="Your own questions, in TOML.")
@click.option("--out", "out_folder", required=True, type=click.Path(), help="A new folder.")
@click.option(
    "--pdf", "with_pdf", is_flag=True, help="Write PDFs too; needs pdflatex and takes longer."
)
def command(
    roster_file: str, seed: str, bank_file: str | None, out_folder: str, with_pdf: bool
) -> Reply:
    """Write one sheet per student, the key to each, and a manifest for `headwright check`.

    Numbers and letters differ from student to student, the difficulty does not; the same seed gives
    the same sheets, whoever else is in the class. `headwright check ANSWERS --manifest
    OUT/manifest.json` judges everyone by the sheet they got.
    """
    from headwright.course.handouts.write import sheets
    from headwright.exercise.bank import load

    bank = load(bank_file)
    written = sheets(roster_file, out_folder, seed=seed, bank=bank, pdf=with_pdf, watched=progress)
    return _reply(written, bank)


def _reply(written: Any, bank: Any) -> Reply:
    from headwright.course.handouts.made import MANIFEST
    from headwright.course.variants.bank import sheet_bank, varied

    manifest = written.manifest
    differing = [question.id for question in sheet_bank(bank) if varied(question)]
    data = {
        "course": manifest.course,
        "seed": manifest.seed,
        "manifest": str(written.folder / MANIFEST),
        "varied": differing,
        "unchanged": written.unchanged,
        "without_pdf": written.without_pdf,
        "sheets": [_row(written.folder, entry) for entry in manifest.entries],
    }
    return Reply(data, lambda console: _show(console, written, data))


def _row(folder: Path, entry: Any) -> dict[str, Any]:
    from headwright.course.handouts.made import KEYS, SHEETS

    return {
        "student": entry.student.id,
        "sheet": str(folder / SHEETS / f"{entry.file}.md"),
        "key": str(folder / KEYS / f"{entry.file}.md"),
        "bank": entry.bank,
        "variant": entry.variant.record(),
    }


def _show(console: Console, written: Any, data: dict[str, Any]) -> None:
    state = "already there, and the same" if written.unchanged else "written"
    count = len(data["sheets"])
    console.print(f"{count} sheets with keys {state}: {escape(str(written.folder))}")
    asked = ", ".join(data["varied"]) or "nothing: this bank has no marks such as <<share_one>>"
    console.print(f"differs from sheet to sheet: {escape(asked)}")
    for place in written.without_pdf:
        console.print(f"no PDF, TeX could not typeset it: {escape(place)}")
    console.print(f"next: headwright check ANSWERS --manifest {escape(data['manifest'])}")
