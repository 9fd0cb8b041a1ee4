r"""The student's own macros, expanded.

Expansion rewrites text from a table; it is no TeX machine. What TeX would do with catcodes or
counters is left as it stands, because half-right is worse than untouched. Work and size are
bounded, so a macro bomb is a `LimitReached`, not a full memory.
"""

from __future__ import annotations

import re

from headwright.homework import limits
from headwright.homework.reading.markup.braces import group
from headwright.homework.reading.markup.macro_definitions import OPTION, Macro, definitions
from headwright.homework.reading.markup.switches import ANSWER_OFF, ANSWER_ON, wraps_answer
from headwright.homework.reading.traced_text import TracedText

_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+$")
_PARAMETER = re.compile(r"#([1-9])")


def expanded(source: TracedText) -> TracedText:
    """The text with its macro definitions taken out and applied."""
    macros, rest = definitions(source)
    return _applied(rest, macros) if macros else rest


def _applied(source: TracedText, macros: dict[str, Macro]) -> TracedText:
    """Every call replaced by its body. Calls inside bodies are expanded in turn: what is still to
    read is a stack of texts, each with the place reached in it."""
    calls = _calls_of(macros)
    written: list[TracedText] = []
    stack: list[tuple[TracedText, int]] = [(source, 0)]
    expansions = 0
    characters = 0
    while stack:
        text, at = stack.pop()
        call = calls.search(text.text, at)
        while call and call["name"] is None:  # \\ is a line break, whatever letters follow it
            call = calls.search(text.text, call.end())
        if call is None:
            written.append(text.since(at))
            continue

        written.append(text.cut(at, call.start()))
        macro = macros[call["name"]]
        body, end = _call(text, call, macro)
        stack.append((text, end))
        expansions += 1
        characters += len(body)
        _check_limits(expansions, characters, depth=len(stack))

        if macro.primitive:
            written.append(body)
        else:
            stack.append((body, 0))
    return TracedText.join(written)


def _calls_of(macros: dict[str, Macro]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, macros), key=len, reverse=True)
    names = "|".join(longest_first)
    return re.compile(rf"\\\\|\\(?P<name>{names})(?![A-Za-z@])")


def _check_limits(expansions: int, characters: int, depth: int) -> None:
    if expansions > limits.MOST_EXPANSIONS:
        raise limits.LimitReached(f"its macros expand more than {limits.MOST_EXPANSIONS:,} times")
    if characters > limits.MOST_EXPANDED:
        raise limits.LimitReached(
            f"its macros expand to more than {limits.MOST_EXPANDED:,} characters"
        )
    if depth > limits.MOST_NESTING:
        raise limits.LimitReached(
            f"its macros call each other more than {limits.MOST_NESTING} deep"
        )


def _call(text: TracedText, call: re.Match[str], macro: Macro) -> tuple[TracedText, int]:
    """The body with its arguments in place, and the index behind the call."""
    place = text.span(*call.span())
    arguments, end = _arguments(text, call.end(), macro, place)
    body = _filled(macro.body, arguments, place)
    if macro.arguments and wraps_answer(call["name"]):
        on = TracedText.at(ANSWER_ON, place)
        off = TracedText.at(ANSWER_OFF, place)
        body = TracedText.join([on, body, off])
    return body, end


def _arguments(
    text: TracedText, at: int, macro: Macro, place: tuple[int, int]
) -> tuple[list[TracedText], int]:
    """As many of the macro's arguments as stand there, and the index behind them."""
    found: list[TracedText] = []
    if macro.arguments and macro.default is not None:
        option = OPTION.match(text.text, at)
        if option:
            found.append(text.cut(*option.span(1)))
            at = option.end()
        else:
            found.append(TracedText.at(macro.default, place))

    while len(found) < macro.arguments:
        argument, end = group(text.text, at)
        if end < 0:
            break
        braced = text.text[end - 1] == "}" and len(argument) < end - at - 1
        inner_end = end - 1 if braced else end
        found.append(text.cut(inner_end - len(argument), inner_end))
        at = end
    return found, at


def _filled(body: str, arguments: list[TracedText], place: tuple[int, int]) -> TracedText:
    """The body with its arguments for #1, #2, ..; what the macro wrote itself stands for the
    call."""
    pieces: list[TracedText] = []
    reached = 0
    for parameter in _PARAMETER.finditer(body):
        pieces.append(TracedText.at(body[reached : parameter.start()], place))
        number = int(parameter[1])
        if number <= len(arguments):
            pieces.append(arguments[number - 1])
        reached = parameter.end()

    # A space keeps \\R x from becoming \\Rx after expansion.
    space = " " if _ENDS_IN_COMMAND.search(body) else ""
    pieces.append(TracedText.at(body[reached:] + space, place))
    return TracedText.join(pieces) if len(pieces) > 1 else pieces[0]
