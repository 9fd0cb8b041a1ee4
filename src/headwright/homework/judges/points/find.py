"""Points in sentences. A negation before the phrase turns it, a hedge takes it back; a denial under
a condition, or of what was earlier, contradicts nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwright.homework.judges.points.rubric import (
    Phrases,
    Point,
    Rubric,
    matches,
    occurrences,
    says,
)
from headwright.homework.judges.points.sentences import Sentence

LONGEST_QUOTE = 90
_AFTER = 14  # characters behind a phrase in which Korean, Japanese and German negate it
_CLAUSE = re.compile(
    r"[,，、:：()（）;；—–]|\b(?:but|while|whereas|because|since|so|which|although|though|however"
    r"|therefore|thus|hence|and thus|when|if|aber|weil|mais|car|pero|porque|mas|pues)\b"
    r"|但是?|而是|而且|因为|因此|所以|从而|然而|虽然",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Found:
    """A phrase of a point, `said` or denied, with its quote, and the sentence it stands in."""

    point: Point
    said: bool
    language: str
    quote: str
    sentence: str
    line: int


def find(rubric: Rubric, spoken: Iterable[Sentence]) -> list[Found]:
    """Every point in every sentence."""
    return [
        found
        for sentence in spoken
        for point in rubric.points
        for found in _in_sentence(point, sentence)
    ]


def _in_sentence(point: Point, sentence: Sentence) -> Iterator[Found]:
    for phrases, positive in ((point.said, True), (point.denied, False)):
        yield from _in_phrases(point, phrases, positive, sentence)


def _in_phrases(
    point: Point, phrases: Phrases, positive: bool, sentence: Sentence
) -> Iterator[Found]:
    for language, match in matches(phrases, sentence.text):
        said = positive != _turned(sentence.text, match)
        if _hedged(sentence.text, match) and not (said and point.possible):
            continue
        if not said and _only_supposed(sentence.text, match):
            continue
        quote = _quote(sentence.text, match)
        yield Found(point, said, language, quote, sentence.text, sentence.line)


def _turned(text: str, match: re.Match[str]) -> bool:
    before = occurrences("negates", _clause_before(text, match))
    behind = occurrences("negates_behind", _clause_behind(text, match))
    return (before + behind) % 2 == 1


def _hedged(text: str, match: re.Match[str]) -> bool:
    clause = (_clause_before(text, match), match[0], _clause_behind(text, match))
    return says("hedges", " ".join(clause))


def _only_supposed(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()]
    return says("supposes", text) or says("earlier", before)


def _clause_before(text: str, match: re.Match[str]) -> str:
    """The words of the same clause that stand before the phrase."""
    start = 0
    for boundary in _CLAUSE.finditer(text, 0, match.start()):
        start = boundary.end()
    return text[start : match.start()]


def _clause_behind(text: str, match: re.Match[str]) -> str:
    """The next few characters, up to the end of the clause."""
    boundary = _CLAUSE.search(text, match.end(), match.end() + _AFTER)
    end = boundary.start() if boundary else match.end() + _AFTER
    return text[match.end() : end]


def _quote(text: str, match: re.Match[str]) -> str:
    """The phrase with the words of its clause; a long one begins and ends at words."""
    start = match.start() - len(_clause_before(text, match))
    quoted = text[start : match.end()].strip()
    if len(quoted) <= LONGEST_QUOTE:
        return quoted
    return match[0].strip()[:LONGEST_QUOTE].strip()
