"""Words on a page: letters of text that touch. Names of functions become one sign, so that limits
find them and formulas run through them."""

from __future__ import annotations

from dataclasses import replace

from headwright.homework.reading.pdf.boxes import Box, around

FUNCTIONS = {
    name: rf"\{name}"
    for name in ("exp", "log", "ln", "max", "min", "lim", "sup", "inf", "cos", "sin", "tan", "det")
} | {
    name: rf"\operatorname{{{name}}}"
    for name in ("softmax", "Softmax", "Var", "Cov", "diag", "tr", "argmax", "argmin", "ReLU")
}  # fmt: skip
_TOUCH = 0.12  # ems between letters of one word, at most


def with_functions(boxes: list[Box]) -> list[Box]:
    """Boxes in the order they were drawn, names of functions merged."""
    found: list[Box] = []
    word: list[Box] = []
    for box in boxes:
        if word and continues(word[-1], box):
            word.append(box)
            continue
        found += _as_function(word)
        word = [box]
    return found + _as_function(word)


def continues(last: Box, box: Box) -> bool:
    """Does a letter belong to the same word as the one before it?"""
    em = max(last.size, box.size)
    letters = last.latex.isalpha() and box.latex.isalpha()
    level = abs(last.y - box.y) < 0.05 * em and abs(last.size - box.size) < 0.05 * em
    return letters and level and last.face == box.face and abs(box.x0 - last.x1) < _TOUCH * em


def _as_function(word: list[Box]) -> list[Box]:
    if len(word) < 2 or word[0].face == "math":
        return word
    name = FUNCTIONS.get("".join(box.latex for box in word))
    if name is None:
        return word
    whole = around(word, name, word[0].y, word[0].size)
    return [replace(whole, face=word[0].face)]
