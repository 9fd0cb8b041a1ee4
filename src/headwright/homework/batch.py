"""One document or a whole class, judged in processes of their own; no document can stop the others.

Each process reads and judges one document at a time and serves many (`processes`). One that uses
too much is ended, and its document is `unread` with the limit as the reason. A process that dies by
itself may have been ended by somebody else, so its document is tried once more.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from headwright.exercise.bank import Bank, load
from headwright.homework import limits
from headwright.homework.processes import Requests, cores
from headwright.homework.reading.sources import Source, named
from headwright.homework.showing.pages import document_page
from headwright.homework.verdict import Report, restored, unreadable
from headwright.result import plain
from headwright.watched import Died, Ended

_LEAD = 64  # documents in hand beyond the one that is waited for, so that outcomes cannot pile up
_LOOK = 0.5  # seconds: Windows hears Ctrl+C only between two waits


@dataclass(frozen=True)
class JudgedDocument:
    """The report on one document; `page` is its HTML page where one was asked for."""

    name: str
    report: Report
    page: str = ""


def check(source: Any, *, bank: Bank | str | Path | None = None) -> Report:
    """Judge one document, a file or the text itself, within the limits of one (`limits`)."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    (judged,) = judge_many([named(source)], questions)
    return judged.report


def judge_many(
    documents: Sequence[Source],
    bank: Bank | Callable[[Source], Bank] | None = None,
    *,
    workers: int | None = None,
    seconds: float = limits.SECONDS,
    memory: int | None = None,
    pages: bool = False,
) -> Iterator[JudgedDocument]:
    """Judged documents in the order of the documents, each as soon as those before it are done.
    `bank` may be a function: the bank of each document."""
    judging = _Judging(Requests(seconds, memory), bank, pages)
    waiting = iter(documents)
    threads = min(workers or cores(), len(documents)) or 1
    with ThreadPoolExecutor(threads) as pool:
        try:
            in_hand = deque(pool.submit(judging.judge, one) for one in islice(waiting, _LEAD))
            while in_hand:
                yield _result(in_hand.popleft())
                in_hand.extend(pool.submit(judging.judge, one) for one in islice(waiting, 1))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            judging.requests.stop()


def draw(formulas: Sequence[str]) -> dict[str, str]:
    """Formulas as pictures, as far as drawing them ends within the limits of one document."""
    requests = Requests(limits.SECONDS)
    try:
        drawn = requests.ask({"formulas": list(formulas)})["drawn"]
    except (Ended, Died):
        return {}
    finally:
        requests.stop()
    return dict(zip(formulas, drawn, strict=True))


def _result(future: Future[JudgedDocument]) -> JudgedDocument:
    while not future.done():
        wait([future], timeout=_LOOK)
    return future.result()


class _Judging:
    """The documents of one call, with one bank or each with its own, with pages or without."""

    def __init__(
        self, requests: Requests, bank: Bank | Callable[[Source], Bank] | None, pages: bool
    ) -> None:
        self.requests = requests
        self._bank_of = bank if callable(bank) else None
        self._bank = None if bank is None or callable(bank) else json.dumps(plain(bank))
        self._pages = pages

    def _bank_record(self, source: Source) -> str | None:
        return self._bank if self._bank_of is None else json.dumps(plain(self._bank_of(source)))

    def judge(self, source: Source) -> JudgedDocument:
        """One document; where drawing its page may be what took too long, once more without
        drawings."""
        reason = ""
        for page in ("drawn", "text") if self._pages else ("",):
            try:
                return self._tried_twice(source, page)
            except Ended as limit:
                reason = str(limit)
        return self._unread(source, reason)

    def _tried_twice(self, source: Source, page: str) -> JudgedDocument:
        # A process that serves many calls may have been started in another folder.
        request = {
            "name": source.name,
            "path": str(source.path.absolute()) if source.path is not None else None,
            "text": source.text,
            "refused": source.refused,
            "bank": self._bank_record(source),
            "page": page,
        }
        for _ in range(2):
            try:
                answer = self.requests.ask(request)
            except Died as death:
                how = str(death)
                continue
            return JudgedDocument(source.name, restored(answer["report"]), answer.get("page", ""))
        reason = f"reading it ended the reader twice ({how}): a fault in a library"
        return self._unread(source, f"{reason}; read it yourself")

    def _unread(self, source: Source, reason: str) -> JudgedDocument:
        report = unreadable(source.name, reason)
        page = document_page(report, "", {}) if self._pages else ""
        return JudgedDocument(source.name, report, page)
