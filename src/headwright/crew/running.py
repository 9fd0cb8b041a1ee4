"""Points in, outcomes out, in the order of the points; what the store has is not computed again.

    points -> keys -> (there already?) -> batches -> executor -> store -> outcomes

Nothing is ever held of all points at once: they are read as they are needed, a bounded number of
batches is under way, and what is finished behind a slow point waits in a window of bounded size.
"""

from __future__ import annotations

import json
import platform
import secrets
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import Any

from headwright.crew.compute import compute, task_text
from headwright.crew.executor import width_of
from headwright.crew.function import full_version, source_digest
from headwright.crew.pace import Pace
from headwright.crew.software import software
from headwright.crew.store.record import Record, Store
from headwright.crew.values import Keys, NotPlain, encoded, plain_value, shortened
from headwright.crew.window import MOST_IN_BATCH, Outcome, Place, Window
from headwright.errors import HeadwrightError, InputError
from headwright.watched.process import Allowance

_CHUNK = 2_000  # points whose keys are looked up together
_LOOK = 0.5  # seconds: Windows hears Ctrl+C only between two waits
_MOST_LOST = 5  # times that a cluster may give up on one batch, after repeats of its own


def run(
    function: str,
    points: Iterable[Mapping[str, Any]],
    *,
    executor: Executor,
    store: Store | None = None,
    version: str = "",
    retry: bool = False,
    allowance: Allowance | None = None,
) -> Iterator[Outcome]:
    """Call `module:function` with the items of each point, elsewhere; outcomes in the order of the
    points.

    `version` is the job's own: results of another one are computed again. The engine's version and
    the source of a user's module are added to it. `retry`: points that failed are computed again.
    """
    source = source_digest(function)
    whole = full_version(version, source)
    limits = None if allowance is None else (allowance.seconds, allowance.memory)
    keys = Keys(function, whole)
    job = {
        "function": function,
        "source": source,
        "run": secrets.token_hex(8) if source else "",
        "software": software(),
        "allowance": limits,
        "version": whole,
        "owner": "" if store is None else keys.of(encoded(f"{platform.node()}:{store.place}")),
    }
    reading = _Reading(points, keys, store, retry)
    return _Run(job, whole, reading, executor).outcomes()


def most_in_hand(width: int) -> int:
    """Batches that are handed over at a time: one for every worker, and a few that wait so that
    nobody does. Whatever is killed, no more of them than these are done twice."""
    return width + width // 4 + 2


class _Reading:
    """Points as they are needed, each with its place in the window."""

    def __init__(
        self,
        points: Iterable[Mapping[str, Any]],
        keys: Keys,
        store: Store | None,
        retry: bool,
    ) -> None:
        self._points = enumerate(points, 1)
        self._keys = keys
        self.store = store
        self._retry = retry
        self.ended = False

    def next_chunk(self, window: Window) -> None:
        """The next points into the window; those that are not stored are to be done."""
        chunk = self._chunk()
        new = {key for _, _, key in chunk if not window.has(key)}
        # Sorted keys lie near each other in the store.
        kept = self.store.found(sorted(new)) if self.store is not None and new else {}
        for point, text, key in chunk:
            found = kept.get(key)
            if found is not None and self._retry and found[1]:
                found = None
            window.append(point, text, key, found)

    def _chunk(self) -> list[tuple[dict[str, Any], str, str]]:
        """Points with their texts and keys."""
        chunk = []
        characters = 0
        for number, point in self._points:
            plain, text = _plain(number, point)
            chunk.append((plain, text, self._keys.of(text)))
            characters += len(text)
            if len(chunk) == _CHUNK or characters >= MOST_IN_BATCH:
                return chunk
        self.ended = True
        return chunk


def _plain(number: int, point: Any) -> tuple[dict[str, Any], str]:
    """A point of plain values, and its text."""
    try:
        plain = plain_value(point)
        if type(plain) is not dict:
            raise NotPlain(f"{plain!r:.60} is no mapping of names to values")
        return plain, encoded(plain)
    except NotPlain as reason:
        raise InputError(
            wanted="points of plain values (numbers, texts, lists of them)",
            got=f"point {number}: {reason}",
            attempt="float(x) for a number, x.tolist() for an array",
        ) from None


class _Run:
    def __init__(
        self, job: dict[str, Any], version: str, reading: _Reading, executor: Executor
    ) -> None:
        self._job = job
        self._version = version
        self._reading = reading
        self._executor = executor
        self._pace = Pace()
        self._window = Window()
        self._under_way: dict[Future[Any], list[Place]] = {}
        self._lost: dict[str, int] = {}  # by the key of a batch's first point

    def outcomes(self) -> Iterator[Outcome]:
        self._take_over()
        try:
            while not (self._reading.ended and self._window.empty):
                self._hand_over()
                yield from self._window.finished()
                if self._under_way:
                    self._collect()
        finally:
            for future in self._under_way:
                future.cancel()

    def _take_over(self) -> None:
        """Store what a killed driver of the same store had under way, where workers know it."""
        left_over = getattr(self._executor, "left_over", None)
        if self._reading.store is None or left_over is None:
            return
        name = self._job["function"]
        rows = left_over(self._job["owner"])
        self._reading.store.add(Record(key, name, self._version, *row) for key, *row in rows)

    def _hand_over(self) -> None:
        """Batches, until enough are under way or what is stored can be given out."""
        most = most_in_hand(width_of(self._executor))
        while len(self._under_way) < most:
            while self._window.to_do < self._pace.size and self._may_read():
                self._reading.next_chunk(self._window)
                if self._window.first_is_ready:
                    return
            batch = self._window.taken(self._pace.size)
            if not batch:
                return
            self._submit(batch)

    def _may_read(self) -> bool:
        return not self._reading.ended and not self._window.full

    def _submit(self, batch: list[Place]) -> None:
        points = [place.point for place in batch]
        try:
            future = self._executor.submit(compute, task_text(self._job, points))
        except RuntimeError as reason:  # shut down, or broken
            raise self._stopped(str(reason)) from None
        self._under_way[future] = batch

    def _collect(self) -> None:
        """Whatever is finished goes into the store in one transaction, then into the window."""
        done, _ = wait(self._under_way, timeout=_LOOK, return_when=FIRST_COMPLETED)
        finished: list[tuple[Place, Record]] = []
        problems: list[HeadwrightError] = []
        for future in done:
            try:
                finished += self._records(future)
            except HeadwrightError as problem:  # what the others have brought is kept
                problems.append(problem)
        if self._reading.store is not None and finished:
            self._reading.store.add(record for _, record in finished)
        for place, record in finished:
            self._window.settle(place, record.value, record.error)
        if problems:
            raise problems[0]

    def _records(self, future: Future[Any]) -> list[tuple[Place, Record]]:
        batch = self._under_way.pop(future)
        answer = self._answer(future, batch)
        if answer is None:
            return []
        if "refused" in answer:
            raise InputError(
                wanted=f"{self._job['function']} as it is here wherever jobs run",
                got=answer["refused"],
                attempt="the same modules and versions on the path of every worker",
            )
        results = answer["results"]
        self._pace.saw(len(batch), sum(seconds for _, _, seconds in results))
        name = self._job["function"]
        return [
            (place, Record(place.key, name, self._version, shortened(place.point), *result))
            for place, result in zip(batch, results, strict=True)
        ]

    def _answer(self, future: Future[Any], batch: list[Place]) -> dict[str, Any] | None:
        """None where the batch was lost with its worker and is under way again."""
        try:
            return json.loads(future.result())
        except CancelledError:
            raise self._stopped("the scheduler is gone, or somebody stopped it") from None
        except HeadwrightError:
            raise
        except Exception as reason:
            if not isinstance(reason, getattr(self._executor, "lost", ())):
                raise self._stopped(f"{type(reason).__name__}: {reason}") from reason
        first = batch[0].key
        self._lost[first] = self._lost.get(first, 0) + 1
        if self._lost[first] > _MOST_LOST:
            raise self._stopped("its workers keep ending at the same batch")
        self._submit(batch)
        return None

    def _stopped(self, reason: str) -> HeadwrightError:
        keeps = "; what is stored is kept" if self._reading.store is not None else ""
        words = " ".join(reason.split())[:300]
        return HeadwrightError(
            f"wanted workers until the last point; got: {words}{keeps}; try: the same command "
            "again, which continues from there"
        )
