"""Unicode as students type it: scripts, fractions and styled letters in their plain spelling."""

from __future__ import annotations

import re
import unicodedata

from headwright.homework.meaning.formula import vocabulary

_SUBSCRIPTS = re.compile(f"[{''.join(vocabulary.SUBSCRIPTS)}]+")
_SUPERSCRIPTS = re.compile(f"[{''.join(vocabulary.SUPERSCRIPTS)}]+")
# Signs that the tokens know as they are.
_KEPT = vocabulary.GREEK_LETTERS.keys() | vocabulary.RELATION_COMMANDS.keys()
# softmax(\cdot), f(...): an argument that is not written again; a letter that nobody uses keeps
# its place
_UNWRITTEN = re.compile(r"(?<=[A-Za-z}])\s?\(\s?(?:\\cdot|\\[lc]?dots|·|…|\.\.\.)\s?\)")
# Circled numbers number lines and are no factors.
_NEVER_FOLDED = frozenset("①②③④⑤⑥⑦⑧⑨…")


def simplify(text: str) -> str:
    """Unicode sub- and superscripts, fractions and styled letters in their plain spelling."""
    text = _UNWRITTEN.sub(r"(\\upsilon)", text)
    text = _SUBSCRIPTS.sub(_subscript, text)
    text = _SUPERSCRIPTS.sub(_superscript, text)
    for sign, (above, below) in vocabulary.FRACTIONS.items():
        text = text.replace(sign, f"({above}/{below})")
    if text.isascii():
        return text
    return "".join(c if c in _KEPT else _plain(c) for c in text)


def _subscript(match: re.Match[str]) -> str:
    lowered = "".join(vocabulary.SUBSCRIPTS[c] for c in match[0])
    return "_{" + lowered + "}"


def _superscript(match: re.Match[str]) -> str:
    raised = "".join(vocabulary.SUPERSCRIPTS[c] for c in match[0])
    return "^{" + raised + "}"


def _plain(c: str) -> str:
    """𝐤 -> k"""
    if c in _NEVER_FOLDED:
        return c
    folded = unicodedata.normalize("NFKC", c)
    return folded if len(folded) == 1 else c
