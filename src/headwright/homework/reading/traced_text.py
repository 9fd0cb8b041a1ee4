"""Text that remembers where every character came from.

Comments are removed, macros expanded, Unicode turned into LaTeX; yet every verdict must point at
the characters the student typed. So each character carries the span of source text it stands for.
The alternative, mapping offsets backwards through each rewriting step, needs an inverse of every
step and is wrong at its edges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class TracedText:
    """`text[i]` stands for the source characters `start[i]:end[i]`."""

    text: str
    start: Any  # int32, one per character
    end: Any

    @classmethod
    def of(cls, text: str) -> TracedText:
        """The source itself: every character stands for itself."""
        start = np.arange(len(text), dtype=np.int32)
        return cls(text, start, start + 1)

    @classmethod
    def at(cls, text: str, span: tuple[int, int]) -> TracedText:
        """Text of which every character stands for the same span."""
        start = np.full(len(text), span[0], np.int32)
        end = np.full(len(text), span[1], np.int32)
        return cls(text, start, end)

    @classmethod
    def join(cls, pieces: Iterable[TracedText]) -> TracedText:
        pieces = [piece for piece in pieces if piece.text]
        if not pieces:
            return cls.of("")

        text = "".join(piece.text for piece in pieces)
        start = np.concatenate([piece.start for piece in pieces])
        end = np.concatenate([piece.end for piece in pieces])
        return cls(text, start, end)

    def __len__(self) -> int:
        return len(self.text)

    def cut(self, start: int, end: int) -> TracedText:
        return TracedText(self.text[start:end], self.start[start:end], self.end[start:end])

    def since(self, start: int) -> TracedText:
        """All of it from `start` on."""
        return self.cut(start, len(self))

    def strip(self) -> TracedText:
        left = len(self.text) - len(self.text.lstrip())
        right = len(self.text.rstrip())
        return self.cut(left, max(left, right))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The source span that the characters start:end stand for."""
        if start < end:
            return int(self.start[start:end].min()), int(self.end[start:end].max())

        # No character at all: a place between two of them
        if start < len(self):
            place = int(self.start[start])
        elif len(self):
            place = int(self.end[-1])
        else:
            place = 0
        return place, place

    def stand_in(self, text: str, start: int, end: int) -> TracedText:
        """New text in place of the characters start:end; all of it points at their whole span."""
        return TracedText.at(text, self.span(start, end))

    def replace(
        self, pattern: re.Pattern[str], write: Callable[[re.Match[str]], str | None]
    ) -> TracedText:
        """Every match rewritten by `write`; `None` keeps the match as it is."""
        edits: list[tuple[int, int, TracedText]] = []
        for match in pattern.finditer(self.text):
            new = write(match)
            start, end = match.span()
            if new is not None and start < end:
                edits.append((start, end, self.stand_in(new, start, end)))
        return self.edited(edits)

    def edited(self, edits: Iterable[tuple[int, int, TracedText]]) -> TracedText:
        """With other text in place of the stretches start:end, which follow each other in order."""
        pieces: list[TracedText] = []
        reached = 0
        for start, end, new in edits:
            pieces.append(self.cut(reached, start))
            pieces.append(new)
            reached = end
        if not pieces:
            return self
        return TracedText.join([*pieces, self.since(reached)])
