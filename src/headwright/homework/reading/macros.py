r"""The student's own macros, expanded: \newcommand, \def, \DeclareMathOperator, \let and their
relatives.

Expansion rewrites text from a table; it is no TeX machine. What TeX would do with catcodes or
counters is left as it stands, because half-right is worse than untouched. Work and size are
bounded, so a macro bomb is a `LimitReached`, not a full memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headwright.homework import limits
from headwright.homework.reading.traced import Traced

# A pair of marks may stand in traced text to say what a wrapper meant; private-use characters of
# the source itself are replaced on reading, so that no document can forge them.
ANSWER_ON, ANSWER_OFF, STRUCK_ON, STRUCK_OFF = "\ue000", "\ue001", "\ue002", "\ue003"
MARKS = re.compile("[\ue000-\ue003]")
ANSWER_NAMES = frozenset(
    {
        "ans", "answer", "answers", "answerbox", "antwort", "loesung", "myans", "myanswer", "mysol", "mysolution",
        "response", "resposta", "respuesta", "sol", "soln", "solution", "solutionbox", "solutions", "studentanswer",
    }
)  # fmt: skip

_DEFINITION = re.compile(
    r"\\(?P<how>(?:re|provide)?newcommand|renewcommand|providecommand|DeclareRobustCommand"
    r"|(?:New|Renew|Provide|Declare)DocumentCommand|DeclareMathOperator|DeclarePairedDelimiter"
    r"|newenvironment|renewenvironment|newif|let|[gex]?def)(?![A-Za-z])\*?"
)
_NAME = re.compile(r"\s*\{?\s*\\(?P<name>[A-Za-z@]+|.)\s*\}?")
_ENVIRONMENT = re.compile(r"\s*\{(?P<name>[^{}]*)\}")
_OPTION = re.compile(r"\s*\[([^\]]*)\]")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+$")
_TOKEN = re.compile(r"\\[A-Za-z@]+|\\.|.", re.DOTALL)
_LET_GOAL = re.compile(r"\s*=?\s*\\([A-Za-z@]+|.)")
_PARAMETER = re.compile(r"#([1-9])")


@dataclass(frozen=True)
class Macro:
    body: str
    arguments: int = 0
    default: str | None = None  # of an optional first argument
    primitive: bool = False  # made by \let from a command that was no macro: never expanded again


@dataclass
class _Found:
    macros: dict[str, Macro] = field(default_factory=dict)
    kept: list[Traced] = field(default_factory=list)


def closing(text: str, opening: int) -> int:
    """The index of the brace that closes the one at `opening`, or -1."""
    depth = 0
    for match in _BRACE.finditer(text, opening):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def expanded(source: Traced) -> Traced:
    """The text with its macro definitions taken out and applied."""
    found = _definitions(source)
    if not found.kept:
        return source
    rest = Traced.join(found.kept)
    return _apply(rest, found.macros) if found.macros else rest


def _definitions(source: Traced) -> _Found:
    found, at = _Found(), 0
    for match in _DEFINITION.finditer(source.text):
        if match.start() < at:
            continue
        end = _define(source.text, match, found.macros)
        if end < 0:
            continue
        found.kept.append(source.cut(at, match.start()))
        at = end
    if at:
        found.kept.append(source.cut(at, len(source)))
    return found


def _define(text: str, match: re.Match[str], macros: dict[str, Macro]) -> int:
    """Read one definition into the table; the index behind it, or -1 where it is none."""
    how = match["how"]
    if how.endswith("environment"):
        return _skip_environment(text, match.end())
    named = _NAME.match(text, match.end())
    if named is None:
        return -1
    name, at = named["name"], named.end()
    if how == "newif":
        return at
    if how == "let":
        return _let(text, at, name, macros)
    if how == "DeclarePairedDelimiter":
        left, at = _group(text, at)
        right, at = _group(text, at)
        macros[name] = Macro(f"{left} #1 {right}", 1)
        return at
    arguments, default, at = _signature(text, at, how)
    body, at = _group(text, at)
    if at < 0:
        return -1
    if how == "DeclareMathOperator":
        body = rf"\operatorname{{{body}}}"
    macros[name] = Macro(body, arguments, default)
    return at


def _signature(text: str, at: int, how: str) -> tuple[int, str | None, int]:
    if how.endswith("DocumentCommand"):
        declared, at = _group(text, at)
        return len(re.findall(r"[mrOo]", declared)), None, at
    if how.endswith("def"):
        opening = text.find("{", at)
        if opening < 0 or opening - at > 40:
            return 0, None, at
        return text.count("#", at, opening), None, opening
    arguments, default = 0, None
    count = _OPTION.match(text, at)
    if count:
        arguments, at = int(count[1]) if count[1].isdecimal() else 0, count.end()
        preset = _OPTION.match(text, at)
        if preset:
            default, at = preset[1], preset.end()
    return min(arguments, 9), default, at


def _let(text: str, at: int, name: str, macros: dict[str, Macro]) -> int:
    goal = _LET_GOAL.match(text, at)
    if goal is None:
        return -1
    macros[name] = macros.get(goal[1], Macro(f"\\{goal[1]} ", primitive=True))
    return goal.end()


def _skip_environment(text: str, at: int) -> int:
    named = _ENVIRONMENT.match(text, at)
    if named is None:
        return -1
    at = named.end()
    while option := _OPTION.match(text, at):
        at = option.end()
    for _ in ("begin", "end"):
        _, at = _group(text, at)
    return at


def _group(text: str, at: int) -> tuple[str, int]:
    """A braced group or one token at `at`, and the index behind it (-1: none)."""
    while 0 <= at < len(text) and text[at].isspace():
        at += 1
    if not 0 <= at < len(text):
        return "", -1
    if text[at] != "{":
        token = _TOKEN.match(text, at)
        return (token.group(), token.end()) if token else ("", -1)
    end = closing(text, at)
    return (text[at + 1 : end], end + 1) if end > 0 else ("", -1)


def _apply(source: Traced, macros: dict[str, Macro]) -> Traced:
    names = "|".join(sorted(map(re.escape, macros), key=len, reverse=True))
    command = re.compile(rf"\\\\|\\(?P<name>{names})(?![A-Za-z@])")
    out: list[Traced] = []
    frames: list[tuple[Traced, int]] = [(source, 0)]
    expansions = written = 0
    while frames:
        frame, at = frames.pop()
        match = command.search(frame.text, at)
        while match and match["name"] is None:  # \\ is a line break, whatever letters follow it
            match = command.search(frame.text, match.end())
        if match is None:
            out.append(frame.cut(at, len(frame)))
            continue
        out.append(frame.cut(at, match.start()))
        macro = macros[match["name"]]
        body, end = _call(frame, match, macro)
        frames.append((frame, end))
        expansions, written = expansions + 1, written + len(body)
        _bounded(expansions, written, len(frames))
        if macro.primitive:
            out.append(body)
        else:
            frames.append((body, 0))
    return Traced.join(out)


def _bounded(expansions: int, written: int, depth: int) -> None:
    if expansions > limits.MOST_EXPANSIONS:
        raise limits.LimitReached(f"its macros expand more than {limits.MOST_EXPANSIONS:,} times")
    if written > limits.MOST_EXPANDED:
        raise limits.LimitReached(
            f"its macros expand to more than {limits.MOST_EXPANDED:,} characters"
        )
    if depth > limits.MOST_NESTING:
        raise limits.LimitReached(
            f"its macros call each other more than {limits.MOST_NESTING} deep"
        )


def _call(frame: Traced, match: re.Match[str], macro: Macro) -> tuple[Traced, int]:
    """The body with its arguments in place, and the index behind the call."""
    at, given, here = match.end(), [], frame.span(match.start(), match.end())
    for number in range(macro.arguments):
        if number == 0 and macro.default is not None:
            option = _OPTION.match(frame.text, at)
            given.append(frame.cut(*option.span(1)) if option else Traced.at(macro.default, here))
            at = option.end() if option else at
            continue
        text, end = _group(frame.text, at)
        if end < 0:
            break
        inner = end - 1 if frame.text[end - 1] == "}" and len(text) < end - at - 1 else end
        given.append(frame.cut(inner - len(text), inner))
        at = end
    body = _filled(macro.body, given, here)
    if macro.arguments and match["name"].lower() in ANSWER_NAMES:
        body = Traced.join([Traced.at(ANSWER_ON, here), body, Traced.at(ANSWER_OFF, here)])
    return body, at


def _filled(body: str, given: list[Traced], here: tuple[int, int]) -> Traced:
    pieces, at = [], 0
    for parameter in _PARAMETER.finditer(body):
        pieces.append(Traced.at(body[at : parameter.start()], here))
        number = int(parameter[1])
        if number <= len(given):
            pieces.append(given[number - 1])
        at = parameter.end()
    # A space keeps \\R x from becoming \\Rx after expansion.
    pieces.append(Traced.at(body[at:] + (" " if _ENDS_IN_COMMAND.search(body) else ""), here))
    return Traced.join(pieces) if len(pieces) > 1 else pieces[0]
