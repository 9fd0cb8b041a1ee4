"""What is kept while a page is read: where we are, what was drawn, what it has cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwright.homework.limits import LimitReached
from headwright.homework.reading.pdf.boxes import Box, Rule
from headwright.homework.reading.pdf.page.fonts import Font

MOST_COMMANDS = 150_000  # of one document
MOST_LETTERS = 150_000

Matrix = tuple[float, float, float, float, float, float]
UNMOVED: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def times(a: Matrix, b: Matrix) -> Matrix:
    """First a, then b."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    )


@dataclass
class Marks:
    """What the pages read so far have drawn, and what it has cost."""

    boxes: list[Box] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    hidden: int = 0  # letters that no reader of the page sees
    pictures: int = 0


@dataclass
class Spent:
    commands: int = 0
    letters: int = 0

    def add(self, commands: int, letters: int) -> None:
        self.commands += commands
        self.letters += letters
        if self.commands > MOST_COMMANDS:
            raise LimitReached(f"more than {MOST_COMMANDS:,} drawing commands in a PDF")
        if self.letters > MOST_LETTERS:
            raise LimitReached(f"more than {MOST_LETTERS:,} letters in a PDF")


@dataclass(frozen=True)
class State:
    """What `q` saves and `Q` brings back."""

    place: Matrix = UNMOVED
    font: Font | None = None
    size: float = 1.0
    letter_space: float = 0.0
    word_space: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0
    painting: float = 0.0
    coloured: bool = False
