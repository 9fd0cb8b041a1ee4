"""Documents judged in worker processes, and none of them can stop the others.

A worker reads and judges one document at a time and serves many; the parent watches what it uses
(`watched`). A document that uses too much costs its worker, which is replaced. A worker that dies
by itself may have been ended by somebody else, so its document is tried once more. Workers stay for
the next call and end with this process.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from headwright.errors import HeadwrightError
from headwright.exercise.bank import Bank, load
from headwright.homework import limits
from headwright.homework.reading.sources import Source, named
from headwright.homework.verdict import Report, restored, unreadable
from headwright.result import plain
from headwright.watched import Allowance, Died, Ended, Watched

WORKER = "headwright.homework.worker"
_LEAD = 64  # documents in hand beyond the one that is waited for, so that outcomes cannot pile up
_LOOK = 0.5  # seconds: Windows hears Ctrl+C only between two waits


@dataclass(frozen=True)
class Judged:
    """A judged document; `page` is its HTML page where one was asked for."""

    name: str
    report: Report
    page: str = ""


def judge_many(
    documents: Sequence[Source],
    bank: Bank | None = None,
    *,
    workers: int | None = None,
    seconds: float = limits.SECONDS,
    pages: bool = False,
) -> Iterator[Judged]:
    """Judged documents in the order of the documents, each as soon as those before it are done."""
    run = _Run(Allowance(seconds, limits.WORKER_MEMORY), bank, pages)
    waiting = iter(documents)
    with ThreadPoolExecutor(min(workers or cores(), len(documents)) or 1) as pool:
        try:
            in_hand = deque(pool.submit(run.judge, source) for source in islice(waiting, _LEAD))
            while in_hand:
                yield _result(in_hand.popleft())
                in_hand.extend(pool.submit(run.judge, source) for source in islice(waiting, 1))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            run.stop()


def check(source: Any, *, bank: Bank | str | Path | None = None) -> Report:
    """Judge one document, a file or the text itself, within the limits of one document (`limits`)."""
    questions = bank if isinstance(bank, Bank) else load(bank)
    (outcome,) = judge_many([named(source)], questions)
    return outcome.report


def draw(formulas: Sequence[str]) -> dict[str, str]:
    """Formulas as pictures, as far as drawing them ends within the limits of one document."""
    run = _Run(Allowance(limits.SECONDS, limits.WORKER_MEMORY))
    try:
        drawn = run.ask({"formulas": list(formulas)})["drawn"]
    except (Ended, Died):
        return {}
    finally:
        run.stop()
    return dict(zip(formulas, drawn, strict=True))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _result(future: Future[Judged]) -> Judged:
    while not future.done():
        wait([future], timeout=_LOOK)
    return future.result()


class _Run:
    """The requests of one caller: stopping it ends the workers that are busy for it, and no others."""

    def __init__(self, allowance: Allowance, bank: Bank | None = None, pages: bool = False) -> None:
        self._allowance = allowance
        self._bank = json.dumps(plain(bank)) if bank is not None else None
        self._pages = pages
        self._busy: set[Watched] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def judge(self, source: Source) -> Judged:
        """One document; where drawing its page may be what took too long, once more without
        drawings."""
        reason = ""
        for page in ("drawn", "text") if self._pages else ("",):
            try:
                return self._judge(source, page)
            except Ended as limit:
                reason = str(limit)
        return self._unread(source, reason)

    def _judge(self, source: Source, page: str) -> Judged:
        request = {
            "name": source.name,
            "path": str(source.path) if source.path is not None else None,
            "text": source.text,
            "refused": source.refused,
            "bank": self._bank,
            "page": page,
        }
        for _ in range(2):
            try:
                answer = self.ask(request)
                return Judged(source.name, restored(answer["report"]), answer.get("page", ""))
            except Died as death:
                how = str(death)
        return self._unread(
            source,
            f"reading it ended the reader twice ({how}): a fault in a library; read it yourself",
        )

    def _unread(self, source: Source, reason: str) -> Judged:
        report = unreadable(source.name, reason)
        if not self._pages:
            return Judged(source.name, report)
        from headwright.homework.pages import document_page

        return Judged(source.name, report, document_page(report, "", {}))

    def ask(self, request: dict[str, Any]) -> Any:
        if self._stopped:
            raise Died("it was stopped")
        worker = _hired()
        with self._lock:
            self._busy.add(worker)
            if self._stopped:
                worker.end()
        try:
            return worker.ask(request, self._allowance)
        finally:
            with self._lock:
                self._busy.discard(worker)
            _dismissed(worker)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for worker in self._busy:
                worker.end()


_idle: list[Watched] = []
_desk = threading.Lock()


def _hired() -> Watched:
    """An idle worker, or a new one."""
    with _desk:
        while _idle:
            worker = _idle.pop()
            if worker.alive:
                return worker
            worker.end()
    try:
        return Watched(WORKER)
    except (Died, Ended, OSError) as reason:
        raise HeadwrightError(
            f"wanted a process that judges documents; got none that starts ({reason}); "
            f'try: python -c "import {WORKER}", which shows why'
        ) from None


def _dismissed(worker: Watched) -> None:
    """Kept for the next document, unless it is gone, has kept much memory, or there are enough."""
    fit = worker.alive and not worker.holds_more_than(limits.WORKER_MEMORY // 4)
    with _desk:
        if fit and len(_idle) < cores():
            _idle.append(worker)
            return
    worker.end()


@atexit.register
def end_idle_workers() -> None:
    with _desk:
        while _idle:
            _idle.pop().end()


if hasattr(os, "register_at_fork"):  # a forked child must not talk to its parent's workers
    os.register_at_fork(after_in_child=_idle.clear)
