"""Limits over and under sums, maxima and the like: each sign becomes one box with its limits."""

from __future__ import annotations

from dataclasses import replace

from headwright.homework.reading.pdf.boxes import AXIS, SMALL, Box, around
from headwright.homework.reading.pdf.layout.scripts import formula
from headwright.homework.reading.pdf.layout.shelf import Shelf

_LARGE_SIGNS = {r"\sum", r"\prod", r"\cup", r"\cap", r"\wedge", r"\vee"}
_LIMIT_WORDS = {r"\max", r"\min", r"\lim", r"\sup", r"\inf", r"\arg\max", r"\arg\min"}
_MIDDLE_OF_SUM = 0.322  # ems above the origin, in the font Symbol


def build_limits(shelf: Shelf, body: float) -> None:
    for drawn in [box for box in shelf.boxes() if _takes_limits(box)]:
        sign = _on_its_line(shelf, drawn, body)
        em = drawn.size
        below = _limit(shelf, sign, sign.bottom - 1.2 * em, sign.bottom - 0.25 * em)
        above = _limit(shelf, sign, sign.top + 0.02 * em, sign.top + 0.9 * em)
        written = sign.latex
        if below:
            written += f"_{{{formula(below)}}}"
        if above:
            written += f"^{{{formula(above)}}}"
        if below or above:
            whole = around([sign, *below, *above], written, sign.y, sign.size)
            shelf.exchange([sign, *below, *above], whole)


def _on_its_line(shelf: Shelf, sign: Box, body: float) -> Box:
    """The sums of Times are letters of text, enlarged and lowered."""
    if sign.large or sign.latex not in _LARGE_SIGNS or sign.size < 1.2 * body:
        return sign
    line = sign.y + _MIDDLE_OF_SUM * sign.size - AXIS * body
    placed = replace(sign, y=line, size=body)
    shelf.exchange([sign], placed)
    return placed


def _takes_limits(box: Box) -> bool:
    return box.latex in _LARGE_SIGNS or box.latex in _LIMIT_WORDS


def _limit(shelf: Shelf, sign: Box, low: float, high: float) -> list[Box]:
    """The small letters in a strip over or under a sign that make one piece with its middle."""
    em = sign.size
    strip = shelf.near(low, high, sign.x0 - 4 * em, sign.x1 + 4 * em)
    small = sorted((box for box in strip if box.size < SMALL * em), key=lambda box: box.x0)
    pieces: list[list[Box]] = []
    for box in small:
        if pieces and box.x0 - max(one.x1 for one in pieces[-1]) < 0.35 * em:
            pieces[-1].append(box)
        else:
            pieces.append([box])
    for piece in pieces:
        left = min(box.x0 for box in piece)
        right = max(box.x1 for box in piece)
        is_centred = left <= sign.middle <= right or (left >= sign.x0 and right <= sign.x1)
        if is_centred and not _has_base(shelf, piece[0], em):
            return piece
    return []


def _has_base(shelf: Shelf, script: Box, em: float) -> bool:
    """Does a small letter hang on a letter of the line above or below the sign?"""
    left = script.x0 - 2 * em
    beside = shelf.near(script.y - 0.7 * em, script.y + 0.5 * em, left, script.x0)
    return any(box.size > SMALL * em and script.x0 - box.x1 < 0.15 * em for box in beside)
