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
from headwright.files import write_bytes


@headwright_command("new")
@click.option(
    "--roster", "roster_file", required=True, type=click.Path(), help="The class, as CSV."
)
@click.option("--seed", default="0", show_default=True, help="Another seed makes other sheets.")
@click.option("--bank", "bank_file", type=click.Path(), help="Your own questions, in TOML.")
@click.option("--out", "out_folder", required=True, type=click.Path(), help="A new folder.")
@click.option("--pdf", "with_pdf", is_flag=True, help="PDFs, too; needs pdflatex, and its time.")
def command(
    roster_file: str, seed: str, bank_file: str | None, out_folder: str, with_pdf: bool
) -> Reply:
    """Write one sheet per student, the key to each, and a manifest for `headwright check`.

    Numbers and letters differ from student to student, the difficulty does not; the same seed gives
    the same sheets, whoever else is in the class. `headwright check ANSWERS --manifest
    OUT/manifest.json` judges everyone by the sheet they got.
    """
    from headwright.course.roster import read_roster
    from headwright.course.sheets.folder import is_written, write_folder
    from headwright.course.sheets.made import MANIFEST, made_manifest, made_sheets
    from headwright.course.sheets.pdf import require_tex
    from headwright.exercise.bank import load

    if with_pdf:
        require_tex()
    roster = read_roster(roster_file)
    base = load(bank_file)
    made = list(progress(made_sheets(roster, base, seed), "writing", total=len(roster)))
    manifest = made_manifest(made, base, seed)
    files = {place: data for one in made for place, data in one.files.items()}
    files[MANIFEST] = manifest.written()

    folder = Path(out_folder)
    written = is_written(folder, files)
    pdfs, unset = _pdfs(files) if with_pdf else ({}, [])
    if not written:
        write_folder(folder, files | pdfs)
    for place, pdf in pdfs.items() if written else ():
        write_bytes(folder / place, pdf)
    return _reply(folder, manifest, base, unset, written)


def _pdfs(files: dict[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """The sheets as PDF, and the names of those that TeX could not set."""
    from headwright.course.sheets.made import SHEETS
    from headwright.course.sheets.pdf import as_pdf

    sources = [place for place in files if place.startswith(SHEETS) and place.endswith(".tex")]
    pdfs = {}
    for place in progress(sources, "typesetting", total=len(sources)):
        pdf = as_pdf(files[place])
        if pdf is not None:
            pdfs[place.removesuffix(".tex") + ".pdf"] = pdf
    unset = [place for place in sources if place.removesuffix(".tex") + ".pdf" not in pdfs]
    return pdfs, unset


def _reply(folder: Path, manifest: Any, base: Any, unset: list[str], written: bool) -> Reply:
    from headwright.course.sheets.made import KEYS, MANIFEST, SHEETS
    from headwright.course.variants.bank import sheet_bank, varied

    differing = [question.id for question in sheet_bank(base) if varied(question)]
    data = {
        "course": manifest.course,
        "seed": manifest.seed,
        "manifest": str(folder / MANIFEST),
        "varied": differing,
        "unchanged": written,
        "without_pdf": unset,
        "sheets": [
            {
                "student": entry.student.id,
                "sheet": str(folder / SHEETS / f"{entry.file}.md"),
                "key": str(folder / KEYS / f"{entry.file}.md"),
                "bank": entry.bank,
                "variant": entry.variant.record(),
            }
            for entry in manifest.entries
        ],
    }

    def render(console: Console) -> None:
        state = "there already, and the same" if written else "written"
        console.print(f"{len(manifest.entries)} sheets with keys {state}: {escape(str(folder))}")
        asked = ", ".join(differing) or "nothing: this bank has no marks such as <<share_one>>"
        console.print(f"differs from sheet to sheet: {escape(asked)}")
        for place in unset:
            console.print(f"no PDF, TeX could not set it: {escape(place)}")
        manifest_file = escape(str(folder / MANIFEST))
        console.print(f"next: headwright check ANSWERS --manifest {manifest_file}")

    return Reply(data, render)
