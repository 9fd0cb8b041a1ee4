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
class Traced:
    """`text[i]` stands for the source characters `start[i]:end[i]`."""

    text: str
    start: Any  # int32, one per character
    end: Any

    @classmethod
    def of(cls, text: str) -> Traced:
        start = np.arange(len(text), dtype=np.int32)
        return cls(text, start, start + 1)

    @classmethod
    def at(cls, text: str, span: tuple[int, int]) -> Traced:
        """Text of which every character stands for the same span."""
        return cls(
            text, np.full(len(text), span[0], np.int32), np.full(len(text), span[1], np.int32)
        )

    @classmethod
    def join(cls, pieces: Iterable[Traced]) -> Traced:
        pieces = [piece for piece in pieces if piece.text]
        if not pieces:
            return cls.of("")
        return cls(
            "".join(piece.text for piece in pieces),
            np.concatenate([piece.start for piece in pieces]),
            np.concatenate([piece.end for piece in pieces]),
        )

    def __len__(self) -> int:
        return len(self.text)

    def cut(self, start: int, end: int) -> Traced:
        return Traced(self.text[start:end], self.start[start:end], self.end[start:end])

    def strip(self) -> Traced:
        left = len(self.text) - len(self.text.lstrip())
        return self.cut(left, max(left, len(self.text.rstrip())))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The source span that the characters start:end stand for."""
        if start >= end:
            at = (
                int(self.start[start])
                if start < len(self)
                else int(self.end[-1])
                if len(self)
                else 0
            )
            return at, at
        return int(self.start[start:end].min()), int(self.end[start:end].max())

    def standing(self, text: str, start: int, end: int) -> Traced:
        """New text in place of the characters start:end; all of it points at their whole span."""
        return Traced.at(text, self.span(start, end))

    def replace(
        self, pattern: re.Pattern[str], write: Callable[[re.Match[str]], str | None]
    ) -> Traced:
        """Every match rewritten by `write`; `None` keeps the match as it is."""
        pieces, at = [], 0
        for match in pattern.finditer(self.text):
            new = write(match)
            if new is None or match.start() == match.end():
                continue
            pieces += [self.cut(at, match.start()), self.standing(new, match.start(), match.end())]
            at = match.end()
        return Traced.join([*pieces, self.cut(at, len(self))]) if pieces else self
