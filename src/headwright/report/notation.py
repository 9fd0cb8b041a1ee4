"""Plain notation, as a terminal shows it, set for a page: `E|c - target|^2 at alpha = 1e-6` with
Greek letters, raised and lowered signs, and powers of ten.

For names of numbers, which are keys of JSON documents too and so stay plain text; whole formulas
are LaTeX (`formula`).
"""

from __future__ import annotations

import re
from html import escape

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ", "omega": "ω", "pi": "π"}
_NAMES = "|".join(_GREEK)

# Before the text is escaped: signs
_SIGNS = [
    (r"\+-", "±"),
    (r"->", "→"),
    (r">>", "≫"),
    (r">=", "≥"),
    (r"<=", "≤"),
    (r"!=", "≠"),
    # The shape of a matrix
    (r"\b(\d+|d) x (\d+|d)\b", r"\1 × \2"),
    (r"\bsqrt\((\w+)\)", r"√\1"),
    (r"\|(c - \w+)\|", r"‖\1‖"),
    # A minus before a number, a letter or a space, but no hyphen inside a word
    (r"(?<![\w])-(?=[\w ])", "−"),
]
# After it: marks around letters
_MARKS = [
    # Letters that stand for something; P( is a probability, the s of "key's" and of "2 s" is none
    (r"(?<!['\w])([cdfnMX]|(?<!\d )s|P(?!\())(?!\w)", r"<i>\1</i>"),
    (rf"\b({_NAMES})(?=_|\b)", lambda found: f"<i>{_GREEK[found[1]]}</i>"),
    # k_j' is a transpose, too; in "head j's" there is no subscript
    (r"\b([A-Za-z])_([a-z0-9])'(?!s\b)", r"<i>\1</i><sub>\2</sub><sup>⊤</sup>"),
    (r"\b([A-Za-z])_([a-z0-9])\b", r"<i>\1</i><sub>\2</sub>"),
    (r"</i>_([a-z0-9])\b", r"</i><sub>\1</sub>"),
    # A' is a transpose; the A before it is the same matrix
    (r"\bA(?= A')", "<i>A</i>"),
    (r"\bA'", "<i>A</i><sup>⊤</sup>"),
    (r"\^(\d+)", r"<sup>\1</sup>"),
    (r"\b(\d+(?:\.\d+)?)e([-+]?)0*(\d+)\b", lambda found: _power_of_ten(*found.groups())),
]


def set_plain(text: str) -> str:
    """Names and sentences in plain notation -> HTML; everything else is escaped."""
    for pattern, sign in _SIGNS:
        text = re.sub(pattern, sign, text)
    html = escape(text, quote=False)
    for pattern, mark in _MARKS:
        html = re.sub(pattern, mark, html)
    return html


def set_around_quotes(text: str) -> str:
    """The same, but what stands in quotation marks stays as it was written."""
    parts = text.split('"')
    pieces = [escape(part) if i % 2 else set_plain(part) for i, part in enumerate(parts)]
    return "&quot;".join(pieces)


def _power_of_ten(mantissa: str, sign: str, exponent: str) -> str:
    minus = "−" if sign == "-" else ""
    power = f"10<sup>{minus}{exponent}</sup>"
    return power if mantissa == "1" else f"{mantissa}&nbsp;·&nbsp;{power}"
