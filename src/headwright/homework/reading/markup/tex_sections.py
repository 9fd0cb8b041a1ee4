r"""Sections in LaTeX get the numbers their PDF shows, where those are all that tells the questions
apart: under \renewcommand\thesubsection, and where a heading has no title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headwright.homework.reading.markup.tex_lists import labelled
from headwright.homework.reading.traced_text import TracedText

_LEVELS = ("section", "subsection", "subsubsection")
_STYLE = re.compile(
    r"\\renewcommand\*?\s{0,3}\{?\s{0,3}\\the(?P<level>(?:sub){0,2}section)\s{0,3}\}?\s{0,3}"
    r"\{[^{}\n]{0,40}?(?P<open>[(\[]?)\s*\\(?P<kind>alph|Alph|roman|Roman|arabic)\s*"
    r"\{(?P=level)\}\s*(?P<close>[).\]:]?)"
)
_HEADING = re.compile(
    r"\\(?P<level>(?:sub){0,2}section)\s*(?:\[[^\]\n]{0,200}\])?\{(?P<title>[^{}\n]*)"
)
_OWN_LABEL = re.compile(r"\s*(?:[(\[]?(?:[A-Ha-h]|[ivx]{1,4}|\d[\d.]*)[).\]:]|\d)", re.IGNORECASE)


def with_section_numbers(source: TracedText) -> TracedText:
    """Numbered headings with their numbers written into them; `source` has its preamble still."""
    styles = {m["level"]: m["open"] + m["kind"] + m["close"] for m in _STYLE.finditer(source.text)}
    return source.edited(_numbers(source, styles))


def _numbers(source: TracedText, styles: dict[str, str]) -> Iterator[tuple[int, int, TracedText]]:
    counts = [0] * len(_LEVELS)
    for heading in _HEADING.finditer(source.text):
        depth = _LEVELS.index(heading["level"])
        counts[depth] += 1
        counts[depth + 1 :] = [0] * (len(_LEVELS) - depth - 1)
        style = styles.get(heading["level"])
        title = heading["title"]
        if _OWN_LABEL.match(title) or (style is None and title.strip()):
            continue
        number = labelled(style, counts[depth]) if style else _chained(counts[: depth + 1])
        at = heading.start("title")
        yield at, at, source.stand_in(f"{number} ", at, at)


def _chained(counts: list[int]) -> str:
    """1.2.1, as LaTeX does by itself."""
    return ".".join(str(count) for count in counts)
