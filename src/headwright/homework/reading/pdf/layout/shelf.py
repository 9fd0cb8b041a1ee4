"""The boxes of a page by height."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from headwright.homework.reading.pdf.boxes import Box


class Shelf:
    """The boxes of a page by height, so that a rule finds what is near it."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._rows = sorted(((box.y, box.x0, i, box) for i, box in enumerate(boxes)))
        self._next = len(self._rows)

    def near(self, low: float, high: float, left: float, right: float) -> list[Box]:
        """Boxes with their line between low and high and their middle between left and right."""
        first = bisect_left(self._rows, (low,))
        last = bisect_left(self._rows, (high,))
        return [row[3] for row in self._rows[first:last] if left <= row[3].middle <= right]

    def exchange(self, old: list[Box], new: Box) -> None:
        for box in old:
            at = bisect_left(self._rows, (box.y, box.x0))
            while at < len(self._rows) and self._rows[at][3] is not box:
                at += 1
            del self._rows[at : at + 1]
        insort(self._rows, (new.y, new.x0, self._next, new))
        self._next += 1

    def boxes(self) -> list[Box]:
        return [row[3] for row in self._rows]
