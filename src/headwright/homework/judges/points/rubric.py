"""The points of a question: what an answer in words must say, and the phrases that say it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwright.homework.judges.points.phrases import Phrases, table

_FLAGS = ("possible", "deniable", "reversible", "first", "in_sentence")


@dataclass(frozen=True)
class Point:
    """One thing to say: `states` completes "it is said that ..."."""

    name: str
    states: str
    said: Phrases
    denied: Phrases
    # Phrases beside which none of the others counts
    unless: Phrases
    # "c may be near v_a": a possibility is what the point claims
    possible: bool = False
    # Its phrases, negated, deny it
    deniable: bool = False
    # Its contrary, negated, states it
    reversible: bool = True
    # Once it is said, nothing later denies it
    first: bool = False
    # `unless` is looked for in the whole sentence: "c_1 moves, but it stays near v_a"
    in_sentence: bool = False


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
    return [name for name, row in table().items() if "needed" in row]


@functools.cache
def rubric(name: str) -> Rubric:
    """The rubric of this name in `points.toml`."""
    found = table()[name]
    points = [_point(key, row) for key, row in found["points"].items()]
    needed = tuple(tuple(group) for group in found["needed"])
    partial = frozenset(found.get("partial", ()))
    return Rubric(tuple(points), needed, partial, found["repair"])


def _point(name: str, row: Mapping[str, Any]) -> Point:
    said = Phrases(row.get("said", {}))
    denied = Phrases(row.get("denied", {}))
    unless = Phrases(row.get("unless", {}))
    flags = {flag: row[flag] for flag in _FLAGS if flag in row}
    return Point(name, row["states"], said, denied, unless, **flags)
