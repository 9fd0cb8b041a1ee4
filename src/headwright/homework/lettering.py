"""Sheets call the keys a and b by other letters, the judges do not: letters are exchanged in a
document that was read, and back in what is said about it.

p that stands for a and a that stands for p, character for character: every place in the document
stays where it is, doing it twice changes nothing, and an answer in the letters of another sheet
speaks of other keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from headwright.homework.reading.document import Document, Segment
from headwright.homework.verdict import Report, Verdict

# Small letters below the line; b has none, and a beta there is read as one (`notation.SLIPS`)
_BELOW = {"a": "ₐ", "b": "ᵦ", "p": "ₚ", "r": "ᵣ", "s": "ₛ", "t": "ₜ", "x": "ₓ"}
# Left as it is: the inputs of self-attention, whose letters are no keys; words inside a formula
_KEPT = r"(?<![A-Za-z\\])u\s?_\s?\{?\w\}?|\\(?:text|mbox|textrm)\s?\{[^{}]*\}(?<!_)"
_INDEX = r"_\s?\w(?![A-Za-z0-9])|_\s?(?:\\[a-z]+\s?)?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
# An index without its sign: kp, vw, μp
_SQUEEZED = r"(?<![A-Za-z_\\])(?:[kKvV]|mu|[μα])[a-z](?![A-Za-z0-9_])"
_NAMED = r"(?i:\bkeys?|\bvalues?|\bmeans?|\d on)\s[a-z]\b(?:\s(?:and|or)\s[a-z]\b)?"
_BELOW_THE_LINE = f"[{''.join(_BELOW.values())}]"
_LONE = r"(?<![A-Za-z0-9_\\])[a-z](?![A-Za-z0-9_])"
_IN_WORDS = re.compile(f"({_KEPT})|{_INDEX}|{_SQUEEZED}|{_NAMED}|{_BELOW_THE_LINE}")
_IN_FORMULAS = re.compile(f"({_KEPT})|{_INDEX}|{_SQUEEZED}|{_LONE}|{_BELOW_THE_LINE}")
# The letter itself within what was found: at its end, or alone inside an index
_LETTER = re.compile(rf"[a-z](?![A-Za-z0-9])(?<![A-Za-z][a-z]|\\[a-z])|{_BELOW_THE_LINE}")
_LAST = re.compile(r"[a-z]$")
_SINGLE = re.compile(_SQUEEZED)


@dataclass(frozen=True)
class Lettering:
    """`letters`: what the sheet calls the keys a and b; none where it calls them so."""

    letters: Mapping[str, str]

    def read(self, document: Document) -> Document:
        """The document in the judges' letters; its text stays as the student typed it."""
        if not self.letters:
            return document
        return replace(document, segments=tuple(self._segment(s) for s in document.segments))

    def told(self, report: Report, text: str) -> Report:
        """The report in the sheet's letters. `text` is the document's: quotes of it stay."""
        if not self.letters:
            return report
        verdicts = tuple(self._verdict(verdict, text) for verdict in report.verdicts)
        return replace(report, verdicts=verdicts)

    @cached_property
    def _exchanged(self) -> dict[int, str]:
        pairs = [(ours, theirs) for ours, theirs in self.letters.items() if ours != theirs]
        below = [(_BELOW[x], _BELOW[y]) for x, y in pairs if y in _BELOW]
        both = [*pairs, *below]
        table = dict(both) | {theirs: ours for ours, theirs in both}
        return str.maketrans(table)

    def _segment(self, segment: Segment) -> Segment:
        pattern = _IN_FORMULAS if segment.kind == "math" else _IN_WORDS
        return replace(segment, text=self._swapped(segment.text, pattern))

    def _swapped(self, text: str, pattern: re.Pattern[str] = _IN_WORDS) -> str:
        return pattern.sub(self._swap, text)

    def _swap(self, match: re.Match[str]) -> str:
        found = match[0]
        if match[1] is not None:
            return found
        letter = _LAST if _SINGLE.fullmatch(found) else _LETTER
        return letter.sub(lambda one: one[0].translate(self._exchanged), found)

    # ----------------------------------------------------------------------- what is said

    def _verdict(self, verdict: Verdict, text: str) -> Verdict:
        quoted = verdict.answer in text
        answer = verdict.answer if quoted else self._swapped(verdict.answer, _IN_FORMULAS)
        return replace(
            verdict,
            answer=answer,
            reason=self._swapped(verdict.reason),
            counterexample=self._renamed(verdict.counterexample),
            repair=None if verdict.repair is None else self._swapped(verdict.repair),
            steps=tuple(self._verdict(step, text) for step in verdict.steps),
            remarks=tuple(self._swapped(remark) for remark in verdict.remarks),
        )

    def _renamed(self, thing: Any) -> Any:
        """Names and texts of a counterexample, however deep they lie."""
        if isinstance(thing, Mapping):
            return {self._renamed(key): self._renamed(value) for key, value in thing.items()}
        if isinstance(thing, (list, tuple)):
            return [self._renamed(one) for one in thing]
        if not isinstance(thing, str):
            return thing
        return thing.translate(self._exchanged) if len(thing) == 1 else self._swapped(thing)
