"""The words around the formulas, in the languages of the classes that ask this exercise. Every
sentence is our own."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Tongue:
    name: str
    because: str
    therefore: str
    then: str
    where: str
    and_: str
    let: str
    but: str
    for_all: str
    we_want: str
    is_large: str
    much_greater_than: str
    is_distribution: str
    copies: str
    coordinates_only: str
    oscillates: str
    less_variance: str
    stable: str
    answer: str
    question: str
    title: str
    asks: dict[str, str]  # restated questions, with their formulas, as a handout leaves them


def _load() -> tuple[Tongue, ...]:
    rows = tomllib.loads(Path(__file__).with_name("tongues.toml").read_text("utf-8"))["tongue"]
    return tuple(Tongue(**row) for row in rows)


TONGUES = _load()
