"""The whole way of one document: read -> statements -> located answers -> verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headwright.exercise.bank import Bank, load
from headwright.homework import limits
from headwright.homework.lettering import Lettering
from headwright.homework.locating.locate import locate
from headwright.homework.locating.unanswered import with_every_question
from headwright.homework.meaning.statements import stream
from headwright.homework.one_answer import judge_answer
from headwright.homework.reading.document import Document
from headwright.homework.reading.formats import read_bytes, read_text
from headwright.homework.scenes.queries import WrittenQueries
from headwright.homework.verdict import Report, our_fault, unreadable


@dataclass(frozen=True)
class Content:
    """What there is of one document: the bytes of a file with this suffix, or a text in hand."""

    name: str
    suffix: str | None  # None: it is no file
    data: bytes
    text: str
    refused: str  # why it is not even opened


def judge_content(content: Content, bank: Bank) -> tuple[Report, str]:
    """The report on one document, and its text; whatever the content does, there is a report."""
    document = Document(content.name, "")
    try:
        with np.errstate(all="ignore"):  # overflow is judged, not printed
            document = _opened(content)
            if not document.unread:
                return judge_document(document, bank), document.text
            reason = document.unread
    except limits.LimitReached as limit:
        reason = str(limit)
    except MemoryError:
        reason = "it needs more memory than there is"
    except RecursionError:
        reason = "it is nested too deeply"
    except Exception as fault:  # ours; it must not cost the other documents their verdicts
        reason = our_fault(fault)
    return unreadable(content.name, reason), document.text


def _opened(content: Content) -> Document:
    if content.refused:
        return Document(content.name, "", unread=content.refused)
    if content.suffix is None:
        return read_text(content.text, name=content.name)
    return read_bytes(content.data, name=content.name, suffix=content.suffix)


def judge_document(document: Document, bank: Bank | str | Path | None = None) -> Report:
    """All verdicts on a document that was read."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    lettering = Lettering(questions.letters)
    typed = document.text
    document = lettering.read(document)
    pieces = stream(document)
    found = locate(document, questions, pieces)
    answers = with_every_question(document, found, questions)
    heads: dict[str, WrittenQueries] = {}  # the queries that later answers build on
    verdicts = [judge_answer(found, questions, document, pieces, heads) for found in answers]
    report = Report(document.name, tuple(verdicts), document.notes)
    return lettering.told(report, typed)
