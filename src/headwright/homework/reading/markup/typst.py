"""Typst, as far as written answers need it: headings, strikes, `$ display $`, and formulas
rewritten as LaTeX (`typst_formulas`)."""

from __future__ import annotations

import re

from headwright.homework.reading.markup.switches import STRUCK_OFF, STRUCK_ON
from headwright.homework.reading.markup.typst_formulas import latex_from_typst
from headwright.homework.reading.traced_text import TracedText

_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADING = re.compile(r"^(={1,6})(?=[ \t])", re.MULTILINE)
_DIRECTIVE = re.compile(r"^#(?:set|show|import|include|let)\b[^\n]*", re.MULTILINE)
_STRIKE = re.compile(r"#strike\[([^\[\]]*)\]")
_CALL = re.compile(
    r"#(?:[a-z][\w.]*)(?:\((?:[^()\n]|\([^()\n]*\))*\))?(?=\[)"
    r"|#(?:pagebreak|linebreak|v|h)\([^()\n]*\)"
)
_FORMULA = re.compile(r"(?<!\\)\$((?:\\.|[^$\\]){1,20000}?)\$", re.DOTALL)


def markdown_from_typst(source: TracedText) -> TracedText:
    """Typst rewritten as the Markdown and LaTeX that the common scanner reads."""
    source = source.replace(_COMMENT, lambda match: "")
    source = source.replace(_DIRECTIVE, lambda match: "")
    source = source.replace(_HEADING, lambda match: "#" * len(match[1]))
    source = source.replace(_STRIKE, lambda match: f"{STRUCK_ON}{match[1]}{STRUCK_OFF}")
    source = source.replace(_CALL, lambda match: "")

    matches = _FORMULA.finditer(source.text)
    return source.edited((*match.span(), _formula(source, match)) for match in matches)


def _formula(source: TracedText, match: re.Match[str]) -> TracedText:
    """Typst displays a formula with blanks inside its dollars."""
    start, end = match.span()
    inside = source.cut(*match.span(1))
    display = inside.text[:1].isspace() and inside.text[-1:].isspace()
    dollars = "$$" if display else "$"

    opening = source.stand_in(dollars, start, start + 1)
    closing = source.stand_in(dollars, end - 1, end)
    return TracedText.join([opening, latex_from_typst(inside), closing])
