"""The jobs of `batch`: one document is read and judged, and its page is drawn, in a process of the
crew.

The clock and the memory limit are the crew's. Here a document can only fail in ways that are
noticed where they happen, and each of them is an honest `unread`.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from headwright.exercise.bank import Bank, load, restored
from headwright.homework import one_document
from headwright.homework.showing import pages
from headwright.result import plain


def judged(
    *, bank: str | None, page: str, hidden: Sequence[str] = (), **document: Any
) -> dict[str, Any]:
    """The report on one document, and its page where one is wanted: `drawn`, or as `text`, without
    the `hidden` questions."""
    questions = _bank(bank)
    content = one_document.Content(**{**document, "data": b64decode(document["data"])})
    report, text = one_document.judge_content(content, questions)
    answer: dict[str, Any] = {"report": plain(report)}
    if page:
        titles = {question.id: question.title for question in questions}
        draw = pages.drawn if page == "drawn" else pages.as_text
        answer["page"] = pages.document_page(report, text, titles, draw=draw, hidden=hidden)
    return answer


def drawn(formulas: Sequence[str]) -> list[str]:
    return [pages.drawn(latex) for latex in formulas]


@lru_cache(maxsize=2)
def _bank(record: str | None) -> Bank:
    return load(None) if record is None else restored(record)
