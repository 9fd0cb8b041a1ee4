"""The table of points: what an answer in words must say, and the phrases that say it, by language.

A phrase is a fragment of a regular expression; `<name>` stands for a common part of phrases.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from headwright.homework.meaning import words

Phrases = Mapping[str, re.Pattern[str]]  # language -> what matches any of its phrases
# Languages whose phrases are many enough that what is not found was not said.
WELL_READ = ("en", "zh")
_PART = re.compile(r"<(\w+)>")
_GAP = re.compile(r"(\[\^[^\]]+\]|(?<!\\)\.)\{0,(\d+)\}")


@dataclass(frozen=True)
class Point:
    """One thing to say: `states` completes "it is said that ..."."""

    name: str
    states: str
    said: Phrases
    denied: Phrases
    # "c may be near v_a": a possibility is what the point claims
    possible: bool = False
    # Its phrases, negated, deny it
    deniable: bool = False
    # Once it is said, nothing later denies it
    first: bool = False


@dataclass(frozen=True)
class Rubric:
    """`needed` are groups of points, of each of which one is enough. Points in `partial`, where
    others are lacking, make an answer incomplete. Any other point only explains what is written."""

    points: tuple[Point, ...]
    needed: tuple[tuple[str, ...], ...]
    partial: frozenset[str]
    repair: str

    def __getitem__(self, name: str) -> Point:
        return next(point for point in self.points if point.name == name)


def names() -> list[str]:
    """The rubrics there are."""
    return [name for name, table in _table().items() if "needed" in table]


@functools.cache
def rubric(name: str) -> Rubric:
    """The rubric of this name in `points.toml`."""
    table = _table()[name]
    points = [_point(key, row) for key, row in table["points"].items()]
    needed = tuple(tuple(group) for group in table["needed"])
    partial = frozenset(table.get("partial", ()))
    return Rubric(tuple(points), needed, partial, table["repair"])


def reading_phrases(meaning: str) -> Phrases:
    """Phrases of the reader's own: negations, hedges, requests, cases."""
    return _reading()[meaning]


def occurrences(meaning: str, text: str, language: str) -> int:
    """How many such phrases of one language the text holds."""
    pattern = reading_phrases(meaning).get(language)
    return 0 if pattern is None else sum(1 for _ in pattern.finditer(text))


def asks(sentence: str) -> bool:
    """A question or a request."""
    is_question = sentence.rstrip(" )）").endswith(("?", "？"))
    return is_question or any(True for _ in matches(reading_phrases("asks"), sentence))


def matches(
    phrases: Phrases, text: str, languages: Collection[str] | None = None
) -> Iterator[tuple[str, re.Match[str]]]:
    """(language, match) of every phrase of these languages (of all without any) in the text."""
    for language, pattern in phrases.items():
        if languages is not None and language not in languages:
            continue
        for match in pattern.finditer(text):
            yield language, match


def _point(name: str, row: Mapping[str, Any]) -> Point:
    said = _phrases(row.get("said", {}))
    denied = _phrases(row.get("denied", {}))
    flags = {flag: row.get(flag, False) for flag in ("possible", "deniable", "first")}
    return Point(name, row["states"], said, denied, **flags)


@functools.cache
def _reading() -> dict[str, Phrases]:
    return {name: _phrases(row) for name, row in _table()["reading"].items()}


def _phrases(by_language: Mapping[str, list[str]]) -> Phrases:
    return {
        language: words.any_of([_expanded(text, language) for text in texts])
        for language, texts in by_language.items()
    }


def _expanded(text: str, language: str) -> str:
    """The phrase with its parts in place and its gaps free of negations."""
    parts = _table()["parts"]
    whole = _PART.sub(lambda match: f"(?:{'|'.join(parts[match[1]])})", text)
    negations = _table()["reading"]["negates"].get(language)
    if negations is None:
        return whole
    barred = words.any_of(negations).pattern
    return _GAP.sub(lambda gap: f"(?:(?!{barred}){gap[1]}){{0,{gap[2]}}}", whole)


@functools.cache
def _table() -> dict[str, Any]:
    folder = resources.files("headwright.homework.judges.points")
    return tomllib.loads(folder.joinpath("points.toml").read_text("utf-8"))
