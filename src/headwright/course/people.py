"""Students, as a course knows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Student:
    """`id` is unique in the course; `names` is what else may stand for the student in a file name
    or a gradebook: a login, another id."""

    id: str
    name: str = ""
    email: str = ""
    names: tuple[str, ...] = ()
