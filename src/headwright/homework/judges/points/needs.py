"""What a text must hold for a phrase to match anywhere in it: told from the phrase as it is
written, long before an expression is made of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Choice = list[str]  # one of these texts

_LITERAL = re.compile(r"[\w ,'’-]+")
# A part in angles, literal characters none of which may be absent, an escaped character, a set of
# characters, the beginning of a group, or one character
_STEP = re.compile(
    rf"<\w+>|{_LITERAL.pattern}(?![?*{{])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\((?:\?(?:[:=!]|<[=!]))?|.",
    re.DOTALL,
)
_PART = re.compile(r"<(\w+)>")
_GROUPS = ("(", "(?:")
_MAY_BE_ABSENT = ("?", "*", "{")
# Python's IGNORECASE takes these two for an "i"; `casefold` does not.
_TURKISH = str.maketrans("İı", "ii")


def folded(text: str) -> str:
    """So that texts which are equal without regard to case are equal."""
    return text.translate(_TURKISH).casefold()


class Needs:
    """`part` is what a name in angles stands for."""

    def __init__(self, part: Callable[[str], str]) -> None:
        self._part = part
        self._of_parts: dict[str, list[Choice]] = {}

    def of(self, phrase: str) -> list[Choice]:
        """Choices of texts, folded: every match of the phrase holds a text of each of them, one
        behind the other."""
        return self._of_branches(_STEP.findall(phrase))

    def _of_branches(self, steps: Sequence[str]) -> list[Choice]:
        found = [self._of_sequence(branch) for branch in _branches(steps)]
        if len(found) == 1:
            return found[0]
        if not all(found):
            return []
        return [[text for choices in found for text in _most_telling(choices)]]

    def _of_sequence(self, steps: Sequence[str]) -> list[Choice]:
        found: list[Choice] = []
        letters = ""
        place = 0
        while place < len(steps):
            end = _end(steps, place)
            absent = end < len(steps) and steps[end] in _MAY_BE_ABSENT
            if not absent and _LITERAL.fullmatch(steps[place]):
                letters += folded(steps[place])
            else:
                found += _of_letters(letters)
                found += [] if absent else self._of_step(steps[place:end])
                letters = ""
            place = _behind_repetition(steps, end) if absent else end
        return found + _of_letters(letters)

    def _of_step(self, steps: Sequence[str]) -> list[Choice]:
        if steps[0] in _GROUPS:
            return self._of_branches(steps[1:-1])
        named = _PART.fullmatch(steps[0])
        if named is None:
            return []
        name = named[1]
        if name not in self._of_parts:
            self._of_parts[name] = self.of(self._part(name))
        return self._of_parts[name]


def _of_letters(letters: str) -> list[Choice]:
    """Less the spaces around them, which a gap beside them takes in."""
    return [[letters.strip()]] if letters.strip() else []


def _most_telling(choices: list[Choice]) -> Choice:
    return max(choices, key=lambda choice: min(map(len, choice)))


def _end(steps: Sequence[str], place: int) -> int:
    """Behind the group that begins at this place, or behind the only step."""
    depth = 0
    for at in range(place, len(steps)):
        depth += _opened(steps[at])
        if depth == 0:
            return at + 1
    return len(steps)


def _behind_repetition(steps: Sequence[str], place: int) -> int:
    return steps.index("}", place) + 1 if steps[place] == "{" else place + 1


def _branches(steps: Sequence[str]) -> list[list[str]]:
    """What the bars outside all brackets part."""
    branches: list[list[str]] = [[]]
    depth = 0
    for step in steps:
        depth += _opened(step)
        if step == "|" and depth == 0:
            branches.append([])
        else:
            branches[-1].append(step)
    return branches


def _opened(step: str) -> int:
    if step == ")":
        return -1
    return 1 if step.startswith("(") else 0
