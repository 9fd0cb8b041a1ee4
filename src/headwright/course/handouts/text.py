"""One sheet as a text: questions with room for answers, or with the right ones (the key)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headwright.course.handouts.marker import Marker
from headwright.course.people import Student
from headwright.exercise.bank import Bank, Question

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_FORMULA = re.compile(r"(\$[^$]*\$)")
_SPECIAL = re.compile(r"[\\&%#_{}~^$]")
_IN_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_IN_MARKDOWN = re.compile(r"([\\`*_<>\[\]#$])")
_OPENING = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}
"""


@dataclass(frozen=True)
class SheetText:
    """What stands on one sheet; `answered` makes it the key."""

    student: Student
    bank: Bank
    marker: Marker
    answered: bool = False

    def markdown(self) -> str:
        shown = _IN_MARKDOWN.sub(r"\\\1", self._owner)
        lines = [f"# {self.bank.title}", f"{shown} {self.marker}", self.bank.setting]
        for label, question in numbered(self.bank):
            lines.append(f"{label} {question.asked}")
            lines.append(f"**Answer:** {self._answer(question)}".rstrip())
        return "\n\n".join(lines) + "\n"

    def tex(self) -> str:
        blocks = [
            rf"{{\Large {in_tex(self.bank.title)}}}",
            f"{_spelled(self._owner)} {self.marker}",
            in_tex(self.bank.setting),
        ]
        for label, question in numbered(self.bank):
            blocks.append(f"{label} {in_tex(question.asked)}")
            blocks.append(rf"\textbf{{Answer:}} {in_tex(self._answer(question))}".rstrip())
        return _OPENING + "\n\n".join(blocks) + "\n\\end{document}\n"

    @property
    def _owner(self) -> str:
        """Name and id in one line, whatever the roster has in them."""
        name = " ".join(self.student.name.split())
        id = " ".join(self.student.id.split())
        who = f"{name} ({id})" if name and name != id else id
        return f"Key for {who}" if self.answered else who

    def _answer(self, question: Question) -> str:
        return question.right if self.answered else ""


def numbered(bank: Bank) -> Iterator[tuple[str, Question]]:
    """Questions with their labels, (b) ii., as the bank's first course numbers them, or as the
    questions themselves do; without either, in their order."""
    handouts = [handout for course in bank.courses for handout in course.handouts]
    whole = handouts and set(handouts[0].values()) == {question.id for question in bank}
    own = {q.labels[0]: q.id for q in bank if q.labels}
    labels = handouts[0] if whole else own if len(own) == len(bank.questions) else {}
    if not labels:
        for place, question in enumerate(bank, start=1):
            yield f"{place}.", question
    for label, id in labels.items():
        letter, _, number = label.partition(".")
        within = f" {_ROMAN[int(number) - 1]}." if _is_small(number) else ""
        yield f"({letter}){within}", bank[id]


def _is_small(number: str) -> bool:
    return number.isdecimal() and 1 <= int(number) <= len(_ROMAN)


def in_tex(text: str) -> str:
    """The text of a bank as LaTeX: formulas stay, everything else is spelled out."""
    parts = _FORMULA.split(text)
    return "".join(
        part if part.startswith("$") and len(part) > 1 else _spelled(part) for part in parts
    )


def _spelled(text: str) -> str:
    return _SPECIAL.sub(lambda sign: _IN_TEX.get(sign[0], "\\" + sign[0]), text)
