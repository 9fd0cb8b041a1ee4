"""One line of a formula: which boxes stand on the line, which are their indices and powers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from headwright.homework.reading.pdf.boxes import SMALL, UNKNOWN, Box
from headwright.homework.reading.pdf.layout.words import continues

_DEEPEST = 6
_PRIME = r"\prime"
_LEVEL = 0.12  # ems: letters on one line differ by no more


@dataclass
class Scripted:
    """A box on the line with what hangs on it."""

    base: Box
    below: list[Box] = field(default_factory=list)
    above: list[Box] = field(default_factory=list)

    @property
    def x1(self) -> float:
        return max(box.x1 for box in (self.base, *self.below, *self.above))

    @property
    def own(self) -> str:
        letter = self.base.latex
        if self.base.face == "bold" and len(letter) == 1 and letter.isalnum():
            return rf"\mathbf{{{letter}}}"
        return letter

    def latex(self, depth: int = 0) -> str:
        written = self.own
        if self.below:
            written += f"_{{{formula(self.below, depth + 1)}}}"
        if self.above:
            written += _power(formula(self.above, depth + 1))
        return written


def _power(written: str) -> str:
    """Primes come first, and stand outside the braces."""
    rest = written.lstrip()
    primes = ""
    while rest.startswith(_PRIME):
        rest = rest.removeprefix(_PRIME).lstrip()
        primes += "'"
    return f"{primes}^{{{rest}}}" if rest else primes


def formula(boxes: list[Box], depth: int = 0) -> str:
    """Boxes of one formula line as LaTeX."""
    if depth > _DEEPEST:
        return UNKNOWN
    pieces: list[str] = []
    for word in words(scripted(boxes)):
        pieces.append(word_latex(word, depth))
    return joined(pieces)


def words(found: list[Scripted]) -> list[list[Scripted]]:
    """Letters of text that make a word together; every sign of mathematics by itself."""
    grouped: list[list[Scripted]] = []
    for one in found:
        last = grouped[-1][-1] if grouped else None
        if last is None or last.below or last.above:
            grouped.append([one])
        elif last.base.face != "math" and continues(last.base, one.base):
            grouped[-1].append(one)
        else:
            grouped.append([one])
    return grouped


def word_latex(word: list[Scripted], depth: int = 0) -> str:
    """A word inside a formula; bold capitals side by side are a product of matrices."""
    last = word[-1]
    text = "".join(one.base.latex for one in word)
    if len(word) == 1 or is_product(word):
        return "".join(one.latex(depth) for one in word)
    tail = last.latex(depth).removeprefix(last.own)
    is_name = tail or depth > 0
    return rf"\text{{{text}}}{tail}" if is_name else rf"\text{{ {text} }}"


def is_product(word: list[Scripted]) -> bool:
    return len(word) <= 3 and all(_is_bold_capital(one.base) for one in word)


def _is_bold_capital(box: Box) -> bool:
    return box.face == "bold" and len(box.latex) == 1 and box.latex.isupper()


def joined(pieces: list[str]) -> str:
    """A command's name ends before the next letter."""
    written = ""
    for piece in pieces:
        ends_in_name = written[-1:].isalpha() and written.rpartition("\\")[2].isalpha()
        if ends_in_name and "\\" in written and piece[:1].isalpha():
            written += " "
        written += piece
    return written


def line_level(boxes: list[Box]) -> tuple[float, float]:
    """Where the line of some boxes runs, and the size of its letters."""
    size = max(box.size for box in boxes)
    levels = Counter(round(box.y, 1) for box in boxes if box.size > SMALL * size)
    return max(levels, key=lambda level: levels[level]), size


def scripted(boxes: list[Box]) -> list[Scripted]:
    """The boxes on the line, in order, each with its scripts."""
    level, size = line_level(boxes)
    found: list[Scripted] = []
    hanging: dict[int, list[Box]] = {}
    for box in sorted(boxes, key=lambda box: (box.x0, -box.size)):
        if box.size > SMALL * size and abs(box.y - level) < 2.5 * _LEVEL * size:
            found.append(Scripted(box))
        elif found:
            hanging.setdefault(len(found) - 1, []).append(box)
        else:
            nothing = Box("{}", box.x0, box.x0, level, size, "math", box.top, box.bottom)
            found.append(Scripted(nothing))
            hanging.setdefault(0, []).append(box)
    for place, scripts in hanging.items():
        _hang(found[place], scripts, level)
    return found


def _hang(base: Scripted, scripts: list[Box], level: float) -> None:
    largest = max(box.size for box in scripts)
    first = [box for box in scripts if box.size > SMALL * largest]
    rest = [box for box in scripts if box.size <= SMALL * largest]
    for box in first:
        (base.above if box.y > level else base.below).append(box)
    for box in rest:  # indices of indices follow the one that they are nearest to
        owner = min(first, key=lambda one: abs(one.y - box.y))
        (base.above if owner.y > level else base.below).append(box)
