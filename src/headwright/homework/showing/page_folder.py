"""The folder that holds a class's pages: one run writes into it at a time, and leaves only its own
pages there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from headwright.errors import InputError
from headwright.files import write_text
from headwright.homework.reading.sources import printable
from headwright.homework.showing.pages import DESCRIPTION, PLACE_OF_MARKS
from headwright.homework.verdict import Report

_LOCK = ".headwright-check.lock"
_RECORD = ".headwright-pages.json"
_HEAD = 2_000  # bytes of a page in which its description stands
_LONGEST = 50  # characters of a name that stand in a page's: 255 bytes are the most a file has


@dataclass(frozen=True)
class Entry:
    """What the index needs to know of a page that is already written."""

    report: Report
    file: str


class PageFolder:
    """Pages are written as documents are done, so that memory does not grow with the class."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []

    def add(self, report: Report, html: str) -> None:
        entry = Entry(report, _page_name(report))
        self.entries.append(entry)
        write_text(self.path / entry.file, html)

    def complete(self, marks: Callable[[Report], str]) -> None:
        """Put the marks into the pages, once all documents of a student are judged."""
        for entry in self.entries:
            file = self.path / entry.file
            html = file.read_text("utf-8")
            write_text(file, html.replace(PLACE_OF_MARKS, marks(entry.report), 1))

    def finish(self, index: str) -> None:
        """The index of these pages; those of an earlier, longer run go."""
        write_text(self.path / "index.html", index)
        self._clear({entry.file for entry in self.entries})

    def finish_part(self, index: str, others: Callable[[str], bool]) -> bool:
        """The same in a course, where this run may be about a part of the class: pages of documents
        that are `others` stay, and with them the index of the whole class. Is it the whole?"""
        record = self.path / _RECORD
        written = {entry.file: entry.report.document for entry in self.entries}
        left = {file: document for file, document in _recorded(record).items() if others(document)}
        pages = {**left, **written}
        whole = len(pages) == len(written)
        if whole:
            write_text(self.path / "index.html", index)
        write_text(record, json.dumps(pages, indent=1, sort_keys=True))
        self._clear(pages.keys())
        return whole

    def _clear(self, pages: Collection[str]) -> None:
        for file in self.path.glob("*.html"):
            if file.name not in pages and _is_ours(file):
                file.unlink(missing_ok=True)


def _recorded(record: Path) -> dict[str, str]:
    """Which document each page was of, as far as that was written down and the page is there."""
    try:
        pages = json.loads(record.read_text("ascii"))
    except (OSError, ValueError, RecursionError):
        return {}
    known = pages.items() if isinstance(pages, dict) else ()
    return {str(file): str(document) for file, document in known if _is_ours(record.parent / file)}


def _page_name(report: Report) -> str:
    """Depends on the document alone, so that a link that was handed out never leads to somebody
    else's text after the next run."""
    whose = report.student or Path(report.document).name
    readable = re.sub(r"[^\w.-]+", "-", whose).strip("-.")[:_LONGEST] or "document"
    digest = hashlib.sha256(report.document.encode("utf-8")).hexdigest()
    return f"{readable}-{digest[:12]}.html"


def _is_ours(file: Path) -> bool:
    """Only what this program wrote may be removed: the page says so in its head."""
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as page:
        return DESCRIPTION.encode("ascii") in page.read(_HEAD)


@contextmanager
def opened(path: Path) -> Iterator[PageFolder]:
    """The folder, for this run alone. The lock is the system's, so that a run that crashes leaves
    none."""
    path.mkdir(parents=True, exist_ok=True)
    lock = path / _LOCK
    with lock.open("ab") as handle:
        if not _taken(handle) or not _still_there(handle, lock):
            raise InputError(
                wanted="a folder for the pages of one run",
                got=f"{printable(path)}, which another run is writing into",
                attempt="wait until it is done, or name another folder",
            )
        try:
            yield PageFolder(path)
        finally:
            with suppress(OSError):  # Windows keeps a file that is open
                lock.unlink()


def _taken(handle: BinaryIO) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: nothing can be known, and nothing is refused
        return True
    return True


def _still_there(handle: BinaryIO, lock: Path) -> bool:
    """Not so if the run before us removed the file between our opening and our locking it."""
    try:
        return os.path.samestat(os.fstat(handle.fileno()), lock.stat())
    except OSError:
        return False
