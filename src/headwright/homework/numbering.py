"""Numbering as students write it: `(a) - i)`, `1.2 (b)`, `ii`, `Question 3`. Letters may number parts or what stands inside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwright.homework.document import Segment

_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
_PIECE = re.compile(r"\d+|[A-Za-z]+")


@dataclass(frozen=True)
class Path:
    """Where a label puts us: a part ("a", ...) and a number inside it (0: none)."""

    part: str
    number: int


def paths(segments: Iterable[Segment], letters: str) -> Iterator[Path | None]:
    """For every segment the place its own label leads to; None without a label.

    `letters="part"`: (a) is a part and ii its second question. `letters="number"`: the part comes from the heading
    and (b) is its second question.
    """
    part, last = "", 0
    for segment in segments:
        if not segment.label:
            yield None
            continue
        pieces = [p.lower() for p in _PIECE.findall(segment.label)]
        if letters == "number":
            number = next((_letter(p) or _ROMAN.get(p, 0) for p in reversed(pieces) if not p.isdigit()), 0)
            yield Path("", number) if number else None
            continue
        letter = next((p for p in pieces if len(p) == 1 and p in "abcdefgh"), "")
        rest = [p for p in pieces if p != letter]
        number = next((_ROMAN.get(p) or (int(p) if p.isdigit() and len(p) == 1 else 0) for p in reversed(rest)), 0)
        if letter:
            trailing = pieces.index(letter) < len(pieces) - 1
            part, last = letter, number if trailing else 0
            yield Path(part, last)
        elif not number:
            yield None
        else:
            if number <= last:  # counting starts again: a part began whose letter was lost
                part = ""
            last = number
            yield Path(part, number)


def _letter(piece: str) -> int:
    return "abcdefgh".index(piece) + 1 if len(piece) == 1 and piece in "abcdefgh" else 0
