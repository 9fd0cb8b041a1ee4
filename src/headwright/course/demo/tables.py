"""Who answers what in the sample class."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NOT_ANSWERED = "-"


@dataclass(frozen=True)
class Answer:
    status: str
    latex: str
    typst: str


@dataclass(frozen=True)
class Asked:
    """One question of the handout, with the answers that somebody may give."""

    id: str
    label: str
    points: float
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class HandIn:
    """One document. `answers` are in the handout's order; None where nothing is written."""

    student: str
    name: str  # empty where nobody in the roster is meant
    format: str
    answers: Mapping[str, Answer | None]

    @property
    def is_empty(self) -> bool:
        return not self.answers


@dataclass(frozen=True)
class SampleClass:
    asked: tuple[Asked, ...]
    hand_ins: tuple[HandIn, ...]
    without: Mapping[str, str]  # names by id
    overrides: tuple[Mapping[str, Any], ...]

    @property
    def roster(self) -> dict[str, str]:
        """Names by id, in the order of the ids."""
        names = {one.student: one.name for one in self.hand_ins if one.name}
        return dict(sorted({**names, **self.without}.items()))


@cache
def sample_class() -> SampleClass:
    table = _read("class.toml")
    asked = tuple(_asked(row) for row in _read("answers.toml")["question"])
    return SampleClass(
        asked,
        tuple(_hand_in(row, asked) for row in table["hand_in"]),
        {row["student"]: row["name"] for row in table["without"]},
        tuple(table["override"]),
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("headwright.course.demo").joinpath(name).read_text("utf-8"))


def _asked(row: Mapping[str, Any]) -> Asked:
    answers = [
        Answer(one["status"], one["latex"], one.get("typst", one["latex"])) for one in row["answer"]
    ]
    return Asked(row["id"], row["label"], row["points"], tuple(answers))


def _hand_in(row: Mapping[str, Any], asked: tuple[Asked, ...]) -> HandIn:
    chosen = {
        question.id: None if place == NOT_ANSWERED else question.answers[int(place)]
        for question, place in zip(asked, row["answers"], strict=False)
    }
    return HandIn(row["student"], row.get("name", ""), row["format"], chosen)
