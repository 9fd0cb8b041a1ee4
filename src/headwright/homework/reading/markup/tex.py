r"""A LaTeX file without what its PDF does not show: comments, hidden branches, the preamble.
Strikes and answers become switches.

Mathematics is not touched here, and neither are text commands: those change with their place
between formulas (`tex_text`).
"""

from __future__ import annotations

import re

from headwright.homework.reading.markup.braces import closing_brace
from headwright.homework.reading.markup.macros import expanded
from headwright.homework.reading.markup.switches import (
    ANSWER_NAMES,
    ANSWER_OFF,
    ANSWER_ON,
    HOLE,
    STRUCK_OFF,
    STRUCK_ON,
    wraps_answer,
)
from headwright.homework.reading.markup.tex_sections import with_section_numbers
from headwright.homework.reading.traced_text import TracedText

_COMMENT_LINE = re.compile(r"^[ \t]*%[^\n]*\n", re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%[^\n]*")
_COMMENT_ENVIRONMENT = re.compile(r"\\begin\{comment\}.*?\\end\{comment\}", re.DOTALL)
_CONDITIONAL = re.compile(r"\\(if(?!f(?![a-z])|thenelse)[A-Za-z@]*|else|fi)(?![A-Za-z])")
_STRUCK = re.compile(r"\\(?:sout|st|xout|uwave|cancel|xcancel|bcancel|hcancel|soutb)\s*(?=\{)")
_ANSWER = re.compile(rf"\\(?:if)?(?:{'|'.join(sorted(ANSWER_NAMES))})\s*(?=\{{)")
# Room for an answer: commands of the exam class, and a box with nothing but space in it
_HOLE = re.compile(
    r"\\(?:makeemptybox|fillwith(?:lines|dottedlines|grid)|answerline)\*?(?:\s*\[[^\]]*\])?"
    r"(?:\s*\{(?:[^{}]|\{[^{}]*\})*\})?"
)
_TEXT_BOX = re.compile(
    r"\\(?:fbox|framebox|shadowbox)(?:\s*\[[^\]]*\]){0,2}\s*\{"
    r"(?=\s*\\(?:parbox|begin\s*\{minipage\}|vspace))"
    r"|\\parbox(?:\s*\[[^\]]*\]){0,3}\s*\{[^{}]*\}\s*\{"
)
_ONLY_SPACE = re.compile(
    r"(?:\s|~|\{|\}|\\(?:[vh]fill?|strut|null|parbox|textwidth|linewidth|[\\,;: ])(?![A-Za-z])"
    r"|\\[vh]space\*?\s*\{[^{}]*\}|[\d.]+(?=\\(?:text|line)width))*"
)
_SPANISH = re.compile(r"[?!]`(?!`)")
_OPENING_QUOTES = re.compile(r"(?<!`)``(?!`)")
_ARGUMENT = re.compile(r"\s*\{")
_FI = re.compile(r"\s*\\(?:fi|else)(?![A-Za-z])")
_BEGIN_DOCUMENT = r"\begin{document}"
_END_DOCUMENT = r"\end{document}"


def is_tex(text: str) -> bool:
    return r"\documentclass" in text or _BEGIN_DOCUMENT in text or r"\item" in text


def plain_tex(source: TracedText) -> TracedText:
    """What the PDF shows, macros expanded."""
    source = _without_comments(source)
    source = source.replace(_SPANISH, lambda match: "¿" if match.group() == "?`" else "¡")
    source = source.replace(_OPENING_QUOTES, lambda match: "“")  # backticks enclose no code here
    source = _without_hidden_branches(source)
    source = with_section_numbers(source)
    source = expanded(source)  # before the preamble goes: macros are defined there
    source = _without_preamble(source)
    source = source.replace(_HOLE, lambda match: f"\n{HOLE}\n")
    return with_switches(_without_boxes(source))


def _without_boxes(source: TracedText) -> TracedText:
    """Boxes around paragraphs go and their text stays; an empty one is room for an answer."""
    edits: list[tuple[int, int, TracedText]] = []
    reached = 0
    for match in _TEXT_BOX.finditer(source.text):
        end = closing_brace(source.text, match.end() - 1)
        if end < 0 or match.start() < reached:
            continue
        is_empty = _ONLY_SPACE.fullmatch(source.text, match.end(), end) is not None
        reached = end + 1 if is_empty else reached
        opening = source.stand_in(f"\n{HOLE}\n" if is_empty else "\n", *match.span())
        edits.append((match.start(), end if is_empty else match.end(), opening))
        edits.append((end, end + 1, source.stand_in("\n", end, end + 1)))
    return source.edited(sorted(edits, key=lambda edit: edit[0]))


def _without_comments(source: TracedText) -> TracedText:
    source = source.replace(_COMMENT_LINE, lambda match: "")
    source = source.replace(_COMMENT, lambda match: match.group().split("%")[0])
    return source.replace(_COMMENT_ENVIRONMENT, lambda match: "")


def _without_preamble(source: TracedText) -> TracedText:
    begin = source.text.find(_BEGIN_DOCUMENT)
    end = source.text.find(_END_DOCUMENT, max(begin, 0))
    begin = begin + len(_BEGIN_DOCUMENT) if begin >= 0 else 0
    return source.cut(begin, end if end > begin else len(source))


def _without_hidden_branches(source: TracedText) -> TracedText:
    r"""\ifans..\fi becomes an answer, \iffalse..\fi nothing; other conditions keep both their
    branches."""
    pieces: list[TracedText] = []
    branches: list[str] = []  # of the open conditions: "hidden", "answer" or "shown"
    reached = 0
    for match in _CONDITIONAL.finditer(source.text):
        if _is_command(source.text, match):
            continue
        was_hidden = "hidden" in branches
        switch = _enter_branch(match[1], branches)
        if not was_hidden:
            pieces.append(source.cut(reached, match.start()))
            if switch:
                pieces.append(source.stand_in(switch, *match.span()))
        reached = match.end()

    if "hidden" not in branches:
        pieces.append(source.since(reached))
    return TracedText.join(pieces)


def _is_command(text: str, match: re.Match[str]) -> bool:
    r"""\ifans{..} without \fi: a command, whose argument is the answer."""
    if match[1] in ("else", "fi") or not wraps_answer(match[1]):
        return False
    argument = _ARGUMENT.match(text, match.end())
    if argument is None:
        return False
    end = closing_brace(text, argument.end() - 1)
    return end > 0 and _FI.match(text, end + 1) is None


def _enter_branch(word: str, branches: list[str]) -> str:
    r"""Follow one \if.., \else or \fi; the switch that it stands for, if any."""
    if word == "fi":
        left = branches.pop() if branches else "shown"
        return ANSWER_OFF if left == "answer" else ""
    if word == "else":
        left = branches.pop() if branches else "shown"
        branches.append("shown")
        return ANSWER_OFF if left == "answer" else ""
    if word == "iffalse":
        branches.append("hidden")
        return ""
    if wraps_answer(word):
        branches.append("answer")
        return ANSWER_ON
    branches.append("shown")
    return ""


def with_switches(source: TracedText) -> TracedText:
    r"""\sout{..} and \answer{..} as pairs of switches; what \cancel hides in a formula is cut out
    later."""
    switches: list[tuple[int, int, str]] = []
    for pattern, on, off in ((_STRUCK, STRUCK_ON, STRUCK_OFF), (_ANSWER, ANSWER_ON, ANSWER_OFF)):
        for match in pattern.finditer(source.text):
            end = closing_brace(source.text, match.end())
            if end > 0:
                switches.append((match.start(), match.end() + 1, on))
                switches.append((end, end + 1, off))

    ordered = sorted(switches)
    return source.edited((start, end, source.stand_in(s, start, end)) for start, end, s in ordered)
