"""Characters before anything is read: what no output can show, what only looks different, and
what a document must not contain."""

from __future__ import annotations

import re
import unicodedata

NO_CHARACTER = "\ufffd"

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_HALF = re.compile("[\ud800-\udfff]")

_MATHEMATICAL_ALPHABETS = range(0x1D400, 0x1D800)
_FULL_WIDTH = (
    *range(0xFF10, 0xFF1A),  # digits
    *range(0xFF21, 0xFF3B),  # capitals
    *range(0xFF41, 0xFF5B),  # small letters
    0xFF0B,  # plus
    0xFF1D,  # equals
)
_FULL_WIDTH_SHIFT = 0xFEE0  # from ASCII


def _look_alikes() -> dict[int, int]:
    """Letters that only look different: mathematical alphabets, full-width forms, the micro sign,
    the minus sign."""
    letters = [c for c in _MATHEMATICAL_ALPHABETS if unicodedata.name(chr(c), "")]
    table = {c: ord(unicodedata.normalize("NFKC", chr(c))) for c in letters}
    table |= {c: c - _FULL_WIDTH_SHIFT for c in _FULL_WIDTH}
    return table | str.maketrans("µ−∗⋅⩽⩾ℎ", "μ-*·≤≥h")


_LOOK_ALIKES = _look_alikes()


def is_binary(text: str) -> bool:
    controls = count_controls(text)
    return controls > 20 and controls > 0.05 * len(text)


def count_controls(text: str) -> int:
    return len(_CONTROL.findall(text))


def noted(text: str) -> tuple[str, ...]:
    """What `showable` will replace."""
    counted = {
        "control characters ignored": count_controls(text),
        "halves of characters (lone surrogates) ignored": len(_HALF.findall(text)),
    }
    return tuple(f"{count} {what}" for what, count in counted.items() if count)


def showable(text: str) -> str:
    """The text as every output can show it, character for character: neither control characters,
    which a terminal obeys, nor halves of characters, which no encoding can write."""
    return _HALF.sub(NO_CHARACTER, _CONTROL.sub(NO_CHARACTER, text))


def readable(text: str) -> str:
    """The text for reading, as long as before: letters that look alike are alike, what is no
    character is a blank, and no private character can be taken for one of our own (`switches`)."""
    blanked = text.replace(NO_CHARACTER, " ")
    return _PRIVATE.sub(NO_CHARACTER, blanked).translate(_LOOK_ALIKES)
