"""Which files of the source tree become pages, where they stand in the site, and how their links
move with them. The files themselves stay plain Markdown, to be read in a clone."""

from __future__ import annotations

import os.path
import re
from pathlib import Path, PurePosixPath

from headwright.files import write_bytes, write_text
from headwright.site.notebook import notebook_page

Places = dict[PurePosixPath, PurePosixPath]

DOCS = PurePosixPath("docs")
NOTEBOOK = ".ipynb"
OVERVIEW = PurePosixPath("overview.md")

# Files outside `docs/`, and the one whose name in the site says more than "README".
_MOVED = {
    "README.md": "index.md",
    "docs/README.md": str(OVERVIEW),
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "CITATION.cff": "project/CITATION.cff",
}
# What a clone shows and a site does not need, such as how to run the tests
_CLONE_ONLY = re.compile(r"<!-- clone only -->.*?<!-- end of clone only -->\n*", re.DOTALL)

_DOWNLOAD = "This page is a notebook: [download it]({})."
_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)(?P<after>(?:#[^)\s]*)?\))")


def places(root: Path) -> Places:
    """Every file of the site, by its path in the source tree. A notebook becomes a page."""
    files = sorted(path for path in (root / DOCS).rglob("*") if path.is_file())
    own = [PurePosixPath(path.relative_to(root).as_posix()) for path in files]
    shown = {path: _place(path) for path in own if "__pycache__" not in path.parts}
    moved = {PurePosixPath(path): PurePosixPath(place) for path, place in _MOVED.items()}
    return shown | moved


def _place(path: PurePosixPath) -> PurePosixPath:
    place = path.relative_to(DOCS)
    return place.with_suffix(".md") if path.suffix == NOTEBOOK else place


def write_pages(root: Path, folder: Path, known: Places) -> None:
    """Copy all files to their places, with links that hold there."""
    for path, place in known.items():
        file = root / path
        if path.suffix == ".md":
            text = _CLONE_ONLY.sub("", file.read_text(encoding="utf-8"))
            write_text(folder / place, moved_links(text, path, known))
        elif path.suffix == NOTEBOOK:
            # The link to the file itself is added last, for it must not lead to the page.
            data = file.read_bytes()
            text = moved_links(notebook_page(data), path, known)
            write_text(folder / place, f"{text}\n\n{_DOWNLOAD.format(path.name)}\n")
            write_bytes((folder / place).with_suffix(NOTEBOOK), data)
        else:
            write_bytes(folder / place, file.read_bytes())


def moved_links(text: str, path: PurePosixPath, known: Places) -> str:
    """The text of the page `path`, its links to other files of the tree put right. What leads out
    of the site stays as it is, and Sphinx complains."""
    here = known[path].parent

    def moved(link: re.Match[str]) -> str:
        goal = PurePosixPath(os.path.normpath(path.parent / link["target"]).replace("\\", "/"))
        if goal not in known:
            return link[0]
        target = os.path.relpath(known[goal], here).replace("\\", "/")
        return link["before"] + target + link["after"]

    return _LINK.sub(moved, text)
