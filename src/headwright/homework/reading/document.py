"""What the reader hands on: a document as a row of segments that know their place in the student's
text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from headwright.homework.reading.traced_text import TracedText

Kind = Literal["math", "prose", "heading", "code"]
Voice = Literal["", "answer", "question", "quote"]


@dataclass(frozen=True)
class Segment:
    """One stretch of a document.

    `text` is what to read: macros expanded, comments gone, of mathematics the inside of the
    delimiters. `document.text[start:end]` is what the student typed.
    """

    kind: Kind
    text: str
    start: int
    end: int
    line_start: int  # counted from 1
    line_end: int
    display: bool = False
    struck: bool = False
    # Numbering at its beginning, as written and cut out of `text`: "(a) - i)", "1.2"
    label: str | None = None
    # Who speaks, where the document says so ("Answer:", \ifans, points in brackets)
    voice: Voice = ""
    paragraph: int = 0  # segments with the same number stand in one paragraph
    trace: TracedText | None = field(default=None, repr=False, compare=False)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the document of `text[start:end]`."""
        if self.trace is None or not len(self.trace):
            return self.start, self.end
        return self.trace.span(start, end)


@dataclass(frozen=True)
class Document:
    """Segments in document order, not overlapping. `unread` says why there are none, where it is
    not empty."""

    name: str
    text: str
    segments: tuple[Segment, ...] = ()
    notes: tuple[str, ...] = ()  # what the reader had to repair or give up
    unread: str = ""
