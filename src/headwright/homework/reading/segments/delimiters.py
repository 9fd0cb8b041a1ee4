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
from typing import Literal

from headwright.homework.reading.markup.braces import closing_brace
from headwright.homework.reading.segments.boundaries import (
    INNER_ENVIRONMENTS,
    MATH_ENVIRONMENTS,
    formula_limit,
    is_prose,
)
from headwright.homework.reading.segments.dollars import DollarPairs

_CODE_ENVIRONMENTS = "verbatim|Verbatim|lstlisting|minted|alltt"

# The last group that matches says what opens
_OPENING = re.compile(
    r"(?P<fence>^[ \t>]*(?P<ticks>`{3,}|~{3,})(?P<language>[^\n`]*)$)"
    rf"|\\begin\{{(?P<math>(?:{MATH_ENVIRONMENTS})\*?)\}}"
    rf"|\\begin\{{(?P<inner>(?:{INNER_ENVIRONMENTS})\*?)\}}"
    rf"|\\begin\{{(?P<code>{_CODE_ENVIRONMENTS})\*?\}}"
    r"|(?P<double>\\\\[(\[](?=[^\n]))|(?P<skip>\\\\|\\\$|\\`)"
    r"|(?P<round>\\\()|(?P<square>\\\[)|(?P<display>\$\$)|(?P<inline>\$)"
    r"|(?P<tick>`+)|(?P<comment><!--)|(?P<boxed>\\(?:boxed|ensuremath|fbox)\{)",
    re.MULTILINE,
)
_FENCED_MATH = ("math", "latex", "tex")


@dataclass(frozen=True)
class Delimited:
    """text[start:end] with its delimiters, text[inner[0]:inner[1]] without them."""

    kind: Literal["math", "code", "comment"]
    start: int
    end: int
    inner: tuple[int, int]
    display: bool = False
    language: str = ""


def delimited(text: str) -> Iterator[Delimited]:
    """Mathematics, code and hidden comments in document order."""
    dollars = DollarPairs(text)
    at = 0
    while opening := _OPENING.search(text, at):
        found = _opened(text, opening, dollars)
        at = opening.end()
        if found is not None:
            yield found
            at = max(found.end, opening.end())


def _opened(text: str, opening: re.Match[str], dollars: DollarPairs) -> Delimited | None:
    match opening.lastgroup:
        case "fence":
            return _fence(text, opening)
        case "math" | "inner" | "code":
            return _environment(text, opening)
        case "double":
            return _double(text, opening)
        case "round":
            return _to_bracket(text, opening, "\\)")
        case "square":
            return _to_bracket(text, opening, "\\]")
        case "display":
            return _display(text, opening)
        case "inline":
            return _inline(text, opening, dollars)
        case "tick":
            return _ticks(text, opening)
        case "boxed":
            return _boxed(text, opening)
        case "comment":
            return _comment(text, opening)
        case _:
            return None


def _fence(text: str, opening: re.Match[str]) -> Delimited | None:
    ticks = opening["ticks"]
    at_least_as_many = rf"{re.escape(ticks[0])}{{{len(ticks)},}}"
    closing_line = re.compile(rf"^[ \t>]*{at_least_as_many}[ \t]*$", re.MULTILINE)
    closing = closing_line.search(text, opening.end())
    if closing is None:
        return None

    language = opening["language"].strip().lower().strip("{}.")
    inner = (min(opening.end() + 1, closing.start()), closing.start())
    if language in _FENCED_MATH:
        return Delimited("math", opening.start(), closing.end(), inner, display=True)
    return Delimited("code", opening.start(), closing.end(), inner, display=True, language=language)


def _environment(text: str, opening: re.Match[str]) -> Delimited:
    name = opening["math"] or opening["inner"] or opening["code"]
    ending = f"\\end{{{name}}}"
    closing = text.find(ending, opening.end())
    if closing < 0:
        closing = end = formula_limit(text, opening.end())
    else:
        end = closing + len(ending)

    start = opening.start()
    inside = (opening.end(), closing)
    if opening["code"]:
        return Delimited("code", start, end, inside, display=True)
    if opening["inner"]:  # part of the formula: its rows are read later
        inside = (start, end)
    return Delimited("math", start, end, inside, display=name != "math")


def _double(text: str, opening: re.Match[str]) -> Delimited | None:
    r"""\\( .. \\), as Markdown wants it: a formula only where both stand in one paragraph, because
    \\ also breaks lines."""
    inner = opening.end()
    is_round = text[inner - 1] == "("
    ending = "\\\\)" if is_round else "\\\\]"
    closing = text.find(ending, inner)
    if not 0 <= closing < formula_limit(text, inner):
        return None
    end = closing + len(ending)
    return Delimited("math", opening.start(), end, (inner, closing), display=not is_round)


def _to_bracket(text: str, opening: re.Match[str], ending: str) -> Delimited:
    r"""From \( or \[ to its partner, or to the end of the paragraph where that is missing."""
    start, inner = opening.span()
    is_square = ending == "\\]"
    closing = text.find(ending, inner)
    while closing > 0 and text[closing - 1] == "\\":  # \\] is a line break and a bracket
        closing = text.find(ending, closing + 1)

    limit = formula_limit(text, inner)
    if closing < 0 or (closing > limit and is_prose(text[limit:closing])):
        return Delimited("math", start, limit, (inner, limit), display=is_square)
    return Delimited("math", start, closing + len(ending), (inner, closing), display=is_square)


def _display(text: str, opening: re.Match[str]) -> Delimited:
    start, inner = opening.span()
    closing = text.find("$$", inner)
    limit = formula_limit(text, inner)
    if closing >= 0 and (closing <= limit or not is_prose(text[inner:closing])):
        return Delimited("math", start, closing + 2, (inner, closing), display=True)

    single = text.find("$", inner, limit)  # opened with two, closed with one
    if single >= 0:
        return Delimited("math", start, single + 1, (inner, single), display=True)
    return Delimited("math", start, limit, (inner, limit), display=True)


def _inline(text: str, opening: re.Match[str], dollars: DollarPairs) -> Delimited | None:
    closing = dollars.partner(opening.start())
    if closing <= 0:
        return None
    # Where the second dollar is missing, the formula ends with its line
    end = closing + text.startswith("$", closing)
    return Delimited("math", opening.start(), end, (opening.end(), closing))


def _ticks(text: str, opening: re.Match[str]) -> Delimited | None:
    ticks = opening.group()
    closing = text.find(ticks, opening.end())
    if closing <= 0 or "\n\n" in text[opening.end() : closing]:
        return None
    end = closing + len(ticks)
    return Delimited("code", opening.start(), end, (opening.end(), closing))


def _boxed(text: str, opening: re.Match[str]) -> Delimited | None:
    r"""\boxed{..} without dollars is a formula all the same."""
    brace = closing_brace(text, opening.end() - 1)
    if brace <= 0:
        return None
    whole = (opening.start(), brace + 1)
    return Delimited("math", *whole, inner=whole)


def _comment(text: str, opening: re.Match[str]) -> Delimited | None:
    closing = text.find("-->", opening.end())
    if closing <= 0:
        return None
    return Delimited("comment", opening.start(), closing + 3, (opening.end(), closing))
