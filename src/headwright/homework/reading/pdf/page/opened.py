"""A PDF's pages as marks, or the reason why there is nothing to read on them."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

from headwright.homework.limits import LimitReached
from headwright.homework.reading.pdf.boxes import UNKNOWN
from headwright.homework.reading.pdf.page.fonts import Font
from headwright.homework.reading.pdf.page.library import pypdf
from headwright.homework.reading.pdf.page.marks import PageReader
from headwright.homework.reading.pdf.page.state import Marks, Spent

MOST_PAGES = 120
_PDFTEX = "pdftex"
_TEX_PROGRAMS = (_PDFTEX, "luatex", "xetex", "xdvipdfmx", "dvips", "dvipdfm", "latex")
_MOST_ANNOTATIONS = 500  # of one page
_WRITTEN_ON_TOP = ("/FreeText", "/Ink", "/Stamp")
_MOST_UNKNOWN = 0.02  # of the letters
_SOURCE = "give its LaTeX source or the text extracted from it"


class NotReadable(Exception):
    """There is no text that this program can read; the message is the reason."""


@dataclass(frozen=True)
class Pages:
    pages: list[Marks]
    notes: tuple[str, ...] = ()


def opened(data: bytes) -> Pages:
    """All pages, or `NotReadable`. A damaged file fails in many ways inside the library: all of
    them mean the same for the reader."""
    try:
        return _opened(data)
    except (LimitReached, NotReadable, MemoryError):
        raise
    except Exception:
        raise NotReadable(f"this is a PDF that is damaged: {_SOURCE}") from None


def _opened(data: bytes) -> Pages:
    reader = pypdf.PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted and not _opens_without_password(reader):
        raise NotReadable("this is a PDF that is encrypted: save it without a password")
    count = len(reader.pages)
    if count > MOST_PAGES:
        raise LimitReached(f"a PDF of {count:,} pages; the limit is {MOST_PAGES}")
    if not count:
        raise NotReadable("this is a PDF without pages")

    _must_be_printed(reader)
    fonts: dict[int, Font] = {}
    spent = Spent()
    pages = [_page(reader, page, fonts, spent) for page in islice(reader.pages, MOST_PAGES)]
    _must_be_text(pages)
    _must_be_tex(reader, fonts)
    _must_be_known(pages)
    return Pages(pages, _notes(pages))


def _page(reader: Any, page: Any, fonts: dict[int, Font], spent: Spent) -> Marks:
    following = PageReader(reader, fonts, spent)
    contents = page.get("/Contents")
    resources = page.get("/Resources")
    if contents is not None:
        following.read(contents.get_object(), resources.get_object() if resources else {})
    return following.marks


def _opens_without_password(reader: Any) -> bool:
    """Some files only forbid printing. The library may lack what a cipher needs."""
    try:
        return bool(reader.decrypt(""))
    except Exception:
        return False


def _must_be_printed(reader: Any) -> None:
    """What is typed or drawn on top of the pages is not part of them: its author would be told
    that answers are missing."""
    for page in islice(reader.pages, MOST_PAGES):
        annotations = page.get("/Annots")
        for reference in annotations.get_object()[:_MOST_ANNOTATIONS] if annotations else ():
            if _holds_an_answer(reference.get_object()):
                raise NotReadable(
                    "this is a PDF with text or handwriting on top of its pages (a form, comments, "
                    "ink), which is not read: print it to a new PDF, or give the text"
                )


def _holds_an_answer(annotation: Any) -> bool:
    kind = annotation.get("/Subtype")
    is_filled = annotation.get("/FT") == "/Tx" and bool(str(annotation.get("/V", "")).strip())
    return kind in _WRITTEN_ON_TOP or (kind == "/Widget" and is_filled)


def _must_be_text(pages: list[Marks]) -> None:
    if any(page.boxes for page in pages):
        return
    hidden = sum(page.hidden for page in pages)
    if hidden or any(page.pictures for page in pages):
        raise NotReadable(f"this is a PDF of pictures (a scan) without text: {_SOURCE}")
    raise NotReadable(f"this is a PDF without text: {_SOURCE}")


def _must_be_tex(reader: Any, fonts: dict[int, Font]) -> None:
    made_by = " ".join(str(value) for value in _programs(reader)).lower()
    pictures = [font for font in fonts.values() if font.is_bitmap]
    if any(not font.letters for font in pictures) or (pictures and _PDFTEX not in made_by):
        raise NotReadable(f"this is a PDF with letters as pictures (Type 3 fonts): {_SOURCE}")
    if any(font.is_tex for font in fonts.values()):
        return
    if any(name in made_by for name in _TEX_PROGRAMS):
        return
    raise NotReadable(
        "this is a PDF that LaTeX did not make (printed by a browser or an office program), and "
        f"its formulas cannot be put together: {_SOURCE}"
    )


def _must_be_known(pages: list[Marks]) -> None:
    """A file may draw letters without saying which they are (Chinese fonts without a table)."""
    letters = [box.latex for page in pages for box in page.boxes]
    unknown = letters.count(UNKNOWN)
    if unknown > _MOST_UNKNOWN * len(letters):
        share = f"{unknown:,} of {len(letters):,} letters"
        raise NotReadable(f"this is a PDF whose fonts do not name {share}: {_SOURCE}")


def _programs(reader: Any) -> list[Any]:
    facts = reader.metadata or {}
    return [facts.get("/Producer", ""), facts.get("/Creator", "")]


def _notes(pages: list[Marks]) -> tuple[str, ...]:
    blind = [str(number) for number, page in enumerate(pages, 1) if not page.boxes]
    pictured = [str(number) for number, page in enumerate(pages, 1) if page.pictures]
    notes: list[str] = []
    if blind:
        notes.append(f"pages without text: {', '.join(blind)}")
    if pictured:
        notes.append(f"pictures are not read (page {', '.join(pictured)})")
    return tuple(notes)
