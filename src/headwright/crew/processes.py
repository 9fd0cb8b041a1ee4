"""Processes that compute: taken when they are needed, kept for the next call while they are fit,
ended with this process.

The parent watches what each of them uses (`watched`). A request that uses too much costs its
process, which is replaced; and whoever stops asking ends only the processes that are busy for him.

A process has imported the job's module when it is ready, so that no point pays for that. What it
imported of a user's stays as it was then; so it serves one run, and the next finds what was edited.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import Any, NamedTuple

from headwright.errors import HeadwrightError
from headwright.watched.process import Allowance, Died, Ended, Watched

# By name: what it imports is the job, which the process that asks does not need.
MODULE = "headwright.crew.worker"
# Bytes that a process may have kept of earlier requests and still serve the next one
MOST_KEPT = 500_000_000


class _Kind(NamedTuple):
    """What an idle process has imported, and from where."""

    module: str
    run: str  # empty for this package, whose source does not change
    path: tuple[str, ...]


class Requests:
    """The requests of one caller: stopping them ends the processes that are busy for it, and no
    others."""

    def __init__(self) -> None:
        self._busy: set[Watched] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], allowance: Allowance) -> Any:
        """The request has a `function` to call, and the `run` that it belongs to."""
        if self._stopped:
            raise Died("it was stopped")
        kind = _Kind(request["function"].partition(":")[0], request["run"], tuple(sys.path))
        process = _taken(kind, request["function"])
        with self._lock:
            self._busy.add(process)
            if self._stopped:
                process.end()
        try:
            return process.ask(request, allowance)
        finally:
            with self._lock:
                self._busy.discard(process)
            _given_back(kind, process)

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._busy:
                process.end()


_idle: list[tuple[_Kind, Watched]] = []
_idle_lock = threading.Lock()


def start_ahead(function: str) -> None:
    """A process for a function of this package, unless one is idle: it imports while its caller
    still reads what is to be computed."""
    kind = _Kind(function.partition(":")[0], "", tuple(sys.path))
    with _idle_lock:
        if any(idle == kind for idle, _ in _idle):
            return
    with suppress(OSError):  # whoever asks is told
        _keep(kind, Watched(MODULE, function))


def _taken(kind: _Kind, function: str) -> Watched:
    """An idle process of this kind, or a new one; ready in either case."""
    try:
        process = _idle_one(kind) or Watched(MODULE, function)
        process.wait_until_ready()
        return process
    except (Died, Ended, OSError) as reason:
        raise HeadwrightError(
            f"wanted a process that computes; got none that starts ({reason}); "
            f'try: python -c "import {MODULE}, {kind.module}", which shows why'
        ) from None


def _idle_one(kind: _Kind) -> Watched | None:
    with _idle_lock:
        for place in reversed(range(len(_idle))):
            if _idle[place][0] == kind:
                _, process = _idle.pop(place)
                if process.alive:
                    return process
                process.end()
    return None


def _given_back(kind: _Kind, process: Watched) -> None:
    """Kept for the next request, unless it is gone or has kept much memory."""
    if not process.alive or process.holds_more_than(MOST_KEPT):
        process.end()
        return
    _keep(kind, process)


def _keep(kind: _Kind, process: Watched) -> None:
    """In place of the one that has been idle for longest where there are enough."""
    with _idle_lock:
        _idle.append((kind, process))
        surplus = [_idle.pop(0)[1]] if len(_idle) > cores() else []
    for idle in surplus:
        idle.end()


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@atexit.register
def end_idle() -> None:
    with _idle_lock:
        while _idle:
            _idle.pop()[1].end()


def _forget_after_fork() -> None:
    """A forked child must not talk to its parent's processes, nor wait for a lock that a thread of
    its parent held."""
    global _idle_lock
    _idle_lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
