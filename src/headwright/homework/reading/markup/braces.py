r"""TeX's braces: which one closes which, and the group or token that a command takes."""

from __future__ import annotations

import re

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_TOKEN = re.compile(r"\\[A-Za-z@]+|\\.|.", re.DOTALL)


def closing_brace(text: str, opening: int) -> int:
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


def group(text: str, at: int) -> tuple[str, int]:
    """A braced group or one token at `at`, and the index behind it (-1: none)."""
    while 0 <= at < len(text) and text[at].isspace():
        at += 1
    if not 0 <= at < len(text):
        return "", -1

    if text[at] != "{":
        token = _TOKEN.match(text, at)
        return (token.group(), token.end()) if token else ("", -1)

    end = closing_brace(text, at)
    return (text[at + 1 : end], end + 1) if end > 0 else ("", -1)
