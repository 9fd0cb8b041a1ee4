"""What the questions of a pack are worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headwright.course.rubric import Rubric, plain_rubric, read_rubric
from headwright.exercise.bank import Bank

_ONE_EACH = "one point each"


def rubric_of(bank: Bank, rubric_file: str | Path | None, *, classic: bool) -> Rubric:
    """Without a rubric, the points of the teacher's bank, and one point for each of the classic
    questions. All of them count, whatever the document says was asked: a student must not gain by
    leaving questions out."""
    if rubric_file is not None:
        return read_rubric(rubric_file, bank)
    rubric = replace(plain_rubric(bank), all_count=True)
    if not classic:
        return rubric
    ones = {id: replace(worth, points=1.0) for id, worth in rubric.questions.items()}
    return replace(rubric, questions=ones, digest=_ONE_EACH)
