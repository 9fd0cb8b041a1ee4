"""Which single dollar closes which."""

from __future__ import annotations

import re

from headwright.homework.reading.segments.boundaries import (
    LONG_WORD,
    MATH_SIGN,
    dollar_limit,
    is_prose,
)

_DOLLARS = re.compile(r"\\.|\$+", re.DOTALL)
_MOST_TRIED = 40  # places for a stray dollar, of one paragraph


class DollarPairs:
    """Partners of single dollars, paragraph by paragraph. An odd dollar is left out where that
    leaves the most mathematics inside and the most words outside."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.partners: dict[int, int] = {}
        self.known_to = 0

    def partner(self, start: int) -> int:
        """Where the formula that begins with the dollar at `start` ends; -1: it begins none."""
        if start >= self.known_to:
            self._pair_paragraph(start)
        return self.partners.get(start, -1)

    def _pair_paragraph(self, start: int) -> None:
        stop = dollar_limit(self.text, start)
        places: list[int] = []
        for match in _DOLLARS.finditer(self.text, start, stop):
            if match.group() == "$":
                places.append(match.start())
            elif match.group().startswith("$$"):
                stop = match.start()
                break

        self.known_to = max(stop, start + 1)
        if len(places) == 1:
            places = self._lone(places[0], stop)
        elif len(places) % 2:
            places = self._without_stray(places)
        self.partners.update(_paired(places))

    def _lone(self, place: int, stop: int) -> list[int]:
        """A dollar without a partner opens a formula where the rest of its line is one."""
        rest = self.text[place + 1 : stop]
        line = rest.split("\n", 1)[0]
        if not MATH_SIGN.search(line) or is_prose(line):
            return []
        return [place, place + 1 + len(line.rstrip())]

    def _without_stray(self, places: list[int]) -> list[int]:
        tried = range(min(len(places), _MOST_TRIED))
        candidates = [[*places[:k], *places[k + 1 :]] for k in tried]
        return max(candidates, key=self._score)

    def _score(self, places: list[int]) -> int:
        score = 0
        for start, end in _paired(places):
            inside = self.text[start + 1 : end]
            score += len(MATH_SIGN.findall(inside))
            score -= 3 * len(LONG_WORD.findall(inside))
        return score


def _paired(places: list[int]) -> list[tuple[int, int]]:
    """First and second, third and fourth, .."""
    return list(zip(places[::2], places[1::2], strict=True))
