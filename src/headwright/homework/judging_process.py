"""The other side of `processes`: a process that reads and judges documents, and draws their pages;
a request in, an answer out (`watched`).

The clock and the memory limit are the parent's. Here a document can only fail in ways that are
noticed where they happen, and each of them is an honest `unread`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from headwright.exercise.bank import Bank, load, restored
from headwright.homework import one_document
from headwright.homework.reading.sources import Source
from headwright.homework.showing import pages
from headwright.result import plain
from headwright.watched import answer_lines


def main() -> None:
    answer_lines(respond)


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """`{"formulas": [...]}` are drawn; any other request is a document with its bank, and perhaps a
    page to make."""
    if "formulas" in request:
        return {"drawn": [pages.drawn(latex) for latex in request["formulas"]]}
    path = Path(request["path"]) if request["path"] is not None else None
    source = Source(request["name"], path, request["text"], request["refused"])
    bank = _bank(request["bank"])
    report, text = one_document.judge_source(source, bank)
    answer: dict[str, Any] = {"report": plain(report)}
    if request["page"]:
        titles = {question.id: question.title for question in bank}
        draw = pages.drawn if request["page"] == "drawn" else pages.as_text
        answer["page"] = pages.document_page(report, text, titles, draw=draw)
    return answer


@lru_cache(maxsize=2)
def _bank(record: str | None) -> Bank:
    return load(None) if record is None else restored(record)
