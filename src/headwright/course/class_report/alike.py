"""Answers that are the same, word for word, in the hand-ins of different students.

That says nothing about who wrote them first, or whether both had them from a third place. Short
answers and right formulas are left out: there are not many ways to write those.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwright.course.marks import Graded
from headwright.course.people import Student
from headwright.homework.showing.pages import is_prose
from headwright.homework.verdict import Verdict

SHORTEST = 40  # characters, not counting spaces
# What can differ between two copies of one text: spaces, dollar signs, the size of brackets
_LAYOUT = re.compile(r"\s+|\$|\\(?:left|right|quad|qquad|displaystyle)(?![a-z])|\\[,;:! ]|~")
_AT_THE_ENDS = ".,;:!?-–"


@dataclass(frozen=True)
class Alike:
    """One answer; `answer` is quoted from the first of the students."""

    question: str
    answer: str
    students: tuple[Student, ...]


def alike(graded: Sequence[Graded], right: Mapping[str, str]) -> list[Alike]:
    """The longest first. `right` is the answer that the bank calls right, by question."""
    groups: dict[tuple[str, str], list[tuple[Student, Verdict]]] = {}
    for one in graded:
        for verdict in one.report.verdicts:
            text = same_text(verdict.answer)
            known = same_text(right.get(verdict.question, ""))
            if len(text) >= SHORTEST and text != known and not _is_right_formula(verdict):
                groups.setdefault((verdict.question, text), []).append((one.student, verdict))
    found = {key: group for key, group in groups.items() if len(group) > 1}
    longest_first = sorted(found, key=lambda key: (-len(key[1]), key))
    return [_alike(found[key]) for key in longest_first]


def same_text(answer: str) -> str:
    """Two answers with the same one are the same but for layout and case."""
    folded = unicodedata.normalize("NFKC", answer).casefold()
    return _LAYOUT.sub("", folded).strip(_AT_THE_ENDS)


def _is_right_formula(verdict: Verdict) -> bool:
    return verdict.status == "correct" and not is_prose(verdict.answer)


def _alike(group: Sequence[tuple[Student, Verdict]]) -> Alike:
    _, first = group[0]
    return Alike(first.question, first.answer, tuple(student for student, _ in group))
