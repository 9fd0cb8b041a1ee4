r"""Where mathematics and code stand in a text: $..$, $$..$$, \(..\), \[..\], environments, fences,
backticks.

One scanner serves Markdown, LaTeX and plain text, because real documents mix them. A Markdown
parser is not used: it gives lines without columns, and its own rules (indented code, emphasis
inside formulas) break mathematics that the student saw rendered. Delimiters without a partner end
with their paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headwright.homework.reading.macros import closing

MATH_ENVIRONMENTS = "equation|align|gather|multline|eqnarray|displaymath|math|dmath|flalign|alignat|xalignat|darray|IEEEeqnarray"
_INNER_ENVIRONMENTS = "cases|split|aligned|gathered|array|[pbvBV]?matrix|smallmatrix|dcases|rcases"
_CODE_ENVIRONMENTS = "verbatim|Verbatim|lstlisting|minted|alltt"

_OPENING = re.compile(
    r"(?P<fence>^[ \t>]*(?P<ticks>`{3,}|~{3,})(?P<language>[^\n`]*)$)"
    rf"|\\begin\{{(?P<math>(?:{MATH_ENVIRONMENTS})\*?)\}}"
    rf"|\\begin\{{(?P<inner>(?:{_INNER_ENVIRONMENTS})\*?)\}}"
    rf"|\\begin\{{(?P<code>{_CODE_ENVIRONMENTS})\*?\}}"
    r"|(?P<double>\\\\[(\[](?=[^\n]))|(?P<skip>\\\\|\\\$|\\`)"
    r"|(?P<round>\\\()|(?P<square>\\\[)|(?P<display>\$\$)|(?P<inline>\$)"
    r"|(?P<tick>`+)|(?P<comment><!--)|(?P<boxed>\\(?:boxed|ensuremath|fbox)\{)",
    re.MULTILINE,
)
# No formula reaches past these: a blank line, a new item, a heading, a text environment.
_BOUNDARY = re.compile(
    r"\n[ \t]*(?=\n|[*_>-]*[ \t]*(?:\(?(?:[a-h]|[ivx]{1,4}|\d)[.)][ \t]|\d\.\d)|#{1,6}[ \t]|[-*+•][ \t]+[A-Z*(])"
    r"|\\(?:item|section|subsection|subsubsection|paragraph|question|part|subpart)(?![A-Za-z])"
    rf"|\\(?:begin|end)\{{(?!(?:{MATH_ENVIRONMENTS}|{_INNER_ENVIRONMENTS})\*?\}})"
)
# Inside single dollars no other formula begins.
_DOLLAR_BOUNDARY = re.compile(rf"{_BOUNDARY.pattern}|\\begin\{{(?:{MATH_ENVIRONMENTS})|\\\[|\\\(")
_DOLLAR = re.compile(r"\\.|\$+", re.DOTALL)
_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}")
_MATHS = re.compile(r"[\\_^=+<>{}|]")


@dataclass(frozen=True)
class Region:
    kind: str  # "math", "code" or "comment"
    start: int
    end: int
    inner: tuple[int, int]
    display: bool = False
    language: str = ""


def regions(text: str) -> Iterator[Region]:
    """Mathematics, code and hidden comments in document order."""
    at, pairs = 0, _Dollars(text)
    while match := _OPENING.search(text, at):
        region = _region(text, match, pairs)
        if region is None:
            at = match.end()
            continue
        yield region
        at = max(region.end, match.end())


def _region(text: str, match: re.Match[str], pairs: _Dollars) -> Region | None:
    start, end, kind = match.start(), match.end(), match.lastgroup
    if match["fence"] is not None:
        return _fence(text, match)
    if match["math"] or match["inner"] or match["code"]:
        return _environment(text, match)
    if kind == "double":
        return _between(text, start, end, "\\\\)" if text[end - 1] == "(" else "\\\\]", strict=True)
    if kind == "round":
        return _between(text, start, end, "\\)")
    if kind == "square":
        return _between(text, start, end, "\\]", display=True)
    if kind == "display":
        return _display(text, start, end)
    if kind == "inline":
        close = pairs.partner(start)
        after = close + text.startswith("$", close)
        return Region("math", start, after, (end, close)) if close > 0 else None
    if kind == "tick":
        close = text.find(match.group(), end)
        inside = close > 0 and "\n\n" not in text[end:close]
        return Region("code", start, close + end - start, (end, close)) if inside else None
    if kind == "boxed":
        close = closing(text, end - 1)
        return Region("math", start, close + 1, (start, close + 1)) if close > 0 else None
    if kind == "comment":
        close = text.find("-->", end)
        return Region("comment", start, close + 3, (end, close)) if close > 0 else None
    return None


def _fence(text: str, match: re.Match[str]) -> Region | None:
    ticks = match["ticks"]
    close = re.compile(
        rf"^[ \t>]*{re.escape(ticks[0])}{{{len(ticks)},}}[ \t]*$", re.MULTILINE
    ).search(text, match.end())
    if close is None:
        return None
    language = match["language"].strip().lower().strip("{}.")
    inner = (min(match.end() + 1, close.start()), close.start())
    if language in ("math", "latex", "tex"):
        return Region("math", match.start(), close.end(), inner, display=True)
    return Region("code", match.start(), close.end(), inner, display=True, language=language)


def _environment(text: str, match: re.Match[str]) -> Region:
    name = match["math"] or match["inner"] or match["code"]
    ending = f"\\end{{{name}}}"
    close = text.find(ending, match.end())
    if close < 0:
        boundary = _BOUNDARY.search(text, match.end())
        close, end = (boundary.start(), boundary.start()) if boundary else (len(text), len(text))
    else:
        end = close + len(ending)
    if match["code"]:
        return Region("code", match.start(), end, (match.end(), close), display=True)
    inner = (match.start(), end) if match["inner"] else (match.end(), close)
    return Region("math", match.start(), end, inner, display=name != "math")


def _between(
    text: str, start: int, inner: int, ending: str, *, display: bool = False, strict: bool = False
) -> Region | None:
    r"""From `inner` to `ending`, or to the end of the paragraph where it is missing."""
    close = text.find(ending, inner)
    # \\] is a line break and a bracket
    while close > 0 and ending[:2] != "\\\\" and text[close - 1] == "\\":
        close = text.find(ending, close + 1)
    boundary = _BOUNDARY.search(text, inner)
    stop = boundary.start() if boundary else len(text)
    if strict and not 0 <= close < stop:
        return None
    if close < 0 or (close > stop and _is_prose(text[stop:close])):
        return Region("math", start, stop, (inner, stop), display)
    return Region(
        "math", start, close + len(ending), (inner, close), display or ending.endswith("]")
    )


def _display(text: str, start: int, inner: int) -> Region:
    close = text.find("$$", inner)
    boundary = _BOUNDARY.search(text, inner)
    stop = boundary.start() if boundary else len(text)
    if close >= 0 and (close <= stop or not _is_prose(text[inner:close])):
        return Region("math", start, close + 2, (inner, close), display=True)
    lone = text.find("$", inner, stop)  # opened with two, closed with one
    if lone >= 0:
        return Region("math", start, lone + 1, (inner, lone), display=True)
    return Region("math", start, stop, (inner, stop), display=True)


def _is_prose(text: str) -> bool:
    return len(_WORDS.findall(text, 0, 2000)) >= 6


class _Dollars:
    """Partners of single dollars, paragraph by paragraph. An odd dollar is left out where that
    leaves the most mathematics inside and the most words outside."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.partners: dict[int, int] = {}
        self.known_to = 0

    def partner(self, start: int) -> int:
        if start >= self.known_to:
            self._pair_paragraph(start)
        return self.partners.get(start, -1)

    def _pair_paragraph(self, start: int) -> None:
        boundary = _DOLLAR_BOUNDARY.search(self.text, start)
        stop = boundary.start() if boundary else len(self.text)
        places = []
        for match in _DOLLAR.finditer(self.text, start, stop):
            if match.group() == "$":
                places.append(match.start())
            elif match.group().startswith("$$"):
                stop = match.start()
                break
        self.known_to = max(stop, start + 1)
        if len(places) % 2:
            places = self._without_stray(places, stop)
        self.partners.update(zip(places[::2], places[1::2], strict=True))

    def _without_stray(self, places: list[int], stop: int) -> list[int]:
        if len(places) == 1:
            inside = self.text[places[0] + 1 : stop]
            line = inside.split("\n", 1)[0]
            mathematical = _MATHS.search(line) and not _is_prose(line)
            return [places[0], places[0] + 1 + len(line.rstrip())] if mathematical else []
        tried = range(min(len(places), 40))
        return max(([*places[:k], *places[k + 1 :]] for k in tried), key=self._score)

    def _score(self, places: list[int]) -> int:
        inside = [self.text[a + 1 : b] for a, b in zip(places[::2], places[1::2], strict=True)]
        return sum(len(_MATHS.findall(part)) - 3 * len(_WORDS.findall(part)) for part in inside)
