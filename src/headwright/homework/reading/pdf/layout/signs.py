"""Signs that TeX prints in two strokes: accents over letters, struck relations, long arrows."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from headwright.homework.reading.pdf.boxes import Box, around

_ACCENTS = {
    "ˆ": r"\hat", "˜": r"\tilde", "¯": r"\bar", "ˉ": r"\bar", "˙": r"\dot", "¨": r"\ddot",
    "´": r"\acute", "`": r"\grave", "ˇ": r"\check", "˘": r"\breve", "˚": r"\mathring",
    "¸": r"\cedilla", "~": r"\tilde", "^": r"\hat",
}  # fmt: skip
_COMBINING = {
    r"\hat": "\u0302", r"\tilde": "\u0303", r"\bar": "\u0304", r"\dot": "\u0307",
    r"\ddot": "\u0308", r"\acute": "\u0301", r"\grave": "\u0300", r"\check": "\u030c",
    r"\breve": "\u0306", r"\mathring": "\u030a", r"\cedilla": "\u0327", r"\vec": "\u20d7",
}  # fmt: skip
_PAIRS = {
    (r"\not", "="): r"\neq",
    (r"\not", r"\in"): r"\notin",
    (r"\in", "/"): r"\notin",
    ("/", r"\in"): r"\notin",
    (r"\not", r"\equiv"): r"\not\equiv",
    (r"\not", r"\approx"): r"\not\approx",
    (r"\not", r"\gg"): r"\not\gg",
    ("=", r"\Rightarrow"): r"\Rightarrow",
    ("-", r"\to"): r"\to",
    (r"\mapsto", r"\to"): r"\mapsto",
    (r"\Leftarrow", "="): r"\Leftarrow",
    (r"\Leftarrow", r"\Rightarrow"): r"\Leftrightarrow",
    ("=", "\u0338"): r"\neq",
    ("\u0338", "="): r"\neq",
}
_DOTLESS = {"ı": "i", "ȷ": "j", r"\imath": "i"}


def with_whole_signs(boxes: list[Box]) -> list[Box]:
    """Boxes in the order they were drawn, with strokes that belong together made one."""
    whole: list[Box] = []
    for box in boxes:
        last = whole[-1] if whole else None
        merged = _merged(last, box) if last is not None else None
        if merged is not None:
            whole[-1] = merged
        else:
            whole.append(box)
    return whole


def _merged(first: Box, second: Box) -> Box | None:
    em = first.size
    if abs(second.size - em) > 0.15 * em or abs(second.y - first.y) > 0.5 * em:
        return None
    rise = abs(second.y - first.y) / em
    if second.latex == "." and first.latex in (".", r"\vdots") and rise > 0.2:
        is_below = abs(second.x0 - first.x0) < 0.1 * em
        return around([first, second], r"\vdots", second.y, em) if is_below else None
    sign = _PAIRS.get((first.latex, second.latex))
    if sign is not None and second.x0 < first.x0 + 0.9 * em and second.x0 < first.x1 + 0.05 * em:
        return around([first, second], sign, first.y, em)
    if not _stands_over(first, second) and not _hangs_over(first, second):
        return None
    if _is_accent(first):
        return _accented(first, second)
    return _accented(second, first) if _is_accent(second) else None


def _is_accent(box: Box) -> bool:
    return _ACCENTS.get(box.latex, box.latex) in _COMBINING


def _stands_over(a: Box, b: Box) -> bool:
    shared = min(a.x1, b.x1) - max(a.x0, b.x0)
    narrower = min(a.x1 - a.x0, b.x1 - b.x0)
    return shared > 0.4 * narrower and shared > 0


def _hangs_over(accent: Box, letter: Box) -> bool:
    """Accents of Unicode fonts have no width: they stand at the right edge and reach back."""
    has_width = accent.x1 - accent.x0 > 0.01
    reaches = letter.x0 <= accent.x0 <= letter.x1 + 0.35 * letter.size
    return not has_width and reaches and accent.y >= letter.y - 0.05 * letter.size


def _accented(accent: Box, letter: Box) -> Box | None:
    command = _ACCENTS.get(accent.latex, accent.latex)
    base = _DOTLESS.get(letter.latex, letter.latex)
    if letter.face == "math":
        return replace(around([accent, letter], f"{command}{{{base}}}", letter.y, letter.size))
    if not base.isalpha():
        return None
    if letter.face == "bold":
        bold = around([accent, letter], f"{command}{{\\mathbf{{{base}}}}}", letter.y, letter.size)
        composed = unicodedata.normalize("NFC", base + _COMBINING[command])
        return replace(letter, latex=composed) if len(composed) == 1 else bold
    composed = unicodedata.normalize("NFC", base + _COMBINING[command])
    return replace(letter, latex=composed)
