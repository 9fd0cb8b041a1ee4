"""Points in, outcomes out, in the order of the points; what the store has is not computed again.

    points -> keys -> (there already?) -> batches -> executor -> store -> outcomes

Nothing is ever held of all points at once: they are read as they are needed, a bounded number of
batches is under way, and what is finished behind a slow point waits in a window of bounded size.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any

from headwright.crew.compute import compute
from headwright.crew.executor import width_of
from headwright.crew.function import full_version, source_digest
from headwright.crew.pace import Pace
from headwright.crew.record import Kept, Record, Store
from headwright.crew.values import Keys, NotPlain, plain_value, text_of
from headwright.errors import InputError
from headwright.watched import Allowance

_CHUNK = 500  # points whose keys are looked up together
_LEAD = 50_000  # points in hand beyond the one that is waited for
_LOOK = 0.5  # seconds: Windows hears Ctrl+C only between two waits


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one point."""

    point: dict[str, Any]
    text: str | None  # the value as JSON, as it is stored
    error: str  # empty, or type and message in one line
    stored: bool  # it was there already

    @property
    def value(self) -> Any:
        """What the function returned; None where it failed."""
        return None if self.text is None else json.loads(self.text)


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
    """Call `module:function` with each point's items, elsewhere; outcomes in the order of the
    points."""
    whole = full_version(function, version)
    job = _Job(function, whole, source_digest(function), allowance)
    return _Run(job, points, executor, store, retry).outcomes()


@dataclass(frozen=True)
class _Job:
    function: str
    version: str
    digest: str
    allowance: Allowance | None


class _Place:
    """One result that is waited for, by one point or by several equal ones."""

    __slots__ = ("error", "key", "point", "ready", "stored", "text", "waiting")

    def __init__(self, key: str, point: str) -> None:
        self.key = key
        self.point = point
        self.text: str | None = None
        self.error = ""
        self.ready = False
        self.stored = False
        self.waiting = 0


class _Run:
    def __init__(
        self,
        job: _Job,
        points: Iterable[Mapping[str, Any]],
        executor: Executor,
        store: Store | None,
        retry: bool,
    ) -> None:
        self._job = job
        self._keys = Keys(job.function, job.version)
        self._points = enumerate(points, 1)
        self._executor = executor
        self._store = store
        self._retry = retry
        self._pace = Pace()
        self._window: deque[tuple[dict[str, Any], _Place]] = deque()
        self._places: dict[str, _Place] = {}
        self._to_do: deque[_Place] = deque()
        self._under_way: dict[Future[Any], list[_Place]] = {}
        self._all_read = False

    def outcomes(self) -> Iterator[Outcome]:
        try:
            while True:
                self._hand_over()
                yield from self._finished()
                if self._under_way:
                    self._collect()
                elif self._all_read and not self._window:
                    return
        finally:
            for future in self._under_way:
                future.cancel()

    # -------------------------------------------------------------------------------------- reading

    def _read_chunk(self) -> None:
        """The next points into the window; those that are not there yet are to be done."""
        chunk = [self._read(number, point) for number, point in islice(self._points, _CHUNK)]
        self._all_read = len(chunk) < _CHUNK
        new = [key for _, _, key in chunk if key not in self._places]
        kept = self._store.found(new) if self._store is not None else {}
        for point, text, key in chunk:
            place = self._places.get(key)
            if place is None:
                place = self._new_place(key, text, kept.get(key))
            place.waiting += 1
            self._window.append((point, place))

    def _read(self, number: int, point: Mapping[str, Any]) -> tuple[dict[str, Any], str, str]:
        try:
            plain = plain_value(point)
            if type(plain) is not dict:
                raise NotPlain(f"it is {plain!r:.60}, no mapping of names to values")
            text = text_of(plain)
        except NotPlain as reason:
            raise InputError(
                wanted="points of plain values (numbers, texts, lists of them)",
                got=f"point {number}: {reason}",
                attempt="float(x) or x.tolist() for arrays",
            ) from None
        return plain, text, self._keys.of(text)

    def _new_place(self, key: str, text: str, kept: Kept | None) -> _Place:
        place = self._places[key] = _Place(key, text)
        if kept is not None and not (self._retry and kept[1]):
            place.text, place.error = kept
            place.ready = place.stored = True
        else:
            self._to_do.append(place)
        return place

    # ---------------------------------------------------------------------------------- handing over

    def _hand_over(self) -> None:
        """Batches, until enough are under way."""
        width = width_of(self._executor)
        while len(self._under_way) < width + width // 4 + 2:
            while len(self._to_do) < self._pace.size and self._may_read():
                self._read_chunk()
                if self._window[0][1].ready if self._window else False:
                    break
            size = min(self._pace.size, len(self._to_do))
            if size == 0:
                return
            self._submit([self._to_do.popleft() for _ in range(size)])

    def _may_read(self) -> bool:
        return not self._all_read and len(self._window) < _LEAD

    def _submit(self, batch: list[_Place]) -> None:
        allowed = self._job.allowance
        limits = None if allowed is None else (allowed.seconds, allowed.memory)
        points = [place.point for place in batch]
        future = self._executor.submit(
            compute, self._job.function, self._job.digest, points, limits
        )
        self._under_way[future] = batch

    # ------------------------------------------------------------------------------------ collecting

    def _collect(self) -> None:
        """Whatever is finished goes into the store, in one transaction, and then into the window."""
        done, _ = wait(self._under_way, timeout=_LOOK, return_when=FIRST_COMPLETED)
        records = [record for future in done for record in self._records(future)]
        if self._store is not None and records:
            self._store.add(records)
        for record in records:
            place = self._places[record.key]
            place.text = record.value
            place.error = record.error
            place.ready = True

    def _records(self, future: Future[Any]) -> list[Record]:
        batch = self._under_way.pop(future)
        answer = future.result()
        if "refused" in answer:
            raise InputError(
                wanted=f"the function {self._job.function} where the jobs run",
                got=answer["refused"],
                attempt="the module on the path of every worker",
            )
        job = self._job
        records = []
        for place, (text, error, seconds) in zip(batch, answer["results"], strict=True):
            records.append(
                Record(place.key, job.function, job.version, place.point, text, error, seconds)
            )
        self._pace.saw(len(batch), sum(record.seconds for record in records))
        return records

    def _finished(self) -> Iterator[Outcome]:
        """From the front of the window, as far as it is ready."""
        while self._window and self._window[0][1].ready:
            point, place = self._window.popleft()
            place.waiting -= 1
            if place.waiting == 0:
                del self._places[place.key]
            yield Outcome(point, place.text, place.error, place.stored)
