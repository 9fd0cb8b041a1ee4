r"""Lists in LaTeX get the labels their PDF shows, so that the locator sees "(a)" whether the
student typed it or \item did."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headwright.homework.reading.numerals import ROMAN_NUMERALS

# Environments that count their items; those of the exam class have a fixed style each.
_NUMBERED = {
    "enumerate",
    "enumerate*",
    "inparaenum",
    "compactenum",
    "questions",
    "parts",
    "subparts",
    "subsubparts",
}
_BULLETED = {"itemize", "itemize*", "compactitem", "description"}

# A style is a label with the kind of its number in place of the number: "(alph)" is (a), (b), ..
_STYLES_BY_DEPTH = ("arabic.", "(alph)", "roman.", "Alph.")
_EXAM_STYLES = {
    "questions": "arabic.",
    "parts": "(alph)",
    "subparts": "roman.",
    "subsubparts": "Alph.",
}
_SHORT_KINDS = {"a": "alph", "A": "Alph", "i": "roman", "I": "Roman", "1": "arabic"}

_KIND = re.compile(r"alph|Alph|roman|Roman|arabic")
_COMMAND_STYLE = re.compile(r"([(\[]?)\\(alph|Alph|roman|Roman|arabic)\*?\}?\s*([).\]:]?)")
_SHORT_STYLE = re.compile(r"^\s*\[\s*\{?([(\[]?)(a|A|i|I|1)([).\]:]?)\}?\s*(?:\]|,)")
_START = re.compile(r"start\s*=\s*(\d{1,3})")
_PUNCTUATION = re.compile(r"[).:\]]")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

_BULLET = "\n\n- "


@dataclass
class _OpenList:
    style: str  # empty: bullets
    items: int = 0


@dataclass
class OpenLists:
    """The lists that are open, outermost first."""

    lists: list[_OpenList] = field(default_factory=list)

    def begin(self, environment: str, options: str) -> None:
        if environment in _NUMBERED:
            start = _START.search(options)
            before = int(start[1]) - 1 if start else 0
            self.lists.append(_OpenList(self._style(environment, options), before))
        elif environment in _BULLETED:
            self.lists.append(_OpenList(""))

    def _style(self, environment: str, options: str) -> str:
        depth = sum(1 for one in self.lists if one.style)
        usual = _STYLES_BY_DEPTH[min(depth, 3)]
        return _EXAM_STYLES.get(environment) or _style_in(options) or usual

    def end(self, environment: str) -> None:
        if environment in _NUMBERED | _BULLETED and self.lists:
            self.lists.pop()

    def set_counter(self, depth: int, count: int) -> None:
        if 0 < depth <= len(self.lists):
            self.lists[depth - 1].items = count

    def item(self, own_label: str) -> str:
        r"""What \item writes; `own_label` is what stood in its brackets."""
        if own_label and not own_label.isdigit():
            return f"\n\n{own_label} "
        if not self.lists:
            return _BULLET

        innermost = self.lists[-1]
        innermost.items += 1
        if not innermost.style:
            return _BULLET
        return f"\n\n{labelled(innermost.style, innermost.items)} "


def _style_in(options: str) -> str:
    """The style in an enumerate's options; empty where there is none."""
    written = _COMMAND_STYLE.search(options.strip()[1:-1])  # without the brackets around them
    if written:
        return "".join(written.groups())
    short = _SHORT_STYLE.search(options)
    return f"{short[1]}{_SHORT_KINDS[short[2]]}{short[3]}" if short else ""


def labelled(style: str, count: int) -> str:
    """The label of the item with this number: "(alph)" and 2 give (b)."""
    kind = _KIND.search(style)
    if kind is None:
        return f"{count}."

    number = _number(kind.group().lower(), count)
    if kind.group()[0].isupper():
        number = number.upper()
    label = style.replace(kind.group(), number)
    return label if _PUNCTUATION.search(label) else f"{label}."


def _number(kind: str, count: int) -> str:
    if kind == "alph" and count <= len(_ALPHABET):
        return _ALPHABET[count - 1]
    if kind == "roman" and count <= len(ROMAN_NUMERALS):
        return ROMAN_NUMERALS[count - 1]
    return str(count)
