"""Phrases by language, out of the tables `points.toml` and `vocabulary.toml`.

A phrase is a fragment of a regular expression; `<name>` stands for a common part of phrases or for
the words of that meaning in the phrase's language, so that one phrase serves all languages.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from typing import Any

from headwright.homework.judges.points.alternatives import Alternatives
from headwright.homework.judges.points.needs import Needs
from headwright.homework.meaning import words

# The languages of `vocabulary.toml`: a phrase for `any` is one for each of them.
LANGUAGES = ("en", "zh", "ko", "ja", "es", "pt", "de", "fr")
_UNSPACED = ("zh", "ko", "ja")
_ANY = "any"
_PART = re.compile(r"<(\w+)>")
_GAP = re.compile(r"(\[\^[^\]]+\]|(?<!\\)\.)\{0,(\d+)\}")
# Signs in a phrase, with the characters that a gap may not hold: "…" stays within a clause, "‥"
# names no other vector either. What a gap holds is captured: a negation in it turns the phrase.
_GAP_SIGNS = {"…": ".,;:!?", "‥": ".,;:!?_"}
_LONGEST_GAP = {True: 18, False: 40}  # by whether words are written without spaces
# Words with which another clause begins, and marks with which one ends: no gap goes beyond them.
# A set of characters that holds these marks takes seven times as long to compile.
_BREAKS = (
    " (?:and|but|while|whereas|because|since|so|which|although|though|when|if|und|aber|weil|sondern"
    "|sodass|denn|et|mais|car|y|pero|porque|sino|e|mas|pois)\\b"
    "|但|而是|并且|而且|因为|因此|所以|然而|虽然|지만|므로|때문에|ので|ため|けれど|のに"
    "|(?<=아니라)|(?<=않고)|(?<=ではなく)|。|、|，|；"
)


class Phrases:
    """What says one thing, by language. Patterns are made when their language is first asked for:
    most documents are written in one."""

    def __init__(self, by_language: Mapping[str, list[str]]) -> None:
        shared = by_language.get(_ANY, [])
        own = {language: texts for language, texts in by_language.items() if language != _ANY}
        common = {language: [*own.get(language, []), *shared] for language in LANGUAGES if shared}
        self._texts = own | common
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._alternatives: dict[str, Alternatives] = {}

    @property
    def languages(self) -> Collection[str]:
        return self._texts.keys()

    def pattern(self, language: str) -> re.Pattern[str] | None:
        """What matches any phrase of this language: for few phrases and many texts."""
        if language not in self._texts:
            return None
        if language not in self._patterns:
            expanded = [_expanded(phrase, language) for phrase in self._texts[language]]
            self._patterns[language] = words.any_of(expanded)
        return self._patterns[language]

    def alternatives(self, language: str) -> Alternatives:
        """The same for many phrases, of which a text holds few."""
        if language not in self._alternatives:
            self._alternatives[language] = Alternatives(
                self._texts[language],
                lambda phrase: words.bounded(_expanded(phrase, language)),
                _needs(language),
            )
        return self._alternatives[language]


def reading_phrases(meaning: str) -> Phrases:
    """Phrases of the reader's own: negations, hedges, requests, cases."""
    return _reading()[meaning]


def occurrences(meaning: str, text: str, language: str) -> int:
    """How many such phrases of one language the text holds."""
    pattern = reading_phrases(meaning).pattern(language)
    return 0 if pattern is None else sum(1 for _ in pattern.finditer(text))


def without(meaning: str, text: str, language: str) -> str:
    """The text, less such phrases of one language."""
    pattern = reading_phrases(meaning).pattern(language)
    return text if pattern is None else pattern.sub(" ", text)


def matches(
    phrases: Phrases, text: str, languages: Collection[str] | None = None
) -> Iterator[tuple[str, re.Match[str]]]:
    """(language, match) of every phrase of these languages (of all without any) in the text. One
    that begins inside another is found, too: the first may turn out to say nothing."""
    for language in phrases.languages:
        if languages is not None and language not in languages:
            continue
        for match in phrases.alternatives(language).matches(text):
            yield language, match


def asks(sentence: str) -> bool:
    """A question or a request."""
    is_question = sentence.rstrip(" )）").endswith(("?", "？"))
    return is_question or any(True for _ in matches(reading_phrases("asks"), sentence))


def _expanded(text: str, language: str) -> str:
    """The phrase with its parts in place. A gap of bounded length holds no negation; one that is
    written as a sign does, and captures it."""
    whole = _PART.sub(lambda match: _part(match[1], language), text)
    negations = table()["reading"]["negates"].get(language)
    if negations is not None:
        barred = words.written_any_of(negations)
        whole = _GAP.sub(lambda gap: f"(?:(?!{barred}){gap[1]}){{0,{gap[2]}}}", whole)
    longest = _LONGEST_GAP[language in _UNSPACED]
    for sign, outside in _GAP_SIGNS.items():
        gap = f"((?:(?!{_BREAKS})[^{outside}]){{0,{longest}}}?)"
        whole = re.sub(f" ?{sign} ?", lambda _, gap=gap: gap, whole)
    return whole


def _part(name: str, language: str) -> str:
    """Any of the fragments of this name, in one language where they differ by language."""
    common = table()["parts"].get(name)
    if common is not None:
        return f"(?:{'|'.join(common)})"
    whole = "|".join(_vocabulary()[name][language])
    if language in _UNSPACED:
        return f"(?:{whole})"
    return rf"(?<![^\W\d_])(?:{whole})(?![^\W\d_])"


@functools.cache
def _needs(language: str) -> Needs:
    return Needs(lambda name: _part(name, language))


@functools.cache
def table() -> dict[str, Any]:
    """The points of all questions, the parts of phrases, and how sentences are read."""
    return _loaded("points.toml")


@functools.cache
def _reading() -> dict[str, Phrases]:
    return {name: Phrases(row) for name, row in table()["reading"].items()}


@functools.cache
def _vocabulary() -> dict[str, dict[str, list[str]]]:
    return _loaded("vocabulary.toml")


def _loaded(name: str) -> dict[str, Any]:
    folder = resources.files("headwright.homework.judges.points")
    return tomllib.loads(folder.joinpath(name).read_text("utf-8"))
