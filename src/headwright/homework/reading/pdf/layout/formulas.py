"""Which part of a line is mathematics: letters of TeX's mathematical fonts, what carries scripts,
and the digits, brackets and signs between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from headwright.homework.reading.pdf.boxes import Box
from headwright.homework.reading.pdf.layout.lines import Line
from headwright.homework.reading.pdf.layout.scripts import (
    Scripted,
    is_product,
    joined,
    scripted,
    word_latex,
    words,
)
from headwright.homework.reading.pdf.layout.words import FUNCTIONS

_NEUTRAL = re.compile(r"[0-9=+()\[\];:!|<>*'/\-]{1,40}")
_OPERATORS = {
    "=", "+", "-", "<", ">", "/", "*", ":", "|", ",", r"\gg", r"\ll", r"\approx", r"\neq", r"\leq",
    r"\geq", r"\sim", r"\simeq", r"\to", r"\Rightarrow", r"\Leftrightarrow", r"\in", r"\notin",
    r"\cdot", r"\times", r"\pm", r"\propto", r"\equiv", r"\perp", r"\subset", r"\subseteq",
    r"\forall", r"\exists", r"\triangleq", r"\oplus", r"\otimes", r"\odot", r"\mapsto", r"\cup",
    r"\cap", r"\|", r"\mid", r"\gtrsim", r"\lesssim", r"\not\gg", r"\not\approx",
}  # fmt: skip
_RELATION = re.compile(r"[=<>]|\\(?:gg|ll|approx|neq|leq|geq|sim|to|propto|equiv|in)(?![a-z])")
_NOT_MATHEMATICS = {r"\bullet", r"\square", r"\blacksquare", r"\dagger"}
_GREEK = re.compile("[Α-ωϑϕϵ]")
_TEXT_SPACE = 0.15  # ems: letters of text that are further apart are two words
_WORD_SPACES = (0.2, 0.29)  # a word space is at least so wide: in a tight line, in a loose one
_FORMULA_SPACE = 0.32  # letters of mathematics may be set apart a little without being two formulas
_BAR_SPACE = 0.45  # beside a fraction's bar and around names of functions
_THIN_SPACE = 0.2  # behind a comma in a formula there is less, behind one in a sentence more
_OPERATOR_SPACE = 1.5
_WIDE_SPACE = 0.75
_OPENING = ("(", "[")
_CLOSING = re.compile(r"[)\]](?:[_^]|$)")
_CLOSE_OPERATORS = (",", "/", "|", r"\|")
_BLANKS = re.compile(r" {2,9}")


@dataclass(frozen=True)
class Piece:
    """A word of text or one sign of a formula."""

    written: str
    x0: float
    x1: float
    kind: str  # "core" of a formula, "neutral", or "text"
    size: float
    bold: bool = False


@dataclass(frozen=True)
class Run:
    """A stretch of a line, all text or all mathematics."""

    written: str
    is_math: bool
    x0: float
    x1: float
    spaced: bool  # from the one before


class Row:
    """The pieces of a line and the spaces between them."""

    def __init__(self, pieces: list[Piece], usual_space: float) -> None:
        self.pieces = pieces
        least, most = _WORD_SPACES
        # TeX stretches and shrinks all spaces of a line alike: the words tell how far.
        gaps = [self.gap(i) for i in range(1, len(pieces)) if self._between_words(i)]
        wide = [gap for gap in gaps if gap > _TEXT_SPACE]
        self._word_space = min(max(0.85 * min(wide, default=usual_space), least), most)

    def _between_words(self, i: int) -> bool:
        return self.pieces[i].kind == "text" and self.pieces[i - 1].kind == "text"

    def gap(self, i: int) -> float:
        """Ems of space before a piece."""
        if i == 0:
            return 0.0
        return (self.pieces[i].x0 - self.pieces[i - 1].x1) / max(self.pieces[i].size, 1.0)

    def apart(self, i: int) -> bool:
        """Does a word space stand before a piece? Around operators a space says nothing."""
        before = self.pieces[i - 1]
        piece = self.pieces[i]
        return self.gap(i) > self._allowed(before, piece)

    def _allowed(self, before: Piece, piece: Piece) -> float:
        if before.written in _OPERATORS or piece.written in _OPERATORS:
            return _OPERATOR_SPACE
        if before.written.startswith(r"\frac") or _is_function(before) or _is_function(piece):
            return _BAR_SPACE
        both = before.kind == piece.kind == "core"
        is_factor = before.kind == "core" and piece.written in _OPENING
        return _FORMULA_SPACE if both or is_factor else self._word_space

    def stretches(self, marked: list[bool]) -> list[tuple[int, int]]:
        """Beginnings and ends of what is all text or all one formula."""
        found: list[tuple[int, int]] = []
        start = 0
        for i in range(1, len(self.pieces) + 1):
            is_end = i == len(self.pieces)
            if is_end or marked[i] != marked[start] or (marked[i] and self.apart(i)):
                found.append((start, i))
                start = i
        return found


def _is_function(piece: Piece) -> bool:
    return piece.written in FUNCTIONS.values()


def usual_space(lines: list[Line]) -> float:
    """Ems between two words of a document: a quarter with Times, a third with Knuth's fonts."""
    spaces: list[float] = []
    for line in lines:
        ordered = sorted(line.boxes, key=lambda box: box.x0)
        for before, box in pairwise(ordered):
            gap = (box.x0 - before.x1) / line.size
            letters = before.latex.isalpha() and box.latex.isalpha()
            if letters and "math" not in (before.face, box.face) and gap > _TEXT_SPACE:
                spaces.append(gap)
    return median(spaces) if spaces else _WORD_SPACES[1]


def runs(line: Line, space: float) -> list[Run]:
    """`space` is the document's usual one between words."""
    row = Row([_piece(word) for word in words(scripted(line.boxes))], space)
    if not row.pieces:
        return []
    row = Row([_of_the_sentence(row, i) for i in range(len(row.pieces))], space)
    marked = _marked(row)
    return [_run(row, start, end, marked[start]) for start, end in row.stretches(marked)]


# -- pieces


def _of_the_sentence(row: Row, i: int) -> Piece:
    """Signs that sentences and formulas share are told by the space behind them. A colon that
    stands close to what is before it and away from what follows is the sentence's; a comma with a
    thin space behind it is the formula's."""
    piece = row.pieces[i]
    if piece.kind == "core" or row.gap(i) > _TEXT_SPACE:
        return piece
    is_last = i + 1 == len(row.pieces)
    space = _WIDE_SPACE if is_last else row.gap(i + 1)
    if piece.written in (":", ";") and space > _THIN_SPACE:
        return replace(piece, kind="text")
    if piece.written == "," and space < _THIN_SPACE:
        return replace(piece, kind="neutral")
    return piece


def _piece(word: list[Scripted]) -> Piece:
    text = "".join(one.base.latex for one in word)
    last = word[-1]
    first = word[0].base
    if last.below or last.above:
        if first.face != "math" and text.isalpha() and _is_footnote(text, last):
            return Piece(text, first.x0, last.base.x1, "text", first.size)
        return Piece(word_latex(word), first.x0, last.x1, "core", first.size)
    kind = "neutral" if len(word) > 1 and is_product(word) else _kind(first, text)
    return Piece(text, first.x0, last.x1, kind, first.size, first.face == "bold")


def _is_footnote(text: str, last: Scripted) -> bool:
    mark = "".join(box.latex for box in last.above)
    return len(text) > 2 and not last.below and (mark.isdigit() or mark in ("*", "st", "nd", "th"))


def _kind(box: Box, text: str) -> str:
    if text in _NOT_MATHEMATICS:
        return "text"
    if box.face == "math":
        return "core"
    if text in FUNCTIONS.values() or _NEUTRAL.fullmatch(text):
        return "neutral"
    if text.startswith("\\") or _GREEK.fullmatch(text):
        return "core"
    # A bold vector, or an article in bold: what stands beside it decides
    is_lone = len(text) == 1 and text.isalpha() and text.isascii()
    return "neutral" if is_lone and box.face == "bold" else "text"


# -- which of them are mathematics


def _marked(row: Row) -> list[bool]:
    pieces = row.pieces
    marked = [piece.kind == "core" for piece in pieces]
    for i in range(1, len(pieces)):
        if marked[i - 1] and pieces[i].kind == "neutral" and not row.apart(i):
            marked[i] = True
    for i in range(len(pieces) - 2, -1, -1):
        if marked[i + 1] and pieces[i].kind == "neutral" and not row.apart(i + 1):
            marked[i] = True
    _join_calls(row, marked)
    for start, end in row.stretches(marked):
        if marked[start]:
            _trim(pieces, marked, start, end)
    return marked


def _join_calls(row: Row, marked: list[bool]) -> None:
    """A word that touches a formula's bracket is the name of a function."""
    for i, piece in enumerate(row.pieces[:-1]):
        follows = marked[i + 1] and row.pieces[i + 1].written == "(" and row.gap(i + 1) < 0.1
        if follows and not marked[i] and piece.written.isalpha():
            marked[i] = True


def _trim(pieces: list[Piece], marked: list[bool], start: int, end: int) -> None:
    """Brackets around a formula that the sentence opened or closes stay with the sentence."""
    opened: list[int] = []
    pairs: dict[int, int] = {}
    loose: list[int] = []
    for i in range(start, end):
        written = pieces[i].written
        if written in _OPENING:
            opened.append(i)
        elif _CLOSING.match(written):
            if opened:
                pairs[opened.pop()] = i
            else:
                loose.append(i)
    if opened and opened[0] == start:
        marked[start] = False
    if opened and opened[-1] == end - 1:
        marked[end - 1] = False
    if loose and loose[-1] == end - 1:
        marked[end - 1] = False
    inside = joined([piece.written for piece in pieces[start + 1 : end - 1]])
    if pairs.get(start) == end - 1 and _RELATION.search(inside):
        marked[start] = False
        marked[end - 1] = False


# -- writing


def _run(row: Row, start: int, end: int, is_math: bool) -> Run:
    written = _math(row, start, end) if is_math else _text(row, start, end)
    spaced = row.gap(start) > _TEXT_SPACE
    return Run(written, is_math, row.pieces[start].x0, row.pieces[end - 1].x1, spaced)


def _math(row: Row, start: int, end: int) -> str:
    written: list[str] = []
    for i in range(start, end):
        if i > start and row.gap(i) > _WIDE_SPACE:
            written.append(r"\quad ")
        written.append(_sign(row.pieces[i]))
    line = _BLANKS.sub(" ", joined(written)).strip()
    return line.replace(r"\cdot \cdot \cdot", r"\cdots").replace("...", r"\ldots ")


def _sign(piece: Piece) -> str:
    shown = piece.written
    if shown in _OPERATORS and shown not in _CLOSE_OPERATORS:
        return f" {shown} "
    if piece.bold and len(shown) <= 3 and shown.isalnum():
        return "".join(rf"\mathbf{{{letter}}}" for letter in shown)
    if not shown.isalpha():
        return shown
    is_name = len(shown) > 1 and piece.kind == "text"
    return rf"\operatorname{{{shown}}}" if is_name else shown


def _text(row: Row, start: int, end: int) -> str:
    written = ""
    for i in range(start, end):
        if i > start and row.gap(i) > _TEXT_SPACE:
            written += " "
        written += _plain(row.pieces[i].written)
    return written


def _plain(text: str) -> str:
    """A sign of mathematics in a sentence, without its backslash where Markdown has none."""
    if text in FUNCTIONS.values():
        return text.removeprefix(r"\operatorname{").strip("\\{}")
    if text in _NOT_MATHEMATICS:
        return "" if text != r"\bullet" else "- "
    return text.replace("$", r"\$").replace("\u2019", "'")
