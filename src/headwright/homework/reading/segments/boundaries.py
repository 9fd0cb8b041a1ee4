"""How far a formula can reach when its closing delimiter is missing or far away, and what looks
like prose or like mathematics."""

from __future__ import annotations

import re

MATH_ENVIRONMENTS = (
    "equation|align|gather|multline|eqnarray|displaymath|math|dmath|flalign|alignat|xalignat"
    "|darray|IEEEeqnarray"
)
INNER_ENVIRONMENTS = "cases|split|aligned|gathered|array|[pbvBV]?matrix|smallmatrix|dcases|rcases"

# No formula reaches past these: a blank line, a new item, a heading, a text environment.
_BOUNDARY = re.compile(
    r"\n[ \t]*(?=\n|[*_>-]*[ \t]*(?:\(?(?:[a-h]|[ivx]{1,4}|\d)[.)][ \t]|\d\.\d)"
    r"|#{1,6}[ \t]|[-*+•][ \t]+[A-Z*(])"
    r"|\\(?:item|section|subsection|subsubsection|paragraph|question|part|subpart)(?![A-Za-z])"
    rf"|\\(?:begin|end)\{{(?!(?:{MATH_ENVIRONMENTS}|{INNER_ENVIRONMENTS})\*?\}})"
)
# Inside single dollars no other formula begins.
_DOLLAR_BOUNDARY = re.compile(rf"{_BOUNDARY.pattern}|\\begin\{{(?:{MATH_ENVIRONMENTS})|\\\[|\\\(")

LONG_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}")
# Words of a sentence: letters that no formula of the exercise would put side by side.
_WORDS = re.compile(
    r"(?<![\\A-Za-z{_])(?!(?:alpha|beta|gamma|lambda|kappa|theta|sigma|delta)\b)"
    r"[A-Za-z]{4,}|[A-Za-z]{2,} [A-Za-z]{2,}"
)
MATH_SIGN = re.compile(r"[\\_^=+<>{}|]")

# A line that can only be the next part of the formula above it: an operator and a term.
_OPERATOR = re.compile(r"[ \t]*[-+*−·×][ \t]+(?=[^\s*_`])")
_EQUATION = re.compile(r"[=≈≃∝]|\\approx")
_COMPARISON = re.compile(r"[=≈≃∝<>≫≪≤≥∈→~]|\\[a-z]+")
_FINISHED = tuple(".,;:!?。，；：")
_MOST_LOOKED_AT = 300  # characters of one line


def continues_formula(before: str, line: str) -> bool:
    """Does `line` go on with the formula that is the last line of `before`? `+ beta k_b` does;
    `+ beta >> 0`, `- **b)** ...` and `- all keys are orthogonal` are items of a list."""
    operator = _OPERATOR.match(line)
    above = before.rstrip("\n").rsplit("\n", 1)[-1][-_MOST_LOOKED_AT:].rstrip()
    if operator is None or not above or above.endswith(_FINISHED):
        return False

    term = re.split(r"[,;，；]", line[operator.end() : _MOST_LOOKED_AT], maxsplit=1)[0]
    equation = _EQUATION.search(above) is not None
    return equation and not (_COMPARISON.search(term) or _WORDS.search(term))


def formula_limit(text: str, start: int) -> int:
    """Where a formula that begins at `start` must have ended."""
    boundary = _BOUNDARY.search(text, start)
    return boundary.start() if boundary else len(text)


def dollar_limit(text: str, start: int) -> int:
    """The same for a formula between single dollars."""
    boundary = _DOLLAR_BOUNDARY.search(text, start)
    return boundary.start() if boundary else len(text)


def is_prose(text: str) -> bool:
    return len(LONG_WORD.findall(text, 0, 2000)) >= 6
