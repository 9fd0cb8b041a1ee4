"""Letters that text and formulas share: with Times or Palatino for the text, mathematics is set in
its italics. A lone letter or a product of capitals is mathematics, unless words stand beside it in
the same face."""

from __future__ import annotations

import re
from dataclasses import replace

from headwright.homework.reading.pdf.boxes import SMALL, Box
from headwright.homework.reading.pdf.layout.words import continues

_SYMBOLS = re.compile(r"[A-Za-z]|[A-Z]{2,4}|[b-df-hj-np-tv-z]{2}")
_LONGEST_PRODUCT = 3
_BESIDE = 0.7  # ems: what stands further away is not beside it


def told_apart(boxes: list[Box], body: float) -> list[Box]:
    """Boxes in the order they were drawn, each letter with one face."""
    if all(box.face != "either" for box in boxes):
        return boxes
    words = _words(boxes)
    found: list[Box] = []
    for i, word in enumerate(words):
        if word[0].face != "either":
            found += word
            continue
        beside = [words[k] for k in (i - 1, i + 1) if 0 <= k < len(words)]
        in_words = any(_is_wordy(other) and _stands_beside(word, other) for other in beside)
        is_script = word[0].size < SMALL * body
        is_base = i + 1 < len(words) and _carries(word, words[i + 1][0])
        is_math = is_script or is_base or (_is_symbol(word) and not in_words)
        face = "math" if is_math else "italic"
        found += [replace(box, face=face) for box in word]
    return found


def _words(boxes: list[Box]) -> list[list[Box]]:
    words: list[list[Box]] = []
    for box in boxes:
        if words and continues(words[-1][-1], box):
            words[-1].append(box)
        else:
            words.append([box])
    return words


def _is_symbol(word: list[Box]) -> bool:
    return _SYMBOLS.fullmatch("".join(box.latex for box in word)) is not None


def _carries(word: list[Box], following: Box) -> bool:
    """A short product with an index or a power on its last letter."""
    em = word[0].size
    is_small = following.size < SMALL * em and abs(following.y - word[0].y) > 0.1 * em
    return len(word) <= _LONGEST_PRODUCT and is_small and following.x0 - word[-1].x1 < 0.1 * em


def _is_wordy(word: list[Box]) -> bool:
    return word[0].face == "either" and word[0].latex.isalpha() and not _is_symbol(word)


def _stands_beside(word: list[Box], other: list[Box]) -> bool:
    em = word[0].size
    gap = max(other[0].x0 - word[-1].x1, word[0].x0 - other[-1].x1)
    return abs(word[0].y - other[0].y) < 0.05 * em and 0 <= gap < _BESIDE * em
