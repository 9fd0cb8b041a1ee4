"""Which segments say nothing: titles, "Answer:", "TODO", "no time", dots."""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources

from headwright.homework.reading.document import Segment
from headwright.homework.reading.segments.who_speaks import only_announces

_MOST_READ = 200  # characters
_MOST_PHRASES = 5
# What of a formula says nothing, and the words that may stand in it
_DRAWN = re.compile(
    r"\\(?:[lcv]?dots|quad|qquad|square|Box|ast|star|(?:text|mathrm|mbox|textbf|textit)(?=\s*\{))"
)


def is_silent(segment: Segment) -> bool:
    """A title, or nothing but "Answer:", dots or "TODO"."""
    if segment.kind == "heading" or segment.voice == "question":
        return True
    beginning = segment.text[:_MOST_READ]
    if segment.kind == "math":
        return _blank().fullmatch(_DRAWN.sub("", beginning)) is not None
    return only_announces(beginning) or _blank().fullmatch(beginning) is not None


@functools.cache
def _blank() -> re.Pattern[str]:
    """Nothing but phrases that stand where an answer should be, in any language."""
    file = resources.files("headwright.homework.locating").joinpath("blanks.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    phrases = [_spaced(phrase) for listed in table.values() for phrase in listed]
    phrase = rf"(?:{'|'.join(phrases)})(?![A-Za-zÀ-ÿ])"
    return re.compile(rf"[\W_]*(?:{phrase}[\W_]*){{0,{_MOST_PHRASES}}}", re.IGNORECASE)


def _spaced(phrase: str) -> str:
    """Any blanks for a space, any apostrophe or none."""
    return phrase.replace(" ", r"\s?").replace("'", "['’]")
