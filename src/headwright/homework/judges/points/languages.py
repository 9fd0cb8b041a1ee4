"""Which languages an answer is written in. Many words look alike in several languages ("oscille",
"positiv"), and a negation is only recognised in its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from headwright.homework.judges.points.phrases import occurrences, reading_phrases
from headwright.homework.meaning import words

_SCRIPTS = {"ja": "[぀-ヿ]", "ko": "[가-힯]"}  # a text without these letters is Chinese
# Languages whose phrases are many enough that what is not found was not said
WELL_READ = {"en", "zh"}
# A language with so many of the function words of the most likely one is possible, too.
_NEARLY_AS_MANY = 0.7


def written_in(texts: Iterable[str]) -> frozenset[str]:
    """The languages whose phrases are looked for: by script, and by function words; all of a
    script's where nothing tells them apart."""
    whole = " ".join(texts)
    languages = reading_phrases("function_words").languages
    counts = {name: occurrences("function_words", whole, name) for name in languages}
    most = max(counts.values())
    least = _NEARLY_AS_MANY * most
    found = {language for language, count in counts.items() if count >= least}
    if all(count < counts["en"] for language, count in counts.items() if language != "en"):
        found = {"en"}
    script = _by_script(whole)
    return frozenset(script if script and not most else found | script)


def well_read(languages: Collection[str]) -> bool:
    """Are all of them read well, or is there nothing that tells the language?"""
    unknown = len(languages) >= len(reading_phrases("function_words").languages)
    return unknown or set(languages) <= WELL_READ


def _by_script(text: str) -> set[str]:
    if not words.unspaced(text):
        return set()
    particular = {language for language, letters in _SCRIPTS.items() if re.search(letters, text)}
    return particular or {"zh"}
