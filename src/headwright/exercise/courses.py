"""How courses number the questions: exercises, their parts in order, the questions of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError

PART_LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Course:
    """One numbering. `labels`: for a question's id the labels that lead to it, such as "b.2" (part
    letter, number within the part) or "b" where a part asks one question. `exercises`: the ids of
    each in order. `handouts`: for each exercise that was handed out exactly so, its numbers in
    order with the questions asked there."""

    name: str
    labels: Mapping[str, tuple[str, ...]]
    exercises: tuple[tuple[str, ...], ...] = ()
    handouts: tuple[Mapping[str, str], ...] = ()


def courses_of(rows: Sequence[Mapping[str, Any]], ids: set[str], where: str) -> tuple[Course, ...]:
    return tuple(_course(row, ids, where) for row in rows)


def restored_course(row: Mapping[str, Any]) -> Course:
    labels = {id: tuple(found) for id, found in row["labels"].items()}
    exercises = tuple(tuple(ids) for ids in row["exercises"])
    return Course(row["name"], labels, exercises, tuple(row["handouts"]))


def _course(row: Mapping[str, Any], ids: set[str], where: str) -> Course:
    name = str(row.get("name", ""))
    labels: dict[str, tuple[str, ...]] = {}
    handouts: list[Mapping[str, str]] = []
    for exercise in row.get("exercises", []):
        handout: dict[str, str] = {}
        for letter, asked in zip(PART_LETTERS, exercise, strict=False):
            for number, id in enumerate(asked, start=1):
                alone = (letter,) if len(asked) == 1 else ()
                written = (*alone, f"{letter}.{number}")
                labels[id] = (*labels.get(id, ()), *written)
                handout[written[0]] = id
        handouts.append(handout)
    unknown = sorted(set(labels) - ids)
    if unknown or not labels:
        raise InputError(
            wanted="exercises with the ids of questions in every course",
            got=f"{', '.join(unknown) or 'none'} in course {name!r} of {where}",
            attempt='exercises = [[["b.M", "b.q"]]]',
        )
    exercises = tuple(tuple(handout.values()) for handout in handouts)
    published = row.get("published", True)
    return Course(name, labels, exercises, tuple(handouts) if published else ())
