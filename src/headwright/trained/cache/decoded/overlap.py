"""Do two texts share a passage? A plan is verified on a text that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.errors import InputError

# Words in a row that two texts do not share by chance; whole texts, where they are shorter.
_PASSAGE = 20


def refuse_overlap(calibration: Sequence[str], verification: Sequence[str]) -> None:
    """Refuses a verification text that has a passage of some calibration text in it."""
    seen = [_words(text) for text in calibration]
    for text in verification:
        words = _words(text)
        for other in seen:
            shared = _shared_passage(words, other)
            if shared:
                raise InputError(
                    wanted="a verification text that the plan has not seen",
                    got=f"a passage of the calibration text in it: {' '.join(shared)[:60]!r}",
                    attempt="--verify with another text",
                )


def _words(text: str) -> list[str]:
    return text.casefold().split()


def _shared_passage(a: list[str], b: list[str]) -> tuple[str, ...]:
    """The first run of words of `a` that is also in `b`; empty where there is none."""
    length = min(_PASSAGE, len(a), len(b))
    if not length:
        return ()
    there = set(_runs(b, length))
    return next((run for run in _runs(a, length) if run in there), ())


def _runs(words: list[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]
