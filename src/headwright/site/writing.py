"""Everything that Sphinx reads, in one folder: the pages of the source tree and those made from the
code."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import click

from headwright.files import write_text
from headwright.site import navigation
from headwright.site.commands import command_pages
from headwright.site.pages import DOCS, OVERVIEW, places, write_pages
from headwright.site.public_names import public_names
from headwright.site.python_names import python_pages

FRONT = PurePosixPath("index.md")
# The hand-written pages below which the reference stands
_COMMANDS = PurePosixPath("reference/commands.md")
_PYTHON = PurePosixPath("reference/python.md")

_LAB = '<a href="lab/index.html">Open the lab</a>'
_TOUR = '<a href="tour/report.html">Walk the tour</a>'


def write_sources(root: Path, folder: Path, program: click.Group, *, with_tour: bool) -> None:
    """Write the site's sources. `root` is the source tree."""
    known = places(root)
    write_pages(root, folder, known)
    texts = {page: _read(folder, page) for page in known.values() if page.suffix == ".md"}

    of_commands = command_pages(program)
    of_names = python_pages(public_names(texts.values()))
    for page, text in (of_commands | of_names).items():
        write_text(folder / page, text)
    _append(folder, _COMMANDS, navigation.toctree(list(of_commands)))
    _append(folder, _PYTHON, navigation.toctree(list(of_names)))

    overview = (root / DOCS / "README.md").read_text(encoding="utf-8")
    top: list[PurePosixPath | str] = [f"Overview </{OVERVIEW.with_suffix('')}>"]
    for name, pages in navigation.sections(known, overview).items():
        top.append(_section(folder, name, pages))
    front = with_doors(texts[FRONT], with_tour=with_tour)
    write_text(folder / FRONT, f"{front}\n\n{navigation.toctree(top)}")


def with_doors(front: str, *, with_tour: bool) -> str:
    """The front page with links to what can be tried at once, below its picture."""
    doors = [_LAB, _TOUR] if with_tour else [_LAB]
    picture = re.search(r"^!\[.*\)$", front, re.MULTILINE)
    if picture is None:
        return front
    shown = f'<p class="doors">{"".join(doors)}</p>'
    return f"{front[: picture.end()]}\n\n{shown}\n{front[picture.end() :]}"


def _section(folder: Path, name: str, pages: list[PurePosixPath]) -> PurePosixPath:
    """The page of a section; a section of one page needs none."""
    if len(pages) == 1:
        return pages[0]
    index = PurePosixPath(name) / "index.md"
    write_text(folder / index, navigation.section_page(name, pages))
    return index


def _read(folder: Path, page: PurePosixPath) -> str:
    return (folder / page).read_text(encoding="utf-8")


def _append(folder: Path, page: PurePosixPath, text: str) -> None:
    write_text(folder / page, f"{_read(folder, page)}\n\n{text}")
