"""Many phrases looked for at once, each compiled when a text first holds what it needs.

Rejected: one expression with a bar between them. Compiling those of one language takes a third of a
second, which a document of ten sentences does not earn back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from headwright.homework.judges.points.needs import Needs, folded


class Alternatives:
    """What `"|".join(...)` matches without regard to case: of two matches that begin at the same
    place, the one of the earlier phrase. `written` makes an expression of a phrase."""

    def __init__(self, phrases: Iterable[str], written: Callable[[str], str], needs: Needs) -> None:
        self._phrases = [_Phrase(phrase, written, needs) for phrase in phrases]

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """In the order in which they begin, also those that begin inside another."""
        plain = folded(text)
        possible = [phrase for phrase in self._phrases if phrase.may_be_in(plain)]
        found = [(phrase, phrase.pattern.search(text)) for phrase in possible]
        waiting = [(phrase, match) for phrase, match in found if match is not None]
        while waiting:
            first = min((match for _, match in waiting), key=lambda match: match.start())
            yield first
            waiting = list(_beyond(first.start(), waiting))


class _Phrase:
    def __init__(self, phrase: str, written: Callable[[str], str], needs: Needs) -> None:
        self._phrase = phrase
        self._written = written
        self._needs = needs

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self._written(self._phrase), re.IGNORECASE)

    @cached_property
    def _needed(self) -> list[list[str]]:
        return self._needs.of(self._phrase)

    def may_be_in(self, plain: str) -> bool:
        """Does the text hold what is needed, one after the other?"""
        place = 0
        for choice in self._needed:
            ends = [at + len(text) for text in choice if (at := plain.find(text, place)) >= 0]
            if not ends:
                return False
            place = min(ends)
        return True


def _beyond(
    place: int, waiting: list[tuple[_Phrase, re.Match[str]]]
) -> Iterator[tuple[_Phrase, re.Match[str]]]:
    """What each phrase matches next."""
    for phrase, match in waiting:
        later = match
        if match.start() <= place:
            later = phrase.pattern.search(match.string, place + 1)
        if later is not None:
            yield phrase, later
