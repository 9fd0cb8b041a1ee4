"""A PDF as text: the one way into this package."""

from __future__ import annotations

from headwright.homework.reading.pdf.boxes import Box
from headwright.homework.reading.pdf.layout.italics import told_apart
from headwright.homework.reading.pdf.layout.lines import Line, body_size, page_lines
from headwright.homework.reading.pdf.layout.paragraphs import text_of
from headwright.homework.reading.pdf.layout.signs import with_whole_signs
from headwright.homework.reading.pdf.layout.stacks import stacked
from headwright.homework.reading.pdf.layout.strikes import without_struck
from headwright.homework.reading.pdf.layout.words import with_functions
from headwright.homework.reading.pdf.page.opened import NotReadable, opened
from headwright.homework.reading.pdf.page.state import Marks

__all__ = ["NotReadable", "pdf_text"]


def pdf_text(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Markdown with formulas in dollars, and notes on what was left out; `NotReadable` or
    `LimitReached` where there is no such text."""
    found = opened(data)
    letters: list[Box] = [box for page in found.pages for box in page.boxes]
    body = body_size(letters)
    pages = [_lines(page, body) for page in found.pages]
    return text_of(pages, body), found.notes


def _lines(page: Marks, body: float) -> list[Line]:
    shown = without_struck(page.boxes, page.rules)
    boxes = with_functions(with_whole_signs(told_apart(shown, body)))
    return page_lines(stacked(boxes, page.rules, body))
