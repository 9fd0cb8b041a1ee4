"""Markdown and plain text: entities, HTML, strikes, and what copying from a PDF does to formulas.

Headings, bullets and quotes are left: they belong to lines, and lines are cut later (`segments`).
"""

from __future__ import annotations

import re
from html import unescape

from headwright.homework.reading.markup import tex
from headwright.homework.reading.markup.macros import expanded
from headwright.homework.reading.markup.switches import HOLE, STRUCK_OFF, STRUCK_ON
from headwright.homework.reading.traced_text import TracedText

_STRIKE = re.compile(
    r"~~(?=\S)((?:[^\n~$]|\$[^$\n]*\$){1,600}?)~~|<(del|s|strike)>(.{1,2000}?)</\2>", re.DOTALL
)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,12}|#\d{2,6}|#x[0-9a-fA-F]{2,5});")
_TAG = re.compile(
    r"</?(?:br|p|div|span|b|i|u|em|strong|center|details|summary|font|hr|ul|ol|li"
    r"|table|tr|td|th|tbody|img|a)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_LINE_TAGS = ("<br", "<p", "</p", "<li")
# A line to write on; a comment that a template puts where the answer goes
_HOLE = re.compile(
    r"^[ \t>|]*(?:_{8,}|\.{12,})[ \t|]*$"
    r"|<!--[^>]{0,80}?(?:answer|solution|response|write|here|todo|antwort|lösung|respuesta|resposta"
    r"|réponse|solución|solução|答|解|답|풀이)[^>]{0,120}?-->",
    re.IGNORECASE | re.MULTILINE,
)
_SCRIPT = re.compile(r"<(sub|sup)>([^<>\n]{1,20})</\1>", re.IGNORECASE)

# What copying from a PDF does: scripts fall onto lines of their own, a struck equals sign comes in
# two pieces.
_PDF_SLIPS = (
    (re.compile(r"(?<=[A-Za-zμ])([⊤ᵀ])[ \t]*\n[ \t]*([a-z0-9])(?=[ \t)])"), r"\1_\2"),
    (re.compile(r"[∑Σ]\s?([a-z])[ \t]*\n[ \t]*([a-z])\s?=\s?(\d)"), r"∑_{\2=\3}^\1"),
    (re.compile("\u0338\\s?=|=\u0338|/="), "≠"),
)


def plain_markdown(source: TracedText) -> TracedText:
    """Lines and formulas, with strikes as switches."""
    source = expanded(source).replace(_HOLE, lambda match: f"\n\n{HOLE}\n\n")
    for slip, meant in _PDF_SLIPS:
        source = source.replace(slip, lambda match, meant=meant: match.expand(meant))
    if "<" in source.text:
        source = source.replace(_SCRIPT, _script)
        source = source.replace(_TAG, _tag)
    if "&" in source.text:
        source = source.replace(_ENTITY, _entity)
    if "~~" in source.text or "<" in source.text:
        source = _struck(source)
    if r"\sout" in source.text or r"\st{" in source.text:
        source = tex.with_switches(source)
    return source


def _script(match: re.Match[str]) -> str:
    sign = "_" if match[1].lower() == "sub" else "^"
    return f"{sign}{{{match[2]}}}"


def _tag(match: re.Match[str]) -> str:
    begins_line = match.group().lower().startswith(_LINE_TAGS)
    return "\n" if begins_line else ""


def _entity(match: re.Match[str]) -> str:
    return unescape(match.group()).replace("\n", " ")


def _struck(source: TracedText) -> TracedText:
    edits: list[tuple[int, int, TracedText]] = []
    for match in _STRIKE.finditer(source.text):
        inside = 1 if match[1] is not None else 3
        start, end = match.span(inside)
        if source.text.count("$", start, end) % 2:  # it begins or ends in the middle of a formula
            continue
        on = source.stand_in(STRUCK_ON, match.start(), start)
        off = source.stand_in(STRUCK_OFF, end, match.end())
        edits.append((match.start(), start, on))
        edits.append((end, match.end(), off))
    return source.edited(edits)
