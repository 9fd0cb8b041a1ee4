"""Many documents, both cores, and none of them can stop the others.

Each worker process reads and judges one document at a time under a clock and a memory cap. A document that outlasts
even the clock (a long call into C does not hear the timer) costs its worker, not the batch: the worker is killed,
the document is `unread`, and a fresh worker takes over. `multiprocessing.Pool` is not used because it waits
for a dead worker's answer for ever.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from headwright.errors import HeadwrightError, InputError
from headwright.homework import limits
from headwright.homework.document import Document
from headwright.homework.formats import FOREIGN, SUFFIXES, read_file, read_text

_SKIPPED_FOLDERS = {".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__", "node_modules"}
# A worker is killed when a document has taken this many times its processor time by the wall clock, and then some.
_PATIENCE, _GRACE = 3.0, 2.0


@dataclass(frozen=True)
class Source:
    """One document to judge: a file, or text that is already in hand (standard input)."""

    name: str
    path: Path | None = None
    text: str = ""
    refused: str = ""  # why it is not even opened


@dataclass(frozen=True)
class Judged:
    """A judged document. `text` is kept only where a page will be written from it."""

    name: str
    report: Any
    text: str = ""


def sources(paths: Sequence[str | Path]) -> list[Source]:
    """The documents that files and folders name, in order, each once. Folders are searched for known suffixes;
    links inside a folder are followed only as far as the folder itself."""
    found: dict[str, Source] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            for source in _in_folder(path):
                found.setdefault(source.name, source)
        elif path.is_file():
            found.setdefault(str(path), Source(str(path), path))
        else:
            what = "a link to nothing" if path.is_symlink() else "nothing there"
            raise InputError(
                wanted="a document or a folder of documents", got=f"{what}: {path}", attempt="check the path"
            )
    if not found:
        raise InputError(
            wanted="at least one document",
            got="no file with a known suffix",
            attempt=f"files ending in {', '.join(SUFFIXES)}",
        )
    return list(found.values())


def _in_folder(folder: Path) -> Iterator[Source]:
    root = folder.resolve()
    for base, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS and not f.startswith("."))
        for name in sorted(names):
            path = Path(base, name)
            if path.suffix.lower() not in (*SUFFIXES, *FOREIGN) or name.startswith("."):
                continue
            yield Source(str(path), path, refused=_refusal(path, root))


def _refusal(path: Path, root: Path) -> str:
    if path.is_symlink():
        try:
            goal = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return "it is a link to nothing"
        if not goal.is_relative_to(root):
            return "it is a link out of the folder"
    return "" if path.is_file() else "it is not an ordinary file"


def judged(source: Source, bank: Any = None, *, seconds: float = limits.SECONDS, keep_text: bool = False) -> Judged:
    """Read and judge one document in this process; whatever its content does, the result is a Judged."""
    from headwright.homework import judge_document

    document = Document(source.name, "")
    try:
        with limits.time_limit(seconds), np.errstate(all="ignore"):  # overflow is judged, not printed
            document = _opened(source)
            report = unread(source.name, document.unread) if document.unread else judge_document(document, bank)
    except limits.LimitReached as reason:
        report = unread(source.name, str(reason))
    except MemoryError:
        report = unread(source.name, "it needs more memory than one document may use")
    except RecursionError:
        report = unread(source.name, "it is nested too deeply")
    except Exception as reason:  # a fault of this program; it must not cost the other documents their verdicts
        report = unread(source.name, f"the checker itself failed on it ({type(reason).__name__}: {reason})")
    return Judged(source.name, report, document.text if keep_text else "")


def _opened(source: Source) -> Document:
    if source.refused:
        return Document(source.name, "", unread=source.refused)
    if source.path is None:
        return read_text(source.text, name=source.name)
    return read_file(source.path, name=source.name)


def unread(name: str, reason: str) -> Any:
    """The report of a document that could not be read: one verdict about the whole."""
    from headwright.homework.verdict import Report, Verdict

    return Report(name, (Verdict(question="*", answer="", status="unread", reason=reason),), ())


# ------------------------------------------------------------------------------------------------ workers


def judge_many(
    documents: Sequence[Source],
    bank: Any = None,
    *,
    workers: int | None = None,
    seconds: float = limits.SECONDS,
    keep_text: bool = False,
) -> Iterator[Judged]:
    """Judged documents in the order of the documents, each as soon as those before it are done."""
    workers = min(workers or _cores(), len(documents))
    if workers <= 1:
        for source in documents:
            yield judged(source, bank, seconds=seconds, keep_text=keep_text)
        return
    crew = _Crew(bank, seconds, keep_text)
    try:
        crew.hire(workers)
        yield from crew.work(documents)
    finally:
        crew.dismiss()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_STARTING, _IDLE = -2, -1  # a worker's task, where it has none


@dataclass
class _Worker:
    process: Any
    line: Connection
    task: int = _STARTING
    since: float = 0.0


class _Crew:
    def __init__(self, bank: Any, seconds: float, keep_text: bool) -> None:
        self.settings = (bank, seconds, keep_text)
        self.patience = _PATIENCE * seconds + _GRACE
        methods = mp.get_all_start_methods()
        self.context: Any = mp.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:  # import once, fork many
            self.context.set_forkserver_preload(["headwright.homework"])
        self.workers: list[_Worker] = []
        self.entry: Callable[..., None] = _worker

    def hire(self, number: int) -> None:
        for _ in range(number):
            ours, theirs = self.context.Pipe()
            process = self.context.Process(target=self.entry, args=(theirs, *self.settings), daemon=True)
            with _no_main():
                process.start()
            theirs.close()
            self.workers.append(_Worker(process, ours))

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.process.join()
            worker.line.close()
        self.workers = []

    def work(self, documents: Sequence[Source]) -> Iterator[Judged]:
        waiting, done, next_out = iter(range(len(documents))), {}, 0
        while next_out < len(documents):
            for worker in self.workers:
                # The lead over the slowest document is bounded, so that finished outcomes cannot pile up.
                if worker.task == _IDLE and len(done) < 64:
                    self._give(worker, documents, next(waiting, -1))
            for number, outcome in self._collect(documents):
                done[number] = outcome
            while next_out in done:
                yield done.pop(next_out)
                next_out += 1

    def _give(self, worker: _Worker, documents: Sequence[Source], number: int) -> None:
        if number < 0:
            return
        worker.task, worker.since = number, time.monotonic()
        with suppress(OSError):  # it died idle; collecting notices the closed line
            worker.line.send(documents[number])

    def _collect(self, documents: Sequence[Source]) -> Iterator[tuple[int, Judged]]:
        busy = [worker for worker in self.workers if worker.task >= 0]
        watched = [worker for worker in self.workers if worker.task != _IDLE]
        deadline = min((worker.since for worker in busy), default=time.monotonic()) + self.patience
        ready = wait([worker.line for worker in watched], timeout=max(0.0, deadline - time.monotonic()))
        for worker in watched:
            number = worker.task
            if worker.line in ready:
                outcome = self._heard(worker, documents)
                if outcome is not None:
                    yield number, outcome
            elif number >= 0 and time.monotonic() - worker.since > self.patience:
                yield number, self._replaced(worker, documents[number], "reading it never came to an end")

    def _heard(self, worker: _Worker, documents: Sequence[Source]) -> Judged | None:
        """What a worker said: that it is ready, or an outcome."""
        number, worker.task = worker.task, _IDLE
        try:
            said = worker.line.recv()
        except (EOFError, OSError):
            if number == _STARTING:
                raise HeadwrightError("the worker processes cannot start; try one document at a time") from None
            why = "reading it broke the reader (memory, or a fault in a library)"
            return self._replaced(worker, documents[number], why)
        return None if number == _STARTING else said

    def _replaced(self, worker: _Worker, source: Source, reason: str) -> Judged:
        worker.process.kill()
        worker.process.join()
        worker.line.close()
        self.workers.remove(worker)
        self.hire(1)
        return Judged(source.name, unread(source.name, reason))


@contextmanager
def _no_main() -> Iterator[None]:
    """Start a process that does not import the caller's script: a script without a `__main__` guard would check its
    documents again in every worker, and a notebook or standard input cannot be imported at all."""
    main = sys.modules["__main__"]
    hidden = {name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__}
    main.__spec__ = None
    try:
        yield
    finally:
        main.__dict__.update(hidden)


def _worker(line: Connection, bank: Any, seconds: float, keep_text: bool) -> None:
    limits.limit_memory()
    try:
        line.send("ready")
        while True:
            line.send(judged(line.recv(), bank, seconds=seconds, keep_text=keep_text))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        return
