"""Which part of a line is mathematics: letters of TeX's mathematical fonts, what carries scripts,
and the digits, brackets and signs between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from headwright.homework.reading.pdf.boxes import Box
from headwright.homework.reading.pdf.lines import Line
from headwright.homework.reading.pdf.scripts import Scripted, joined, scripted
from headwright.homework.reading.pdf.words import FUNCTIONS, continues

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
_WORD_SPACE = 0.19  # ems
_FORMULA_SPACE = 0.3  # between letters of mathematics, which may be set apart a little
_WIDE_SPACE = 0.75
_OPENING = {"(": ")", "[": "]"}


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


def runs(line: Line) -> list[Run]:
    pieces = _pieces(scripted(line.boxes))
    marked = _marked(pieces)
    found: list[Run] = []
    start = 0
    for i in range(1, len(pieces) + 1):
        if i < len(pieces) and marked[i] == marked[start] and not _breaks(pieces, marked, i):
            continue
        found.append(_run(pieces[start:i], marked[start], _gap(pieces, start)))
        start = i
    return found


# -- pieces


def _pieces(found: list[Scripted]) -> list[Piece]:
    pieces: list[Piece] = []
    word: list[Scripted] = []
    for one in found:
        if word and _goes_on(word[-1], one):
            word.append(one)
            continue
        if word:
            pieces.append(_piece(word))
        word = [one]
    if word:
        pieces.append(_piece(word))
    return [_of_the_sentence(pieces, i) for i in range(len(pieces))]


def _of_the_sentence(pieces: list[Piece], i: int) -> Piece:
    """A colon that stands close to what is before it and away from what follows is a sentence's."""
    piece = pieces[i]
    if piece.written not in (":", ";") or piece.kind == "core" or _gap(pieces, i) > 0.15:
        return piece
    is_last = i + 1 == len(pieces)
    if is_last or _gap(pieces, i + 1) > _WORD_SPACE:
        return replace(piece, kind="text")
    return piece


def _goes_on(last: Scripted, one: Scripted) -> bool:
    scripts = last.below or last.above
    return not scripts and last.base.face != "math" and continues(last.base, one.base)


def _piece(word: list[Scripted]) -> Piece:
    text = "".join(one.base.latex for one in word)
    last = word[-1]
    first = word[0].base
    is_word = first.face != "math" and text.isalpha() and not text.startswith("\\")
    has_script = bool(last.below or last.above)
    if is_word and has_script and _is_footnote(text, last):
        return Piece(text, first.x0, last.base.x1, "text", first.size)
    if has_script:
        return _with_scripts(word, text)
    kind = _kind(first, text)
    return Piece(text, first.x0, last.x1, kind, first.size, first.face == "bold")


def _is_footnote(text: str, last: Scripted) -> bool:
    mark = "".join(box.latex for box in last.above)
    return len(text) > 2 and not last.below and (mark.isdigit() or mark in ("*", "st", "nd", "th"))


def _with_scripts(word: list[Scripted], text: str) -> Piece:
    last = word[-1]
    written = last.latex()
    if len(word) > 1:
        tail = written[len(last.base.latex) :]
        written = rf"\text{{{text}}}{tail}"
    return Piece(written, word[0].base.x0, last.x1, "core", last.base.size)


def _kind(box: Box, text: str) -> str:
    if box.face == "math":
        return "text" if text in _NOT_MATHEMATICS else "core"
    if text in FUNCTIONS.values() or _NEUTRAL.fullmatch(text):
        return "neutral"
    if text.startswith("\\") or _GREEK.fullmatch(text):
        return "core"
    # A bold vector, or an article in bold: what stands beside it decides
    is_lone = len(text) == 1 and text.isalpha() and text.isascii()
    return "neutral" if is_lone and box.face == "bold" else "text"


# -- which of them are mathematics


def _marked(pieces: list[Piece]) -> list[bool]:
    marked = [piece.kind == "core" for piece in pieces]
    for i in range(1, len(pieces)):
        if marked[i - 1] and pieces[i].kind == "neutral" and not _apart(pieces, i):
            marked[i] = True
    for i in range(len(pieces) - 2, -1, -1):
        if marked[i + 1] and pieces[i].kind == "neutral" and not _apart(pieces, i + 1):
            marked[i] = True
    _join_calls(pieces, marked)
    _trim(pieces, marked)
    return marked


def _gap(pieces: list[Piece], i: int) -> float:
    """Ems of space before a piece."""
    if i == 0:
        return 0.0
    return (pieces[i].x0 - pieces[i - 1].x1) / max(pieces[i].size, 1.0)


def _is_operator(piece: Piece) -> bool:
    return piece.written in _OPERATORS


def _apart(pieces: list[Piece], i: int) -> bool:
    """Is there a space between words before a piece? Around operators a space says nothing."""
    gap = _gap(pieces, i)
    if _is_operator(pieces[i]) or _is_operator(pieces[i - 1]):
        return gap > 1.5
    if pieces[i - 1].written.startswith(r"\frac"):
        return gap > _FORMULA_SPACE  # TeX leaves room beside a bar
    both = pieces[i].kind == pieces[i - 1].kind == "core"
    return gap > (_FORMULA_SPACE if both else _WORD_SPACE)


def _breaks(pieces: list[Piece], marked: list[bool], i: int) -> bool:
    return marked[i] and _apart(pieces, i)


def _join_calls(pieces: list[Piece], marked: list[bool]) -> None:
    """A word that touches a formula's bracket is the name of a function."""
    for i, piece in enumerate(pieces[:-1]):
        follows = marked[i + 1] and pieces[i + 1].written == "(" and _gap(pieces, i + 1) < 0.1
        if follows and not marked[i] and piece.written.isalpha():
            marked[i] = True


def _trim(pieces: list[Piece], marked: list[bool]) -> None:
    """Brackets around a formula that the sentence opened or closes stay with the sentence."""
    start = 0
    for i in range(1, len(pieces) + 1):
        if i < len(pieces) and marked[i] == marked[start] and not _breaks(pieces, marked, i):
            continue
        if marked[start]:
            _trim_run(pieces, marked, start, i)
        start = i


def _trim_run(pieces: list[Piece], marked: list[bool], start: int, end: int) -> None:
    opened: list[int] = []
    pairs: dict[int, int] = {}
    loose: list[int] = []
    for i in range(start, end):
        written = pieces[i].written
        if written[:1] in _OPENING and len(written) == 1:
            opened.append(i)
        elif re.match(r"[)\]](?![^_^])", written) is not None:
            if opened:
                pairs[opened.pop()] = i
            else:
                loose.append(i)
    if opened and opened[0] == start:
        marked[start] = False
    if loose and loose[-1] == end - 1:
        marked[end - 1] = False
    inside = joined([piece.written for piece in pieces[start + 1 : end - 1]])
    if pairs.get(start) == end - 1 and _RELATION.search(inside):
        marked[start] = False
        marked[end - 1] = False


# -- writing


def _run(pieces: list[Piece], is_math: bool, gap: float) -> Run:
    written = _math(pieces) if is_math else _text(pieces)
    return Run(written, is_math, pieces[0].x0, pieces[-1].x1, gap > _WORD_SPACE * 0.8)


def _math(pieces: list[Piece]) -> str:
    written: list[str] = []
    for i, piece in enumerate(pieces):
        if i and _gap(pieces, i) > _WIDE_SPACE:
            written.append(r"\quad ")
        shown = piece.written
        if shown.isalpha() and len(shown) > 1 and piece.kind == "text":
            shown = rf"\operatorname{{{shown}}}"
        elif shown.isalpha() and piece.bold:
            shown = rf"\mathbf{{{shown}}}"
        is_spaced = _is_operator(piece) and piece.written not in (",", "/", "|", r"\|")
        written.append(f" {shown} " if is_spaced else shown)
    line = re.sub(r" {2,9}", " ", joined(written)).strip()
    return line.replace(r"\cdot \cdot \cdot", r"\cdots").replace("...", r"\ldots ")


def _text(pieces: list[Piece]) -> str:
    written = ""
    for i, piece in enumerate(pieces):
        if i and _gap(pieces, i) > _WORD_SPACE * 0.8:
            written += " "
        written += _plain(piece.written)
    return written


def _plain(text: str) -> str:
    """A sign of mathematics in a sentence, without its backslash where Markdown has none."""
    if text in FUNCTIONS.values():
        return text.removeprefix(r"\operatorname{").strip("\\{}")
    if text in _NOT_MATHEMATICS:
        return "" if text != r"\bullet" else "- "
    return text.replace("$", r"\$")
