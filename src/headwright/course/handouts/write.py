"""A roster in, a folder of sheets out: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.course.handouts.folder import is_written, write_folder
from headwright.course.handouts.made import MANIFEST, SHEETS, made_manifest, made_sheets
from headwright.course.handouts.pdf import as_pdf, require_tex
from headwright.course.manifest import Manifest
from headwright.course.roster import read_roster
from headwright.exercise.bank import Bank, load
from headwright.files import write_bytes

_Watched = Callable[[Iterable[Any], str, int], Iterable[Any]]


@dataclass(frozen=True)
class Sheets:
    """What was written. `unchanged`: the very same sheets stood there already; `without_pdf`: the
    sheets that TeX could not set."""

    folder: Path
    manifest: Manifest
    unchanged: bool
    without_pdf: tuple[str, ...] = ()


def _unwatched(items: Iterable[Any], label: str, total: int) -> Iterable[Any]:
    return items


def sheets(
    roster: str | Path,
    out: str | Path,
    *,
    seed: Any = "0",
    bank: Bank | str | Path | None = None,
    pdf: bool = False,
    watched: _Watched = _unwatched,
) -> Sheets:
    """One sheet per student of the roster (a CSV file), the key to each, and the manifest that
    `check` reads. `watched(items, label, total)` may follow the progress."""
    if pdf:
        require_tex()
    students = read_roster(roster)
    base = bank if isinstance(bank, Bank) else load(bank)
    made = list(watched(made_sheets(students, base, str(seed)), "writing", len(students)))
    manifest = made_manifest(made, base, str(seed))
    files = {place: data for one in made for place, data in one.files.items()}
    files[MANIFEST] = manifest.written()

    folder = Path(out)
    unchanged = is_written(folder, files)
    sources = [place for place in files if place.startswith(SHEETS) and place.endswith(".tex")]
    pdfs = _pdfs({place: files[place] for place in sources}, watched) if pdf else {}
    if not unchanged:
        write_folder(folder, files | pdfs)
    else:
        for place, data in pdfs.items():
            write_bytes(folder / place, data)
    unset = [place for place in sources if pdf and _beside(place) not in pdfs]
    return Sheets(folder, manifest, unchanged, tuple(unset))


def _pdfs(sources: dict[str, bytes], watched: _Watched) -> dict[str, bytes]:
    found = {}
    for place in watched(sources, "typesetting", len(sources)):
        data = as_pdf(sources[place])
        if data is not None:
            found[_beside(place)] = data
    return found


def _beside(place: str) -> str:
    return place.removesuffix(".tex") + ".pdf"
