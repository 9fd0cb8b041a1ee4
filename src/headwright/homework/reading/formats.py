"""From bytes to segments: encodings, Markdown, LaTeX, plain text, notebooks, Typst.

Every reader ends in the same traced text and the same scanner; formats differ only in what they
take away first. Nothing here raises on content: what cannot be read is a Document whose `unread`
says why.
"""

from __future__ import annotations

import json
import re
import unicodedata
from html import unescape
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.homework import limits
from headwright.homework.reading import tex, typst
from headwright.homework.reading.document import Document
from headwright.homework.reading.macros import STRUCK_OFF, STRUCK_ON, expanded
from headwright.homework.reading.segments import segmented
from headwright.homework.reading.traced import Traced

SUFFIXES = (".md", ".markdown", ".txt", ".text", ".tex", ".latex", ".ipynb", ".typ", ".rmd", ".qmd")
# Handed in often; named as unread, not passed over
FOREIGN = (".pdf", ".docx", ".odt", ".rtf", ".pages")

_CONTAINERS = {
    b"%PDF": "a PDF: give its LaTeX source or the text pulled out of it",
    b"PK\x03\x04": "a zip or office file: export it as text or Markdown",
    b"\x89PNG": "a picture: give the text",
    b"\xff\xd8\xff": "a picture: give the text",
    b"{\\rtf": "a rich text file: export it as text or Markdown",
    b"\x1f\x8b": "compressed data: unpack it first",
}
# Hangul first: its bytes are Chinese characters, too
_CANDIDATES = ("cp949", "gb18030", "cp1251", "cp1252")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_HALF = re.compile("[\ud800-\udfff]")
_NO_CHARACTER = "\ufffd"
_STRIKE = re.compile(
    r"~~(?=\S)((?:[^\n~$]|\$[^$\n]*\$){1,600}?)~~|<(del|s|strike)>(.{1,2000}?)</\2>", re.DOTALL
)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,12}|#\d{2,6}|#x[0-9a-fA-F]{2,5});")
_TAG = re.compile(
    r"</?(?:br|p|div|span|b|i|u|em|strong|center|details|summary|font|hr|ul|ol|li|table|tr|td|th|tbody|img|a)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<(sub|sup)>([^<>\n]{1,20})</\1>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([_*#>|~])")


# Letters that only look different: mathematical alphabets, full-width forms, the micro sign, the
# minus sign.
_ALIKE = {
    **{
        c: ord(unicodedata.normalize("NFKC", chr(c)))
        for c in range(0x1D400, 0x1D800)
        if unicodedata.name(chr(c), "")
    },
    **{
        c: c - 0xFEE0
        for c in (
            *range(0xFF10, 0xFF1A),
            *range(0xFF21, 0xFF3B),
            *range(0xFF41, 0xFF5B),
            0xFF0B,
            0xFF1D,
        )
    },
    **{ord(a): ord(b) for a, b in zip("µ−∗⋅⩽⩾ℎ", "μ-*·≤≥h", strict=True)},
}
# What copying from a PDF does: scripts fall onto lines of their own, a struck equals sign comes in
# two pieces.
_PDF_SLIPS = (
    (re.compile(r"(?<=[A-Za-zμ])([⊤ᵀ])[ \t]*\n[ \t]*([a-z0-9])(?=[ \t)])"), r"\1_\2"),
    (re.compile(r"[∑Σ]\s?([a-z])[ \t]*\n[ \t]*([a-z])\s?=\s?(\d)"), r"∑_{\2=\3}^\1"),
    (re.compile("\u0338\\s?=|=\u0338|/="), "≠"),
)


def read_file(path: Path, *, name: str | None = None) -> Document:
    """One file. A missing file is the caller's mistake and raises; an unreadable one is `unread`."""
    label = name or str(path)
    try:
        if not path.is_file():
            raise InputError(
                wanted="a readable document", got=f"no file at {path}", attempt="check the path"
            )
        size = path.stat().st_size
        if size > limits.MOST_BYTES:
            return _unread(
                label,
                f"the file has {size / 1e6:.0f} MB; the limit is {limits.MOST_BYTES / 1e6:.0f} MB",
            )
        data = path.read_bytes()
    except OSError as reason:
        return _unread(
            label, f"the file cannot be opened: {reason.strerror or type(reason).__name__}"
        )
    return read_bytes(data, name=label, suffix=path.suffix.lower())


def read_bytes(data: bytes, *, name: str, suffix: str = "") -> Document:
    for magic, what in _CONTAINERS.items():
        if data.startswith(magic):
            return _unread(name, f"this is {what}")
    text, notes = decoded(data)
    document = read_text(text, name=name, suffix=suffix)
    return Document(
        name, document.text, document.segments, (*notes, *document.notes), document.unread
    )


def read_text(text: str, *, name: str, suffix: str = "") -> Document:
    """The document in a string; the format follows from the suffix, or else from the text."""
    try:
        return _read(text, name, suffix)
    except limits.LimitReached as reason:
        return _unread(name, str(reason), text[: limits.MOST_CHARACTERS])
    except MemoryError:
        return _unread(name, "reading it needs more memory than one document may use")


def _read(text: str, name: str, suffix: str) -> Document:
    if suffix == ".ipynb" or (
        not suffix and text.lstrip()[:1] == "{" and '"cells"' in text[:100_000]
    ):
        try:
            text = notebook_text(text)
        except (ValueError, RecursionError) as reason:
            kept = _writable(text[: limits.MOST_CHARACTERS])
            return _unread(name, f"the notebook is damaged: {reason}", kept)
    if len(text) > limits.MOST_CHARACTERS:
        kept = _writable(text[: limits.MOST_CHARACTERS])
        return _unread(
            name, f"{len(text):,} characters; the limit is {limits.MOST_CHARACTERS:,}", kept
        )
    if not text.strip():
        return _unread(name, "the document is empty")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    controls = len(_CONTROL.findall(text))
    notes = _noted(text)
    text = _writable(text)
    if controls > 20 and controls > 0.05 * len(text):
        return _unread(name, f"binary data: {controls:,} control characters", text)
    source = Traced.of(_PRIVATE.sub("\ufffd", text.replace(_NO_CHARACTER, " ")).translate(_ALIKE))
    is_tex = suffix in (".tex", ".latex") or (suffix != ".ipynb" and tex.is_tex(text))
    if suffix == ".typ":
        source = typst.translated(source)
    source = _tex_source(source) if is_tex else _marked_up(source)
    document = segmented(name, text, source, tex=is_tex)
    return Document(name, text, document.segments, notes)


def _writable(text: str) -> str:
    """The text as every output can show it, character for character: neither control characters,
    which a terminal obeys, nor halves of characters, which no encoding can write."""
    return _HALF.sub(_NO_CHARACTER, _CONTROL.sub(_NO_CHARACTER, text))


def _noted(text: str) -> tuple[str, ...]:
    counted = {
        "control characters ignored": len(_CONTROL.findall(text)),
        "halves of characters (lone surrogates) ignored": len(_HALF.findall(text)),
    }
    return tuple(f"{count} {what}" for what, count in counted.items() if count)


def _tex_source(source: Traced) -> Traced:
    return tex.wrapped(tex.printed(expanded(tex.body(source))))


def _marked_up(source: Traced) -> Traced:
    """Markdown and plain text: entities, HTML scripts, strikes, escaped punctuation."""
    source = expanded(source)
    for slip, meant in _PDF_SLIPS:
        source = source.replace(slip, lambda m, meant=meant: m.expand(meant))
    if "<" in source.text:
        source = source.replace(
            _SCRIPT, lambda m: ("_{" if m[1].lower() == "sub" else "^{") + m[2] + "}"
        )
        source = source.replace(
            _TAG,
            lambda m: "\n" if m.group().lower().startswith(("<br", "<p", "</p", "<li")) else "",
        )
    if "&" in source.text:
        source = source.replace(_ENTITY, lambda m: unescape(m.group()).replace("\n", " "))
    if "~~" in source.text or "<" in source.text:
        source = _struck(source)
    if r"\sout" in source.text or r"\st{" in source.text:
        source = tex.wrapped(source)
    return source


def _struck(source: Traced) -> Traced:
    pieces, at = [], 0
    for match in _STRIKE.finditer(source.text):
        group = 1 if match[1] is not None else 3
        start, end = match.span(group)
        if source.text.count("$", start, end) % 2:
            continue
        pieces += [source.cut(at, match.start()), source.standing(STRUCK_ON, match.start(), start)]
        pieces += [source.cut(start, end), source.standing(STRUCK_OFF, end, match.end())]
        at = match.end()
    return Traced.join([*pieces, source.cut(at, len(source))]) if pieces else source


def notebook_text(raw: str) -> str:
    """The cells of a notebook, one below the other; code between fences, outputs left out."""
    book = json.loads(raw)
    cells = book.get("cells") if isinstance(book, dict) else None
    if cells is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        sheets = [sheet.get("cells") for sheet in book["worksheets"] if isinstance(sheet, dict)]
        lists = [sheet for sheet in sheets if isinstance(sheet, list)]
        cells = [cell for sheet in lists for cell in sheet] if lists else None
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells")
    return "\n\n".join(filter(None, (_cell(cell) for cell in cells)))


def _cell(cell: Any) -> str:
    if not isinstance(cell, dict):
        return ""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str) or not source.strip():
        return ""
    if cell.get("cell_type") == "code":
        return f"```python\n{source.replace('```', '``')}\n```"
    return source


def decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Text from bytes in whatever encoding; a guess is noted. Formulas are ASCII in all of them."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    sample = data[:4000]
    if sample.count(0) > len(sample) // 4:
        encoding = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
        return data.decode(encoding, "replace"), (f"read as {encoding}",)
    encoding = max(_CANDIDATES, key=lambda candidate: _plausible(data[:200_000], candidate))
    return data.decode(encoding, "replace"), (f"not UTF-8; read as {encoding}",)


_SCRIPTS = {
    "gb18030": re.compile("[\u4e00-\u9fa5，。：；（）、]"),
    "cp949": re.compile("[\uac00-\ud7a3]"),
    "cp1251": re.compile("[а-яё]"),
    "cp1252": re.compile("[äöüßéèêàçñáíóúãõâôÄÖÜÉ–’“”]"),
}


def _plausible(data: bytes, encoding: str) -> float:
    """How much of what is not ASCII looks like the script that this encoding is for."""
    text = data.decode(encoding, "replace")
    foreign = sum(1 for c in text if ord(c) > 127) or 1
    return (len(_SCRIPTS[encoding].findall(text)) - 3 * text.count("\ufffd")) / foreign


def _unread(name: str, reason: str, text: str = "") -> Document:
    return Document(name, text, (), (), reason)
