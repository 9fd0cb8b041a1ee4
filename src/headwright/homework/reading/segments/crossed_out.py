r"""What is left of a formula when its crossed-out pieces are gone: \sout (by switches) and
\cancel."""

from __future__ import annotations

import re

from headwright.homework.reading.markup.braces import closing_brace
from headwright.homework.reading.markup.switches import STRUCK_STEP, SWITCH
from headwright.homework.reading.traced_text import TracedText

_CANCEL = re.compile(r"\\(?:x|b|h|r)?cancel\s*(?=\{)")
_CANCEL_TO = re.compile(r"\\cancelto\s*\{([^{}]*)\}\s*(?=\{)")
_BLANKS = " \\,;.$\n\t"


def without_struck(formula: TracedText) -> tuple[TracedText, bool]:
    """The formula without its struck pieces; struck (`True`), and whole, where nothing else is
    left."""
    left, struck = _parted_by_switches(formula)
    left = left.replace(_CANCEL_TO, lambda match: match[1])
    left, cancelled = _parted_by_cancel(left)

    struck += cancelled
    if struck and not left.text.strip(_BLANKS):
        return TracedText.join(struck), True
    return left, False


def _parted_by_switches(formula: TracedText) -> tuple[TracedText, list[TracedText]]:
    kept: list[TracedText] = []
    struck: list[TracedText] = []
    depth = 0
    reached = 0
    for switch in SWITCH.finditer(formula.text):
        pieces = struck if depth else kept
        pieces.append(formula.cut(reached, switch.start()))
        depth = max(0, depth + STRUCK_STEP.get(switch.group(), 0))
        reached = switch.end()

    pieces = struck if depth else kept
    pieces.append(formula.since(reached))
    return TracedText.join(kept), struck


def _parted_by_cancel(formula: TracedText) -> tuple[TracedText, list[TracedText]]:
    cancelled: list[TracedText] = []
    start = 0
    while match := _CANCEL.search(formula.text, start):
        end = closing_brace(formula.text, match.end())
        if end < 0:
            break
        cancelled.append(formula.cut(match.end() + 1, end))
        before = formula.cut(0, match.start())
        formula = TracedText.join([before, formula.since(end + 1)])
        start = match.start()
    return formula, cancelled
