"""One document or a whole class, judged by the crew; no document can stop the others.

Every document is a point of plain parameters with its bytes in it, so that any process on any
machine can judge it and a store knows whether it has been judged (`crew`). A document that uses too
much ends its process, and is `unread` with the limit as the reason. A process that dies by itself
may have been ended by somebody else, so its document is tried once more.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright import crew
from headwright.crew.executor import chosen
from headwright.crew.processes import cores
from headwright.crew.store.record import Store
from headwright.exercise.bank import Bank, load
from headwright.homework import limits
from headwright.homework.reading.sources import Source, file_bytes, named
from headwright.homework.showing.pages import document_page
from headwright.homework.verdict import Report, restored, unreadable
from headwright.result import plain
from headwright.watched.process import Allowance

# One bank for all, or the bank of each document
Banks = Bank | Callable[[Source], Bank] | None


@dataclass(frozen=True)
class JudgedDocument:
    """The report on one document; `page` is its HTML page where one was asked for, `error` says why
    nobody could judge it, `stored` that this was known already."""

    name: str
    report: Report
    page: str = ""
    error: str = ""
    stored: bool = False


def check(source: Any, *, bank: Bank | str | Path | None = None) -> Report:
    r"""Judge one document, a file or the text itself, within the limits of one (`limits`).

    >>> hw.check(r"b. $q = \beta (k_a + k_b)$ with $\beta \gg 0$")
    <Report on text: 1 correct>
    """
    questions = bank if isinstance(bank, Bank) else load(bank)
    (judged,) = judge_many([named(source)], questions)
    return judged.report


def judge_many(
    documents: Sequence[Source],
    bank: Banks = None,
    *,
    executor: Executor | None = None,
    store: Store | None = None,
    **options: Any,
) -> Iterator[JudgedDocument]:
    """Judged documents in the order of the documents, each as soon as those before it are done, by
    this many `workers` here or by any `executor`. Options: `workers`, `seconds` of processor time
    and `memory` in bytes for a document, `pages`, and the questions `hidden` on them."""
    request = _Request(bank, **options)
    with _executor(executor, request.workers, len(documents)) as ready:
        yield from _Judging(request, ready, store).outcomes(documents)


def draw(formulas: Sequence[str]) -> dict[str, str]:
    """Formulas as pictures, as far as drawing them ends within the limits of one document."""
    point = {"formulas": list(formulas)}
    with chosen(workers=1) as executor:
        allowance = Allowance(limits.SECONDS, limits.WORKER_MEMORY)
        (found,) = crew.run(
            f"{limits.JUDGING_MODULE}:drawn", [point], executor=executor, allowance=allowance
        )
    return {} if found.error else dict(zip(formulas, found.value, strict=True))


@contextmanager
def _executor(given: Executor | None, workers: int | None, most: int) -> Iterator[Executor]:
    """The one that is given stays open."""
    own = chosen(min(workers or cores(), most) or 1)
    with own if given is None else nullcontext(given) as ready:
        yield ready


class _Request:
    """What is asked about every document of one call."""

    def __init__(
        self,
        bank: Banks,
        *,
        workers: int | None = None,
        seconds: float = limits.SECONDS,
        memory: int | None = None,
        pages: bool = False,
        hidden: Sequence[str] = (),
    ) -> None:
        self._bank = bank
        self._written: tuple[Bank, str] | None = None
        self.workers = workers
        self.pages = pages
        self._hidden = list(hidden) if pages else []
        self.allowance = Allowance(seconds, memory or limits.WORKER_MEMORY)

    def point(self, source: Source) -> dict[str, Any]:
        data = b""
        refused = source.refused
        if source.path is not None and not refused:
            data, refused = file_bytes(source.path)
        return {
            "name": source.name,
            "suffix": source.path.suffix.lower() if source.path is not None else None,
            "data": b64encode(data).decode("ascii"),
            "text": source.text,
            "refused": refused,
            "bank": self._bank_of(source),
            "page": "drawn" if self.pages else "",
            **({"hidden": self._hidden} if self._hidden else {}),
        }

    def _bank_of(self, source: Source) -> str | None:
        bank = self._bank(source) if callable(self._bank) else self._bank
        if bank is None:
            return None
        # Writing takes longer than comparing, and most documents have the bank of the one before.
        if self._written is None or self._written[0] is not bank:
            self._written = (bank, json.dumps(plain(bank)))
        return self._written[1]


class _Judging:
    """The documents of one call on their way through the crew."""

    def __init__(self, request: _Request, executor: Executor, store: Store | None) -> None:
        self._request = request
        self._executor = executor
        self._store = store

    def outcomes(self, documents: Sequence[Source]) -> Iterator[JudgedDocument]:
        for found in self._run(self._request.point(source) for source in documents):
            again = self._request.pages and found.error.startswith("Ended: ")
            yield self._judged(self._without_drawings(found.point) if again else found)

    def _run(self, points: Iterator[dict[str, Any]]) -> Iterator[crew.Outcome]:
        return crew.run(
            f"{limits.JUDGING_MODULE}:judged",
            points,
            executor=self._executor,
            store=self._store,
            allowance=self._request.allowance,
        )

    def _without_drawings(self, point: dict[str, Any]) -> crew.Outcome:
        """Once more: drawing its page may be what took too long."""
        (found,) = self._run(iter([{**point, "page": "text"}]))
        return found

    def _judged(self, found: crew.Outcome) -> JudgedDocument:
        name = found.point["name"]
        if not found.error:
            answer = found.value
            report = restored(answer["report"])
            return JudgedDocument(name, report, answer.get("page", ""), stored=found.stored)
        report = unreadable(name, _reason(found.error))
        page = document_page(report, "", {}) if self._request.pages else ""
        return JudgedDocument(name, report, page, found.error, found.stored)


def _reason(error: str) -> str:
    """Why a document is unread, from what the crew says about its point."""
    kind, _, words = error.partition(": ")
    if kind == "Ended":
        return words
    if kind == "Died":
        return f"{words}: a fault in a library; read it yourself"
    return f"{limits.OUR_FAULT} ({error}); read it yourself"
