"""The whole way in one function: document -> statements -> located answers -> verdicts."""

from __future__ import annotations

from pathlib import Path

from headwright.exercise.bank import Bank, load
from headwright.homework.judge import judge
from headwright.homework.locating.locate import locate
from headwright.homework.meaning.statements import stream
from headwright.homework.reading.document import Document
from headwright.homework.scenes.queries import Heads
from headwright.homework.verdict import Report


def judge_document(document: Document, bank: Bank | str | Path | None = None) -> Report:
    """All verdicts on a document that was read."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    pieces = stream(document)
    heads: dict[str, Heads] = {}
    verdicts = tuple(
        judge(found, questions, document, pieces, heads)
        for found in locate(document, questions, pieces)
    )
    return Report(document.name, verdicts, document.notes)
