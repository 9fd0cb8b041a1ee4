r"""The student's own macros, as defined: \newcommand, \def, \DeclareMathOperator, \let and their
relatives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.reading.markup.braces import group
from headwright.homework.reading.traced_text import TracedText

_DEFINITION = re.compile(
    r"\\(?P<how>(?:re|provide)?newcommand|renewcommand|providecommand|DeclareRobustCommand"
    r"|(?:New|Renew|Provide|Declare)DocumentCommand|DeclareMathOperator|DeclarePairedDelimiter"
    r"|newenvironment|renewenvironment|newif|let|[gex]?def)(?![A-Za-z])\*?"
)
_NAME = re.compile(r"\s*\{?\s*\\(?P<name>[A-Za-z@]+|.)\s*\}?")
_ENVIRONMENT = re.compile(r"\s*\{(?P<name>[^{}]*)\}")
_LET_GOAL = re.compile(r"\s*=?\s*\\([A-Za-z@]+|.)")
OPTION = re.compile(r"\s*\[([^\]]*)\]")

_MOST_ARGUMENTS = 9  # TeX knows #1 to #9
_LONGEST_PARAMETER_TEXT = 40  # characters between \def's name and its body


@dataclass(frozen=True)
class Macro:
    body: str
    arguments: int = 0
    default: str | None = None  # of an optional first argument
    primitive: bool = False  # made by \let from a command that was no macro: never expanded again


def definitions(source: TracedText) -> tuple[dict[str, Macro], TracedText]:
    """The macros that a text defines, and the text without their definitions."""
    macros: dict[str, Macro] = {}
    kept: list[TracedText] = []
    reached = 0
    for match in _DEFINITION.finditer(source.text):
        if match.start() < reached:  # inside the definition before
            continue
        end = _define(source.text, match, macros)
        if end < 0:
            continue
        kept.append(source.cut(reached, match.start()))
        reached = end

    if not kept:
        return {}, source
    kept.append(source.since(reached))
    return macros, TracedText.join(kept)


def _define(text: str, match: re.Match[str], macros: dict[str, Macro]) -> int:
    """Read one definition into the table; the index behind it, or -1 where it is none."""
    how = match["how"]
    if how.endswith("environment"):
        return _skip_environment(text, match.end())

    named = _NAME.match(text, match.end())
    if named is None:
        return -1
    name = named["name"]
    at = named.end()

    if how == "newif":
        return at
    if how == "let":
        return _let(text, at, name, macros)
    if how == "DeclarePairedDelimiter":
        left, at = group(text, at)
        right, at = group(text, at)
        macros[name] = Macro(f"{left} #1 {right}", 1)
        return at

    arguments, default, at = _signature(text, at, how)
    body, at = group(text, at)
    if at < 0:
        return -1
    if how == "DeclareMathOperator":
        body = rf"\operatorname{{{body}}}"
    macros[name] = Macro(body, arguments, default)
    return at


def _signature(text: str, at: int, how: str) -> tuple[int, str | None, int]:
    """How many arguments, the default of the first, and the index behind all this."""
    if how.endswith("DocumentCommand"):
        declared, at = group(text, at)
        arguments = re.findall(r"[mrOo]", declared)
        return len(arguments), None, at

    if how.endswith("def"):
        opening = text.find("{", at)
        if opening < 0 or opening - at > _LONGEST_PARAMETER_TEXT:
            return 0, None, at
        return text.count("#", at, opening), None, opening

    count = OPTION.match(text, at)
    if count is None:
        return 0, None, at
    arguments = int(count[1]) if count[1].isdecimal() else 0
    arguments = min(arguments, _MOST_ARGUMENTS)
    preset = OPTION.match(text, count.end())
    if preset is None:
        return arguments, None, count.end()
    return arguments, preset[1], preset.end()


def _let(text: str, at: int, name: str, macros: dict[str, Macro]) -> int:
    goal = _LET_GOAL.match(text, at)
    if goal is None:
        return -1
    itself = Macro(f"\\{goal[1]} ", primitive=True)
    macros[name] = macros.get(goal[1], itself)
    return goal.end()


def _skip_environment(text: str, at: int) -> int:
    named = _ENVIRONMENT.match(text, at)
    if named is None:
        return -1
    at = named.end()
    while option := OPTION.match(text, at):
        at = option.end()
    for _ in ("begin", "end"):
        _, at = group(text, at)
    return at
