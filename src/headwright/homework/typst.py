"""Typst, as far as written answers need it: headings, strikes, `$ display $`, function calls around content.

Formulas go on as they are written (the formula reader knows bare words such as `beta` and `mu_a`).
"""

from __future__ import annotations

import re

from headwright.homework.macros import STRUCK_OFF, STRUCK_ON
from headwright.homework.traced import Traced

_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADING = re.compile(r"^(={1,6})(?=[ \t])", re.MULTILINE)
_SETTING = re.compile(r"^#(?:set|show|import|include|let)\b[^\n]*", re.MULTILINE)
_STRIKE = re.compile(r"#strike\[([^\[\]]*)\]")
_CALL = re.compile(r"#(?:[a-z][\w.]*)(?:\((?:[^()\n]|\([^()\n]*\))*\))?(?=\[)|#(?:pagebreak|linebreak|v|h)\([^()\n]*\)")
_DISPLAY = re.compile(r"(?<!\\)\$(?=\s)([^$]*?)(?<=\s)\$", re.DOTALL)
_BRACKET = re.compile(r"(?<!\\)[\[\]](?![^$\n]*\$)")


def translated(source: Traced) -> Traced:
    """Typst's own marks rewritten as the Markdown that the common scanner reads."""
    source = source.replace(_COMMENT, lambda match: "")
    source = source.replace(_SETTING, lambda match: "")
    source = source.replace(_HEADING, lambda match: "#" * len(match[1]))
    source = source.replace(_STRIKE, lambda match: f"{STRUCK_ON}{match[1]}{STRUCK_OFF}")
    source = source.replace(_CALL, lambda match: "")
    return _displayed(source)


def _displayed(source: Traced) -> Traced:
    """`$ x $` with blanks inside is a display formula: double its dollars."""
    pieces, at = [], 0
    for match in _DISPLAY.finditer(source.text):
        start, end = match.span()
        pieces += [source.cut(at, start), source.standing("$$", start, start + 1)]
        pieces += [source.cut(start + 1, end - 1), source.standing("$$", end - 1, end)]
        at = end
    return Traced.join([*pieces, source.cut(at, len(source))]) if pieces else source
