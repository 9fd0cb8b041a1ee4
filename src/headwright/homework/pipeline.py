"""The whole way in two functions: document -> statements -> located answers -> verdicts."""

from __future__ import annotations

import re
from pathlib import Path

from headwright.errors import InputError
from headwright.exercise.bank import Bank, load
from headwright.homework import batch
from headwright.homework.document import Document
from headwright.homework.judge import judge
from headwright.homework.locate import locate
from headwright.homework.queries import Heads
from headwright.homework.statements import stream
from headwright.homework.verdict import Report

_FILE_NAME = re.compile(r"[^\n$]{1,255}\.(?:md|markdown|tex|txt|ipynb|typ)")


def check(source: str | Path, *, bank: Bank | str | Path | None = None) -> Report:
    """Judge one document, a file or the text itself, within the limits of one document (`limits`)."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    return batch.judged(_source(source), questions).report


def _source(source: str | Path) -> batch.Source:
    named = isinstance(source, Path) or _FILE_NAME.fullmatch(source) is not None
    if named and not Path(source).is_file():
        raise InputError(
            wanted="a document", got=f"no file {source}", attempt="check the path, or pass the text itself"
        )
    if named or (
        "\n" not in str(source) and len(str(source)) < 256 and "\0" not in str(source) and Path(source).is_file()
    ):
        return batch.Source(str(source), path=Path(source))
    return batch.Source("text", text=str(source))


def judge_document(document: Document, bank: Bank | str | Path | None = None) -> Report:
    """All verdicts on a document that was read."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    pieces = stream(document)
    heads: dict[str, Heads] = {}
    verdicts = tuple(judge(found, questions, document, pieces, heads) for found in locate(document, questions, pieces))
    return Report(document.name, verdicts, document.notes)
