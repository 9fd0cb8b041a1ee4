"""The documents that a caller names: files, folders, or text that is already in hand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.homework import limits

_SUFFIXES = (
    ".md", ".markdown", ".txt", ".text", ".tex", ".latex", ".ipynb", ".typ", ".rmd", ".qmd",
    ".pdf",
)  # fmt: skip
# Handed in often; named as unread, not passed over
_FOREIGN_SUFFIXES = (".docx", ".odt", ".rtf", ".pages")
# A text that ends so is meant as a file's name
_FILE_NAME = re.compile(r"[^\n$]{1,255}\.(?:md|markdown|tex|txt|ipynb|typ|pdf)")
_SKIPPED_FOLDERS = {".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__", "node_modules"}


@dataclass(frozen=True)
class Source:
    """One document to judge: a file, or text that is already in hand (standard input)."""

    name: str  # printable; the path may not be
    path: Path | None = None
    text: str = ""
    refused: str = ""  # why it is not even opened


def printable(name: str | Path) -> str:
    """A file's name for people and tables: bytes that are no text, and control characters (a
    terminal obeys them), are spelled out as in \\x1b."""
    return "".join(c if c.isprintable() else _spelled_out(c) for c in str(name))


def _spelled_out(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte of a file name that it could not decode
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def named(given: Any) -> Source:
    """One document: a file, or the text itself. What looks like the name of a file must be one."""
    if not isinstance(given, (str, Path)):
        raise InputError(
            wanted="a document: the path of a file, or the text itself",
            got=type(given).__name__,
            attempt='check("answers.md")',
        )
    text = str(given)
    is_name = isinstance(given, Path) or _FILE_NAME.fullmatch(text) is not None
    if is_name and not is_file(given):
        raise InputError(
            wanted="a document",
            got=f"no file {printable(given)}",
            attempt="check the path, or pass the text itself",
        )
    if is_name or ("\n" not in text and is_file(given)):
        return Source(printable(given), path=Path(given))
    return Source("text", text=text)


def is_file(name: str | Path) -> bool:
    """Is there a file of this name? A text that is no name (too long, with a null in it) names
    none."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def file_bytes(path: Path) -> tuple[bytes, str]:
    """What is in a file, and why it is not read; one of them is empty, or the file is."""
    try:
        size = path.stat().st_size
        if size > limits.MOST_BYTES:
            most = limits.MOST_BYTES / 1e6
            return b"", f"the file has {size / 1e6:.0f} MB; the limit is {most:.0f} MB"
        return path.read_bytes(), ""
    except OSError as reason:
        what = reason.strerror or type(reason).__name__
        return b"", f"the file cannot be opened: {what}"


def sources(paths: Sequence[str | Path]) -> list[Source]:
    """The documents that files and folders name, in order, each once. Folders are searched for
    known suffixes; links inside a folder are followed only as far as the folder itself."""
    found: dict[Path | None, Source] = {}
    for given in paths:
        for source in _at(Path(given)):
            found.setdefault(source.path, source)

    if not found:
        raise InputError(
            wanted="at least one document",
            got="no file with a known suffix",
            attempt=f"files ending in {', '.join(_SUFFIXES)}",
        )
    return list(found.values())


def _at(path: Path) -> Iterator[Source]:
    if os.path.isdir(path):
        yield from _in_folder(path)
    elif is_file(path):
        yield Source(printable(path), path)
    else:
        what = "a link to nothing" if os.path.islink(path) else "nothing there"
        raise InputError(
            wanted="a document or a folder of documents",
            got=f"{what}: {printable(path)}",
            attempt="check the path",
        )


def _in_folder(folder: Path) -> Iterator[Source]:
    root = folder.resolve()
    for base, folders, names in os.walk(folder, followlinks=False):
        visited = [name for name in folders if _is_visited(name)]
        folders[:] = sorted(visited)  # in place: this is how os.walk is told where to go
        for name in sorted(names):
            path = Path(base, name)
            if _is_document(path):
                yield Source(printable(path), path, refused=_refusal(path, root))


def _is_visited(folder: str) -> bool:
    return folder not in _SKIPPED_FOLDERS and not folder.startswith(".")


def _is_document(path: Path) -> bool:
    known = path.suffix.lower() in (*_SUFFIXES, *_FOREIGN_SUFFIXES)
    return known and not path.name.startswith(".")


def _refusal(path: Path, root: Path) -> str:
    """Why a file in a folder is not opened; empty where it is."""
    if path.is_symlink():
        try:
            goal = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return "it is a link to nothing"
        if not goal.is_relative_to(root):
            return "it is a link out of the folder"
    return "" if path.is_file() else "it is not an ordinary file"
