"""Points in sentences. A negation before the phrase turns it, a hedge takes it back; a denial under
a condition, or of what was earlier, contradicts nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headwright.homework.judges.points.phrases import (
    matches,
    occurrences,
    reading_phrases,
    without,
)
from headwright.homework.judges.points.rubric import Point, Rubric
from headwright.homework.judges.points.sentences import Sentence
from headwright.homework.meaning import words

LONGEST_QUOTE = 90
_BEFORE = 40  # characters before a phrase in which a negation turns it
_AFTER = 14  # characters behind a phrase in which Korean, Japanese and German negate it
_RELATION = re.compile("[=<>]|->")
_PUNCTUATION = str.maketrans(dict.fromkeys(".,;:!?。、", " "))
_AGREEING = ("fr", "es", "pt", "it", "ru", "pl")  # "no ... nunca" is one negation
_CLAUSE = re.compile(
    r"[,，、:：()（）;；—–]|\b(?:and|or|but|while|whereas|because|since|so|which|although|though"
    r"|however|therefore|thus|hence|when|if|und|oder|aber|weil|et|ou|mais|car|y|e|o|pero|porque"
    r"|mas|pues)\b"
    r"|\b(?:sondern|sodass|denn|sino|donc|pois|então|così|logo)\b"
    r"|但是?|而是|并且?|且|而且|因为|因此|所以|从而|然而|虽然"
    r"|지만|므로|때문에|ので|ため|けれど|のに|(?<=아니라)|(?<=않고)|(?<=ではなく)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Found:
    """A phrase of a point, `said` or denied, with its quote, and the sentence it stands in."""

    point: Point
    said: bool
    language: str
    quote: str
    sentence: Sentence
    place: tuple[int, int]

    @property
    def line(self) -> int:
        return self.sentence.line


def find(rubric: Rubric, spoken: Sequence[Sentence], languages: Collection[str]) -> list[Found]:
    """Every point in every sentence, in the order of the text."""
    everything: list[Found] = []
    for sentence in spoken:
        inside = [f for point in rubric.points for f in _in_sentence(point, sentence, languages)]
        everything += sorted(inside, key=lambda found: found.place)
    return everything


def _in_sentence(point: Point, sentence: Sentence, languages: Collection[str]) -> Iterator[Found]:
    for phrases, positive in ((point.said, True), (point.denied, False)):
        for language, match in matches(phrases, sentence.text, languages):
            said = _says(point, positive, match, language)
            if said is not None:
                quote = _quote(match)
                yield Found(point, said, language, quote, sentence, match.span())


def unexplained(sentence: Sentence, found: Iterable[Found], has_shown: bool) -> float:
    """How many words stand in clauses in which no point was found; a formula that states one
    explains its clause."""
    covered = [one.place for one in found if one.sentence is sentence]
    cuts = [0, *(boundary.end() for boundary in _CLAUSE.finditer(sentence.text))]
    total = 0.0
    for start, end in pairwise([*cuts, len(sentence.text)]):
        if any(first < end and last > start for first, last in covered):
            continue
        clause = sentence.text[start:end]
        if not (has_shown and _RELATION.search(clause)):
            total += words.count(clause)
    return total


def outside(sentence: Sentence, found: Iterable[Found]) -> float:
    """How many words stand outside the phrases that were found."""
    left = list(sentence.text)
    for one in found:
        if one.sentence is sentence:
            start, end = one.place
            left[start:end] = " " * (end - start)
    return words.count("".join(left).translate(_PUNCTUATION).strip())


def _says(point: Point, positive: bool, match: re.Match[str], language: str) -> bool | None:
    """Is the point said (True) or denied (False) by this phrase; None where it is neither."""
    if occurrences("seems", _clause(match), language):
        return None
    beside = match.string if point.in_sentence else _clause(match)
    if any(True for _ in matches(point.unless, beside, (language,))):
        return None
    turned = _is_turned(match, language)
    if turned and not (point.deniable if positive else point.reversible):
        return None
    said = positive != turned
    if point.first and match.start() == 0:  # "Yes, if ..." is a yes
        return said
    if _is_hedged(match, language) and not (said and point.possible):
        return None
    if not said and _is_supposed(match, language):
        return None
    return said


def _is_turned(match: re.Match[str], language: str) -> bool:
    """An odd number of negations: before the phrase, in its gaps, behind it. In languages in which
    they agree with each other, several are one."""
    inside = _gaps(match)
    in_gaps = "negates" if language in reading_phrases("negates").languages else "negates_behind"
    before = occurrences("negates", _clause_before(match)[-_BEFORE:], language)
    before += occurrences(in_gaps, inside, language)
    behind = occurrences("negates_behind", _clause_behind(match), language)
    if language in _AGREEING:
        return before + behind > 0
    return (before + behind) % 2 == 1


def _is_hedged(match: re.Match[str], language: str) -> bool:
    return occurrences("hedges", _clause(match), language) > 0


def _is_supposed(match: re.Match[str], language: str) -> bool:
    """The sentence makes a condition, or speaks of what was before."""
    # A phrase from the start of the sentence on has what stands before its subject in its gap
    opening = _gaps(match) if match.start() == 0 else ""
    before = f"{match.string[: match.start()]} {opening}"
    earlier = occurrences("earlier", without("as_before", before, language), language)
    earlier += occurrences("past", _clause(match), language)
    return earlier + occurrences("supposes", match.string, language) > 0


def _gaps(match: re.Match[str]) -> str:
    """What stands in the gaps of the phrase."""
    return " ".join(gap for gap in match.groups() if gap)


def _clause(match: re.Match[str]) -> str:
    """The phrase with the words of its clause."""
    return " ".join((_clause_before(match), match[0], _clause_behind(match)))


def _clause_before(match: re.Match[str]) -> str:
    """The words of the same clause that stand before the phrase."""
    start = 0
    for boundary in _CLAUSE.finditer(match.string, 0, match.start()):
        start = boundary.end()
    return match.string[start : match.start()]


def _clause_behind(match: re.Match[str]) -> str:
    """The next few characters, up to the end of the clause."""
    boundary = _CLAUSE.search(match.string, match.end(), match.end() + _AFTER)
    end = boundary.start() if boundary else match.end() + _AFTER
    return match.string[match.end() : end]


def _quote(match: re.Match[str]) -> str:
    """The phrase with the words of its clause; a long one begins and ends at words."""
    quoted = f"{_clause_before(match)}{match[0]}".strip()
    if len(quoted) <= LONGEST_QUOTE:
        return quoted
    return match[0].strip()[:LONGEST_QUOTE].strip()
