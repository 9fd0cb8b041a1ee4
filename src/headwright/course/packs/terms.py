"""The questions of a pack, and what they are worth."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from headwright.course.rubric import Rubric, plain_rubric, read_rubric
from headwright.exercise.bank import Bank, load
from headwright.result import plain

_ONE_EACH = "one point each"


def terms(bank_file: str | Path | None, rubric_file: str | Path | None) -> tuple[Bank, Rubric]:
    """Without a rubric, the points of the teacher's bank; without either, the classic questions
    with one point each."""
    bank = load(bank_file)
    if rubric_file is not None:
        return bank, read_rubric(rubric_file, bank)
    rubric = plain_rubric(bank)
    if bank_file is not None:
        return bank, rubric
    ones = {id: replace(worth, points=1.0) for id, worth in rubric.questions.items()}
    return bank, replace(rubric, questions=ones, digest=_ONE_EACH)


def digest(bank: Bank) -> str:
    """Tells one bank from another, however its file is laid out."""
    return hashlib.sha256(json.dumps(plain(bank)).encode("ascii")).hexdigest()[:16]
