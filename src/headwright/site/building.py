"""From the source tree to a folder with the whole site: pages, lab and tour."""

from __future__ import annotations

import gc
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from headwright.errors import HeadwrightError, InputError, MissingExtra
from headwright.files import noting_writes, write_text
from headwright.lab.export import export

try:
    import furo  # noqa: F401
    import myst_parser  # noqa: F401
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils
except ImportError as reason:
    raise MissingExtra(reason.name or "sphinx", "docs") from None

from headwright.site.settings import settings
from headwright.site.writing import write_sources

# A folder with this page is our site of an earlier build, not somebody else's, and is replaced.
_MARK = "reference/commands/docs.html"
# Where the tour's page finds the lab, both being in the site.
_LAB = "../lab/index.html"

Step = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Built:
    """A finished site: its `front` page, the number of its pages, what Sphinx complained about."""

    front: Path
    pages: int
    warnings: tuple[str, ...]


def build(root: Path, out: Path, program: click.Group, *, with_tour: bool, step: Step) -> Built:
    """Build the site of the source tree `root` in the folder `out`, whole or not at all. The tour
    is walked by a process of its own meanwhile, for it takes longer than the pages."""
    insist_on_own_folder(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # What is written on the way is not the site, and gone when somebody stops it.
    with TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder, noting_writes():
        scratch = Path(folder)
        site = scratch / "site"
        with _walking(scratch / "tour", wanted=with_tour) as tour:
            write_sources(root, scratch / "source", program, with_tour=with_tour)
            step(1, 4)
            warnings = _run_sphinx(scratch, with_tour=with_tour)
            step(2, 4)
            export(site / "lab")
            step(3, 4)
            said = tour.communicate()[1] if tour else ""
            # Ctrl+C ends the tour as well: whoever pressed it need not be told that it failed.
            step(4, 4)
            if tour:
                _take_tour(tour.returncode, said, scratch / "tour", site / "tour")
        pages = len(list(site.rglob("*.html")))
        _replace(out, site)
    return Built(out / "index.html", pages, warnings)


def insist_on_own_folder(out: Path) -> None:
    """Nobody's files are overwritten: the folder is new, empty, or a site built before."""
    if out.is_dir() and any(out.iterdir()) and not (out / _MARK).is_file():
        raise InputError(
            wanted="a new folder, or a site built before",
            got=f"{out}, with other files in it",
            attempt=f"--out {out / 'headwright-docs'}",
        )


def _run_sphinx(scratch: Path, *, with_tour: bool) -> tuple[str, ...]:
    complaints = io.StringIO()
    source = scratch / "source"
    with patch_docutils(), docutils_namespace(), _no_collection():
        sphinx = Sphinx(
            source,
            None,
            scratch / "site",
            scratch / "doctrees",
            "html",
            confoverrides=settings(with_tour=with_tour),
            status=None,
            warning=complaints,
            freshenv=True,
        )
        sphinx.build()
    lines = re.sub(r"\x1b\[[\d;]*m", "", complaints.getvalue()).splitlines()
    return tuple(line.replace(f"{source}/", "") for line in lines)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Sphinx makes millions of small objects and drops few: looking for garbage among them takes a
    third of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _walking(folder: Path, *, wanted: bool) -> Iterator[subprocess.Popen[str] | None]:
    """The process that walks the tour, ended with the block."""
    if not wanted:
        yield None
        return
    command = _tour_command(folder)
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=subprocess.PIPE, text=True) as tour:
        try:
            yield tour
        finally:
            tour.kill()


def _tour_command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "headwright", "tour", "--out", str(folder), "--lab", _LAB]


def _take_tour(code: int, said: str, folder: Path, place: Path) -> None:
    if code != 0:
        raise HeadwrightError(f"the tour did not finish: {said.strip()}")
    write_text(place / "report.html", (folder / "report.html").read_text(encoding="utf-8"))


def _replace(out: Path, site: Path) -> None:
    if out.is_dir():
        shutil.rmtree(out)
    site.rename(out)
