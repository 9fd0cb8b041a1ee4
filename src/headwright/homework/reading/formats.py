"""From a file, bytes or text to a document: which format it is, and the way through its reader.

    bytes -> text (`encodings`, `characters`) -> plain lines and formulas (`markup`) -> `segments`

Every reader ends in the same traced text and the same scanner; formats differ only in what they
take away first. Nothing here raises on content: what cannot be read is a Document whose `unread`
says why.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headwright.errors import InputError, MissingExtra
from headwright.homework import limits
from headwright.homework.reading import characters
from headwright.homework.reading.document import Document
from headwright.homework.reading.encodings import decoded
from headwright.homework.reading.markup import tex
from headwright.homework.reading.markup.markdown import plain_markdown
from headwright.homework.reading.markup.notebook import is_notebook, notebook_text
from headwright.homework.reading.markup.typst import markdown_from_typst
from headwright.homework.reading.segments.assembly import segmented
from headwright.homework.reading.sources import file_bytes, is_file
from headwright.homework.reading.traced_text import TracedText

_PDF = b"%PDF"
_CONTAINERS = {
    b"PK\x03\x04": "a zip or office file: export it as text or Markdown",
    b"\x89PNG": "a picture: give the text",
    b"\xff\xd8\xff": "a picture: give the text",
    b"{\\rtf": "a rich text file: export it as text or Markdown",
    b"\x1f\x8b": "compressed data: unpack it first",
}


def read_file(path: Path, *, name: str | None = None) -> Document:
    """One file. A missing one is the caller's mistake and raises; an unreadable one is `unread`."""
    name = name or str(path)
    if not is_file(path):
        raise InputError(
            wanted="a readable document", got=f"no file at {path}", attempt="check the path"
        )
    data, refused = file_bytes(path)
    if refused:
        return _unread(name, refused)
    return read_bytes(data, name=name, suffix=path.suffix.lower())


def read_bytes(data: bytes, *, name: str, suffix: str = "") -> Document:
    if data.startswith(_PDF):
        return _read_pdf(data, name)
    for magic, what in _CONTAINERS.items():
        if data.startswith(magic):
            return _unread(name, f"this is {what}")
    text, notes = decoded(data)
    document = read_text(text, name=name, suffix=suffix)
    return replace(document, notes=(*notes, *document.notes))


def _read_pdf(data: bytes, name: str) -> Document:
    """The text that is put together from a PDF is what the spans point into."""
    try:
        # Here, because its library is an extra
        from headwright.homework.reading.pdf.text import NotReadable, pdf_text
    except MissingExtra as reason:
        return _unread(name, f"this is a PDF: {reason}")
    try:
        text, notes = pdf_text(data)
    except (NotReadable, limits.LimitReached) as reason:
        return _unread(name, str(reason))
    except (MemoryError, RecursionError):
        return _unread(name, "reading this PDF needs more memory than one document may use")
    document = read_text(text, name=name, suffix=".md")
    return replace(document, notes=(*notes, *document.notes))


def read_text(text: str, *, name: str, suffix: str = "") -> Document:
    """The document in a string; the format follows from the suffix, or else from the text."""
    try:
        return _read(text, name, suffix)
    except limits.LimitReached as reason:
        return _unread(name, str(reason), text[: limits.MOST_CHARACTERS])
    except MemoryError:
        return _unread(name, "reading it needs more memory than one document may use")


def _read(text: str, name: str, suffix: str) -> Document:
    if suffix == ".ipynb" or (not suffix and is_notebook(text)):
        try:
            text = notebook_text(text)
        except (ValueError, RecursionError) as reason:
            return _unread(name, f"the notebook is damaged: {reason}", _beginning(text))

    if len(text) > limits.MOST_CHARACTERS:
        reason = f"{len(text):,} characters; the limit is {limits.MOST_CHARACTERS:,}"
        return _unread(name, reason, _beginning(text))
    if not text.strip():
        return _unread(name, "the document is empty")

    typed = text.replace("\r\n", "\n").replace("\r", "\n")
    text = characters.showable(typed)
    if characters.is_binary(typed):
        controls = characters.count_controls(typed)
        return _unread(name, f"binary data: {controls:,} control characters", text)

    is_tex = _is_tex(text, suffix)
    source = TracedText.of(characters.readable(text))
    if suffix == ".typ":
        source = markdown_from_typst(source)
    source = tex.plain_tex(source) if is_tex else plain_markdown(source)
    segments = segmented(source, text, tex=is_tex)
    return Document(name, text, segments, notes=characters.noted(typed))


def _is_tex(text: str, suffix: str) -> bool:
    if suffix in (".tex", ".latex"):
        return True
    return suffix != ".ipynb" and tex.is_tex(text)


def _beginning(text: str) -> str:
    return characters.showable(text[: limits.MOST_CHARACTERS])


def _unread(name: str, reason: str, text: str = "") -> Document:
    return Document(name, text, unread=reason)
