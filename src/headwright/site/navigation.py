"""The sections of the site and the order of their pages, which is the order in which the overview
names them: nobody keeps a second list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from headwright.site.pages import DOCS, Places

# Folder -> title and what it is for, in the order of the navigation; a folder that is not named
# here comes last, under its own name.
_SECTIONS = {
    "start": ("Start", "The first steps."),
    "guides": ("Guides", "One page per question, each with commands and Python to copy."),
    "notebooks": ("Notebooks", "The same, to run cell by cell."),
    "concepts": ("Concepts", "The mathematics: what is computed, and why it can be trusted."),
    "reference": ("Reference", "Every command, every name, file formats and benchmarks."),
    "gallery": ("Gallery", "Broken attention layers, and what finds them."),
    "studies": ("Studies", "Questions that took many runs, with their tables and figures."),
    "project": ("Project", "How to contribute, what changed, and how to report a problem."),
}

Sections = dict[str, list[PurePosixPath]]


def sections(known: Places, overview: str) -> Sections:
    """The pages of each folder. `overview` is the text of the page that gives their order."""
    links = re.findall(r"\]\(([^)\s#]+)", overview)
    named = [known.get(DOCS / link, PurePosixPath(link)) for link in links]
    rank = {page: number for number, page in reversed(list(enumerate(named)))}
    pages = [page for page in known.values() if page.suffix == ".md" and len(page.parts) > 1]
    pages.sort(key=lambda page: (rank.get(page, len(rank)), str(page)))

    folders = [*_SECTIONS, *sorted({page.parts[0] for page in pages} - set(_SECTIONS))]
    found = {folder: [page for page in pages if page.parts[0] == folder] for folder in folders}
    return {folder: inside for folder, inside in found.items() if inside}


def section_page(folder: str, pages: Sequence[PurePosixPath]) -> str:
    """The page of a section: the titles of its pages."""
    title, purpose = _SECTIONS.get(folder, (folder.capitalize(), ""))
    listed = "\n".join(f"- [](/{page})" for page in pages)
    return "\n\n".join([f"# {title}", purpose, listed, toctree(pages)])


def toctree(pages: Sequence[PurePosixPath | str]) -> str:
    """What puts pages into the navigation, below the page that this is written on."""
    entries = "\n".join(_entry(page) for page in pages)
    return f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _entry(page: PurePosixPath | str) -> str:
    return page if isinstance(page, str) else f"/{page.with_suffix('')}"
