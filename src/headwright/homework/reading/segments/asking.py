"""What a sentence does: ask, tell what handouts tell, lead up to a question, answer.

Only how it is said counts, not what it is about, so a question that was retold, shortened or
translated is still one. The phrases are data (`asking.toml`).
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Literal

from headwright.homework.reading.segments.sentences import DEFINITION, Sentence

# asks; asks and addresses the reader; a bare question; handout talk; leads up; follows; answers
Act = Literal["asks", "requests", "questions", "tells", "leads", "follows", "answers", ""]
ASKING: frozenset[Act] = frozenset({"asks", "requests", "questions"})

_MOST_READ = 1500  # characters of a sentence
_POINT_WORDS = (
    "points?|pts?|marks?|p|分|점|点|punkte?|pkt|puntos?|pontos?|punti|баллов|балла|балл|written"
    r"|points?,\s*written"
)
POINTS = re.compile(
    rf"[*_\s]*[(\[（【]\s*\d{{1,2}}(?:[.,]\d)?\s*(?:{_POINT_WORDS})[^)\]）】]{{0,20}}[)\]）】]",
    re.IGNORECASE,
)
_TITLE = re.compile(r"[^.?!。？！$]{0,60}[.:：]\s+(?=\S)")
_FORMULA = re.compile(r"\$[^$]*\$")
_COMMA = re.compile(r"[,，]\s*")
_REASON = re.compile(
    r"(?:since|because|if|so|thus|therefore|to|hence|weil|da|car|因为|由于)\b", re.IGNORECASE
)
_MOST_CLAUSES = 5
# A verb behind a comma has no subject of its own in these scripts: it may be anybody's
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_POLITE = re.compile(
    r"(?:(?:please|briefly|also|then|now|and|first|finally|next|bitte|por favor|veuillez"
    r"|brièvement|kurz|brevemente|请你?|並|并|再)[\s,]*){0,3}",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(r"(?<![<>])[<>](?![<>])|\\[lg]t(?![a-z])|\\[lg]eq?(?![a-z])|[≤≥]")
_RHETORICAL = re.compile(r"[\x00-\u02ff]{0,24}|[^\x00-\u02ff]{0,7}")
_SCORES_COMPARED = re.compile(
    r"k.{0,40}q.{0,40}(?:\\gg|>>|≫|\\ll|≪|<<)|q.{0,40}k.{0,40}(?:\\gg|>>|≫)"
)
_ONE_VALUE = re.compile(
    r"\s*c\s*(?:\\approx|≈|\\simeq|\\to|→|=|~)\s*\\?(?:mathbf|boldsymbol)?\{?v\}?_"
)
_VALUE_GIVEN = re.compile(rf"[:：]\s*\$(?:{_ONE_VALUE.pattern})")
_PLAIN_DEFINITION = re.compile(rf"(?:^|[\s:：,;])(?:{DEFINITION.pattern})")


@functools.cache
def _phrases(role: str) -> re.Pattern[str]:
    """What matches a phrase of this role, in any language."""
    by_language = _table()[role].values()
    return re.compile("|".join(by_language).replace("\n", ""), re.IGNORECASE)


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    """role -> language -> phrases."""
    file = resources.files("headwright.homework.reading.segments").joinpath("asking.toml")
    return tomllib.loads(file.read_text("utf-8"))


def _opens(role: str, text: str) -> bool:
    return _phrases(role).match(text) is not None


def _contains(role: str, text: str) -> bool:
    return _phrases(role).search(text) is not None


def act_of(sentence: Sentence) -> Act:
    """What this sentence does in the talk between handout and student."""
    text = sentence.text[:_MOST_READ].strip(" \"“”'‘’_>-–—•")
    if states_result(sentence):
        return "answers"
    if _contains("requests", text):
        return "requests"
    points = POINTS.match(text)
    text = text[points.end() :].strip() if points else text
    if _is_imperative(text) or _contains("final", text[-80:]):
        return "asks"
    if text.endswith(("?", "？")):
        return "" if _is_rhetorical(sentence, text) else "questions"
    if any(_ONE_VALUE.match(formula) for formula in sentence.formulas):
        return "answers"
    if _contains("telling", text):
        return "tells"
    if _opens("afterthought", text):
        return "follows"
    if _opens("leading", text):
        return "leads"
    return "answers" if _opens("answering", text) else ""


def states_result(sentence: Sentence) -> bool:
    """A formula that handouts ask for and do not give: q = .., M = .., scores compared."""
    if any(_is_result(formula) for formula in sentence.formulas):
        return True
    if sentence.formulas:
        return _VALUE_GIVEN.search(sentence.text) is not None
    return _PLAIN_DEFINITION.search(sentence.text[:_MOST_READ]) is not None


def _is_result(formula: str) -> bool:
    if DEFINITION.match(formula):
        return True
    return _SCORES_COMPARED.search(formula[:200]) is not None


def _is_rhetorical(sentence: Sentence, text: str) -> bool:
    """ "Why is that?", "Is gamma > 1?": a student who goes on with the answer."""
    cases = any(_INEQUALITY.search(formula) for formula in sentence.formulas)
    return cases or _RHETORICAL.fullmatch(text) is not None


def _is_imperative(text: str) -> bool:
    """A verb that asks, at the beginning, behind a title or behind the clause that opens the
    sentence."""
    if _REASON.match(text) or _UNSPACED.search(text):
        title = _TITLE.match(text)
        return _orders(text) or (title is not None and _orders(text[title.end() :]))
    return any(_orders(clause) for clause in _clauses(text))


def _clauses(text: str) -> Iterator[str]:
    """The text from its beginning, behind its title and behind its first commas."""
    text = _FORMULA.sub("$", text)
    yield text
    title = _TITLE.match(text)
    if title:
        yield text[title.end() :]
    for comma in itertools.islice(_COMMA.finditer(text), _MOST_CLAUSES):
        yield text[comma.end() :]


def _orders(text: str) -> bool:
    polite = _POLITE.match(text)
    assert polite is not None  # every part of the pattern may be missing
    return _opens("imperative", text) or _opens("imperative", text[polite.end() :])
