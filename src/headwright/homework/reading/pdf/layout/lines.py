"""The lines of a page: letters of one height, with the scripts that touch them; column by column,
from top to bottom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from headwright.homework.reading.pdf.boxes import SMALL, Box

_SAME_LEVEL = 0.12  # ems
_LOWEST_SCRIPT = -0.62  # ems from the line
_HIGHEST_SCRIPT = 0.85
_GUTTER = 9.0  # points between two columns, at least
_CELL = 4.0  # points
_SENTENCE_ENDS = (".", "?", "!", ":", "。", "？", "：", ")", "]")
_NEAR_GUTTER = 16.0  # points
_FULL_LINES = 3
_BETWEEN_ROWS = 0.3  # of the lines on the right
_MOST_CROSSING = 0.15  # of the lines on both sides


@dataclass
class Line:
    y: float
    size: float
    boxes: list[Box] = field(default_factory=list)
    cells: set[int] = field(default_factory=set)  # where on the line there is something
    column: int = 0  # of several beside each other: 1, 2

    def add(self, box: Box) -> None:
        self.boxes.append(box)
        first = int(box.x0 // _CELL)
        last = int(min(box.x1, box.x0 + 2_000) // _CELL)
        self.cells.update(range(first, last + 1))

    def touches(self, box: Box) -> bool:
        cell = int(box.x0 // _CELL)
        return any(near in self.cells for near in (cell - 1, cell, cell + 1))

    @property
    def x0(self) -> float:
        return min(box.x0 for box in self.boxes)

    @property
    def x1(self) -> float:
        return max(box.x1 for box in self.boxes)


def by_colour(line: Line) -> list[Line]:
    """A line in two where a sentence ends and the colour changes for the rest of it: many write
    their answers in a colour, behind the question."""
    ordered = sorted(line.boxes, key=lambda box: box.x0)
    changes = [i for i, (a, b) in enumerate(pairwise(ordered), 1) if a.coloured != b.coloured]
    if len(changes) != 1 or ordered[changes[0] - 1].latex[-1:] not in _SENTENCE_ENDS:
        return [line]
    parts: list[Line] = []
    for boxes in (ordered[: changes[0]], ordered[changes[0] :]):
        part = Line(line.y, line.size, column=line.column)
        for box in boxes:
            part.add(box)
        parts.append(part)
    return parts


def body_size(boxes: list[Box]) -> float:
    """The size of most letters."""
    sizes = Counter(round(box.size, 1) for box in boxes)
    return max(sizes, key=lambda size: sizes[size]) if sizes else 10.0


def page_lines(boxes: list[Box]) -> list[Line]:
    """In reading order."""
    ordered: list[Line] = []
    for column, part in enumerate(_columns(boxes)):
        for line in sorted(_lines(part), key=lambda line: (-line.y, line.x0)):
            line.column = column
            ordered.append(line)
    return ordered


def _lines(boxes: list[Box]) -> list[Line]:
    by_level: dict[int, list[Line]] = {}  # by whole points of height
    for box in sorted(boxes, key=lambda box: (-round(box.size, 1), box.x0)):
        near = _near(by_level, box.y)
        line = _own_line(box, near) or _script_of(box, near)
        if line is None:
            line = Line(box.y, box.size)
            by_level.setdefault(int(box.y), []).append(line)
        line.add(box)
    return [line for lines in by_level.values() for line in lines]


def _near(by_level: dict[int, list[Line]], y: float) -> list[Line]:
    found: list[Line] = []
    for level in range(int(y) - 14, int(y) + 15):
        found += by_level.get(level, ())
    return found


def _own_line(box: Box, near: list[Line]) -> Line | None:
    for line in near:
        if abs(line.y - box.y) <= _SAME_LEVEL * box.size and box.size > 0.75 * line.size:
            return line
    return None


def _script_of(box: Box, near: list[Line]) -> Line | None:
    fitting: list[Line] = []
    for line in near:
        rise = (box.y - line.y) / line.size
        is_small = box.size <= SMALL * line.size
        if is_small and _LOWEST_SCRIPT < rise < _HIGHEST_SCRIPT and line.touches(box):
            fitting.append(line)
    return min(fitting, key=lambda line: abs(line.y - box.y)) if fitting else None


# -- columns


def _columns(boxes: list[Box]) -> list[list[Box]]:
    """The page in parts to be read one after the other: a title, left column, right column."""
    gutter = _gutter(boxes)
    if gutter is None:
        return [boxes]
    wide = _crossed(boxes, gutter)
    right = [box for box in boxes if box.middle >= gutter and round(box.y) not in wide]
    first = max((box.y for box in right), default=0.0)
    title = [box for box in boxes if round(box.y) in wide and box.y > first]
    # A formula too wide for the left column belongs to it
    left = [box for box in boxes if (box.middle < gutter or round(box.y) in wide)]
    return [title, [box for box in left if box not in title], right]


def _crossed(boxes: list[Box], place: float) -> set[int]:
    """The heights of lines that go through a place, to the point."""
    levels = {round(box.y) for box in boxes if box.x0 < place < box.x1}
    return {level + step for level in levels for step in (-1, 0, 1)}


def _gutter(boxes: list[Box]) -> float | None:
    """The middle of the empty strip between two columns."""
    if len(boxes) < 200:
        return None
    size = body_size(boxes)
    boxes = [box for box in boxes if box.size > SMALL * size]
    left = min(box.x0 for box in boxes)
    right = max(box.x1 for box in boxes)
    middle = (left + right) / 2
    reach = 0.12 * (right - left)
    candidates = [middle + step * 2.0 for step in range(int(-reach / 2), int(reach / 2) + 1)]
    for place in sorted(candidates, key=lambda x: abs(x - middle)):
        if _is_gutter(boxes, place):
            return place
    return None


def _is_gutter(boxes: list[Box], place: float) -> bool:
    """Few lines go through the strip, and lines begin together on its right. On its left they end
    together, or stand at other heights than those on the right: the rows of a table do not."""
    half = _GUTTER / 2
    ends: dict[int, float] = {}
    begins: dict[int, float] = {}
    crossing: set[int] = set()
    for box in boxes:
        level = round(box.y)
        if box.x1 <= place - half:
            ends[level] = max(ends.get(level, 0.0), box.x1)
        elif box.x0 >= place + half:
            begins[level] = min(begins.get(level, box.x0), box.x0)
        else:
            crossing.add(level)
    lines = len(ends) + len(begins)
    if len(crossing) > _MOST_CROSSING * lines or _together(begins, place) < _FULL_LINES:
        return False
    if _together(ends, place) >= _FULL_LINES:
        return True
    apart = [level for level in begins if not {level - 1, level, level + 1} & set(ends)]
    is_no_table = len(apart) > _BETWEEN_ROWS * len(begins)
    return is_no_table and len(crossing) <= 1 and _together(begins, place) > _FULL_LINES


def _together(edges: dict[int, float], place: float) -> int:
    """How many lines share an edge near a place."""
    near = Counter(round(edge) for edge in edges.values() if abs(place - edge) < _NEAR_GUTTER)
    return max(near.values(), default=0)
