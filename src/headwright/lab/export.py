"""A copy of the lab without Python: three pages, each one file that opens by double click.

Browsers load neither modules nor data from files, so every page carries its modules, documents and
style sheets inside; `static/js/packed.js` starts it. The modules stay as they are, but for the
names by which they import each other: a module inside a page has no folder, so `./draw.js` becomes
`js/drawing/draw.js`, which an import map resolves.

Rejected: a bundler. It would be a second language to install for what an import map does.
"""

from __future__ import annotations

import json
import posixpath
import re
from base64 import b64encode
from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path

from headwright.errors import HeadwrightError
from headwright.files import write_bytes
from headwright.lab import content

_PAGES = ("index.html", "check.html", "cards.html")
# Documents that only one page reads
_OWN_DOCUMENTS = {"data/cards.json": "cards.html", "stations/": "index.html"}
_IMPORT = re.compile(r'(\bfrom|\bimport|\bimport\()(\s*)"(\.{1,2}/[^"]+)"')
_SHEET = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n')
_PRELOAD = re.compile(r'<link rel="(?:module)?preload" [^>]*>\n')
_START = re.compile(r'<script type="module" src="([^"]+)"></script>\n')
_STARTER = "js/packed.js"


def export(folder: str | Path) -> dict[str, int]:
    """Write the pages and return the size of each by its name."""
    files = _files()
    written = {}
    for name in _PAGES:
        data = _page(name, files).encode()
        file = Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, data)
        written[name] = len(data)
    return written


def _files() -> dict[str, str]:
    """Everything the server would answer with, by address."""
    made = {path: make().decode() for path, make in content.documents(engine=False).items()}
    read = {path: file.read_text(encoding="utf-8") for path, file in _walk(content.STATIC)}
    return {**read, **made}


def _page(name: str, files: dict[str, str]) -> str:
    """One page with all it needs inside."""
    icon = "data:image/svg+xml;base64," + b64encode(files["icon.svg"].encode()).decode()
    text = _PRELOAD.sub("", files[name]).replace("icon.svg", icon)
    text = _SHEET.sub(lambda link: f"<style>\n{files[link[1]]}</style>\n", text)
    before, start, after = _START.split(text)
    # At the end of the body: unlike a module's tag, this script does not wait for the page.
    packed = _packed(name, start, files)
    return before + after.replace("</body>", f"{packed}\n</body>")


def _packed(page: str, start: str, files: dict[str, str]) -> str:
    """The page's modules and documents, and the script that starts it."""
    modules = _reached(start, files)
    documents = {path: text for path, text in files.items() if _reads(page, path)}
    packed = {"start": start, "modules": modules, "documents": documents}
    # "</script>" in a string would end the element
    inside = json.dumps(packed, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<script type="application/json" id="packed">{inside}</script>\n'
        f"<script>\n{files[_STARTER]}</script>"
    )


def _reached(start: str, files: dict[str, str]) -> dict[str, str]:
    """A module and all it imports, at once or later, with imports by address."""
    modules: dict[str, str] = {}
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path in modules:
            continue
        found: list[str] = []
        modules[path] = _IMPORT.sub(_by_address(path, found, files), files[path])
        waiting += found
    return modules


def _by_address(
    importer: str, found: list[str], files: dict[str, str]
) -> Callable[[re.Match[str]], str]:
    def name(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), match[3]))
        if path not in files:
            raise HeadwrightError(f"{importer} imports {match[3]}, which is not there")
        found.append(path)
        return f'{match[1]}{match[2]}"{path}"'

    return name


def _reads(page: str, path: str) -> bool:
    """Data, texts of stations and style sheets that are fetched later belong to the page."""
    for start, reader in _OWN_DOCUMENTS.items():
        if path.startswith(start):
            return page == reader
    later = page == "index.html" and path in ("css/embed.css", "css/opening.css")
    return later or path == "data/site.json"


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        found += _walk(entry, f"{path}/") if entry.is_dir() else [(path, entry)]
    return found
