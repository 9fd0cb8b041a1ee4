"""Line numbers of offsets by bisection: counting from the top for every segment would be
quadratic."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class LineNumbers:
    starts: tuple[int, ...]  # where each line begins

    @classmethod
    def of(cls, text: str) -> LineNumbers:
        starts = [0]
        newline = text.find("\n")
        while newline >= 0:
            starts.append(newline + 1)
            newline = text.find("\n", newline + 1)
        return cls(tuple(starts))

    def at(self, offset: int) -> int:
        """Counted from 1."""
        return bisect_right(self.starts, offset)
