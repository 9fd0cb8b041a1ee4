"""What stands on a page: letters (and what is built from them) with their places, and rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Face = Literal["text", "bold", "italic", "math", "either"]  # either: italic text or mathematics
UNKNOWN = r"\unreadable"  # a sign that is not known: no formula with it is judged
AXIS = 0.25  # height of a fraction's bar above the line, in ems
SMALL = 0.86  # a script is at most this part of the size of its base


@dataclass(frozen=True)
class Box:
    """A letter, or a formula that was built from several; lengths in points, upwards."""

    latex: str
    x0: float
    x1: float
    y: float  # of the line it stands on
    size: float
    face: Face
    top: float
    bottom: float
    large: bool = False  # of the font of large signs: it grows with what it holds
    coloured: bool = False
    part: bool = False  # of a bracket that is put together from several

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True)
class Rule:
    """A straight line that was drawn: a fraction's bar, a root's roof, a strike."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def flat(self) -> bool:
        return abs(self.y1 - self.y0) < 0.1

    @property
    def width(self) -> float:
        return self.x1 - self.x0


def around(boxes: list[Box], latex: str, y: float, size: float) -> Box:
    """One box in place of several."""
    left = min(box.x0 for box in boxes)
    right = max(box.x1 for box in boxes)
    top = max(box.top for box in boxes)
    bottom = min(box.bottom for box in boxes)
    coloured = boxes[0].coloured
    return Box(latex, left, right, y, size, "math", top, bottom, coloured=coloured)
