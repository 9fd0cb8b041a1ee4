"""Numbering as students write it: `(a) - i)`, `1.2 (b)`, `ii`, `Question 3`.

Letters may number parts or what stands inside them; the row of all labels tells which.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwright.homework.reading.document import Segment

_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8}
_PIECE = re.compile(r"\d+|[A-Za-z]+|[一二三四五六]")
_CHINESE = dict(zip("一二三四五六", range(1, 7), strict=True))


@dataclass(frozen=True)
class Path:
    """Where a label puts us: a part ("a", ...) and a number inside it (0: none)."""

    part: str
    number: int


def layouts(segments: Iterable[Segment]) -> tuple[str, ...]:
    """What letters may number. They number parts if they run through the alphabet once (twice with
    a second exercise); letters that start again and again number what stands inside the parts."""
    letters = []
    for segment in segments:
        pieces = _PIECE.findall((segment.label or "").lower())
        at = next((k for k, p in enumerate(pieces) if len(p) == 1 and p in "abcdefgh"), None)
        if at is not None:
            letters.append((pieces[at], at == len(pieces) - 1))
    # "(a)" once more, with nothing behind the letter, starts again as well.
    restarts = sum(
        y < x or (y == x and alone) for (x, _), (y, alone) in itertools.pairwise(letters)
    )
    return ("part",) if letters and restarts <= 1 else ("number", "inner")


def paths(segments: Iterable[Segment], letters: str) -> Iterator[Path | None]:
    """For every segment the place its own label leads to; None without a label.

    `letters="part"`: (a) is a part and ii its second question. `letters="number"`: the part comes
    from the heading and (b) is its second question. `letters="inner"`: numbers count parts and
    letters what stands inside them, 2b.
    """
    if letters == "inner":
        yield from _inner(segments)
        return
    part, last = "", 0
    for segment in segments:
        if not segment.label:
            yield None
            continue
        pieces = [p.lower() for p in _PIECE.findall(segment.label)]
        if letters == "number":
            number = next(
                (_letter(p) or _ROMAN.get(p, 0) for p in reversed(pieces) if not p.isdigit()), 0
            )
            yield Path("", number) if number else None
            continue
        letter = next((p for p in pieces if len(p) == 1 and p in "abcdefgh"), "")
        rest = [p for p in pieces if p != letter]
        number = next(
            (
                _ROMAN.get(p) or (int(p) if p.isdigit() and len(p) == 1 else 0)
                for p in reversed(rest)
            ),
            0,
        )
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


def _inner(segments: Iterable[Segment]) -> Iterator[Path | None]:
    part = ""
    for segment in segments:
        pieces = [p.lower() for p in _PIECE.findall(segment.label or "")]
        counts = [_CHINESE.get(p) or (int(p) if p.isdigit() and len(p) == 1 else 0) for p in pieces]
        if sum(p.isdigit() for p in pieces) > 1:  # 1.2 numbers sections
            part, pieces, counts = "", [], []
        bracketed = bool(segment.label) and segment.label.strip()[:1] in "(（"
        number = next(
            (
                _letter(p) or _ROMAN.get(p, 0)
                for p in pieces
                if not p.isdigit() and p not in _CHINESE
            ),
            0,
        )
        if bracketed and len(pieces) == 1 and counts[0]:
            number = counts[0]
        elif counts and 1 <= counts[0] <= 6:
            part = "abcdef"[counts[0] - 1]
        yield Path(part, number) if pieces and (part or number) else None


def _letter(piece: str) -> int:
    return "abcdefgh".index(piece) + 1 if len(piece) == 1 and piece in "abcdefgh" else 0


def numbers(label: str, part: str, usual: tuple[str, ...]) -> bool:
    """Is this label the question's own number, such as (c) ii. for the second question of part c?"""
    pieces = [p.lower() for p in _PIECE.findall(label)]
    own = usual[0].partition(".")[2] if usual else ""
    number = _ROMAN.get(pieces[-1], 0) if pieces else 0
    letters = [p for p in pieces[:-1] if len(p) == 1 and p in "abcdefgh"]
    return bool(own) and str(number) == own and letters in ([], [part])
