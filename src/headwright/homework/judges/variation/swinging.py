"""Claims that c swings: the value in each case, and the case of each value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from headwright.homework.judges.claims import VALUE_ROLES, about_output
from headwright.homework.judges.points.languages import written_in
from headwright.homework.judges.points.phrases import matches, reading_phrases
from headwright.homework.judges.points.rubric import rubric
from headwright.homework.judges.points.sentences import Sentence
from headwright.homework.meaning.formula import Chain
from headwright.homework.meaning.terms import bare


@dataclass(frozen=True)
class _Mention:
    """A case (k_a is long: "a") or a value of c (near v_a: "a") in a sentence."""

    place: int
    is_case: bool
    letter: str


def is_value(chain: Chain, letter: str) -> bool:
    """`c ~ v_a`, also at the end of a chain."""
    last = bare(chain.terms[-1])
    if last is None or not about_output(chain) or not chain.relations:
        return False
    return last.name in VALUE_ROLES and last.index == letter


def crossed(spoken: Iterable[Sentence]) -> bool:
    """Both values stand with the other one's case, and neither with its own: a long k_a belongs to
    v_a, a short one to v_b. Only cases and values that alternate within one sentence belong
    together for certain."""
    told = list(spoken)
    languages = written_in(sentence.text for sentence in told)
    pairs = [pair for sentence in told for pair in _pairs(sentence, languages)]
    return {value for case, value in pairs if case != value} == {"a", "b"} and not any(
        case == value for case, value in pairs
    )


def _pairs(sentence: Sentence, languages: Collection[str]) -> Iterator[tuple[str, str]]:
    """(case, value), where the sentence leaves no doubt which belong together."""
    row = sorted(_mentions(sentence.text, languages), key=lambda mention: mention.place)
    if len(row) % 2 or any(one.is_case == other.is_case for one, other in pairwise(row)):
        return
    for first, second in zip(row[::2], row[1::2], strict=True):
        case, value = (first, second) if first.is_case else (second, first)
        yield case.letter, value.letter


def _mentions(text: str, languages: Collection[str]) -> set[_Mention]:
    """Every value at its place, and every case at the place where its phrase ends."""
    points = rubric("c.var")
    found = set()
    for letter, case in (("a", "long"), ("b", "short")):
        for _, match in matches(points[f"to_{letter}"].said, text, languages):
            found.add(_Mention(match.start() + match[0].rfind(f"v_{letter}"), False, letter))
        for _, match in matches(reading_phrases(case), text, languages):
            found.add(_Mention(match.end(), True, letter))
    return found
