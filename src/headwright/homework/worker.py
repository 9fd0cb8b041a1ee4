"""The process that reads and judges documents, and draws their pages: a request in, an answer out
(`watched`).

The clock and the memory limit are the parent's. Here a document can only fail in ways that are
noticed where they happen, and each of them is an honest `unread`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from headwright.exercise.bank import Bank, load, restored
from headwright.homework import limits
from headwright.homework.pipeline import judge_document
from headwright.homework.reading.document import Document
from headwright.homework.reading.formats import read_file, read_text
from headwright.homework.reading.sources import Source
from headwright.homework.verdict import Report, unreadable
from headwright.result import plain
from headwright.watched import answer_lines


def main() -> None:
    answer_lines(respond)


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """`{"formulas": [...]}` are drawn; any other request is a document with its bank, and perhaps a
    page to make."""
    if "formulas" in request:
        from headwright.homework import pages

        return {"drawn": [pages.drawn(latex) for latex in request["formulas"]]}
    path = Path(request["path"]) if request["path"] is not None else None
    source = Source(request["name"], path, request["text"], request["refused"])
    bank = _bank(request["bank"])
    report, text = judged(source, bank)
    answer: dict[str, Any] = {"report": plain(report)}
    if request["page"]:
        from headwright.homework import pages

        titles = {question.id: question.title for question in bank}
        draw = pages.drawn if request["page"] == "drawn" else pages.as_text
        answer["page"] = pages.document_page(report, text, titles, draw=draw)
    return answer


@lru_cache(maxsize=2)
def _bank(record: str | None) -> Bank:
    return load(None) if record is None else restored(record)


def judged(source: Source, bank: Bank) -> tuple[Report, str]:
    """The report on one document, and its text; whatever the content does, there is a report."""
    document = Document(source.name, "")
    try:
        with np.errstate(all="ignore"):  # overflow is judged, not printed
            document = _opened(source)
            report = judge_document(document, bank) if not document.unread else None
            reason = document.unread
    except limits.LimitReached as limit:
        report = None
        reason = str(limit)
    except MemoryError:
        report = None
        reason = "it needs more memory than there is"
    except RecursionError:
        report = None
        reason = "it is nested too deeply"
    except Exception as fault:  # ours; it must not cost the other documents their verdicts
        report = None
        reason = (
            f"{limits.OUR_FAULT} ({type(fault).__name__}: {str(fault)[:200]}); read it yourself"
        )
    return report or unreadable(source.name, reason), document.text


def _opened(source: Source) -> Document:
    if source.refused:
        return Document(source.name, "", unread=source.refused)
    if source.path is None:
        return read_text(source.text, name=source.name)
    return read_file(source.path, name=source.name)
