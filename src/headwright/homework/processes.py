"""Processes that judge documents: taken when they are needed, kept for the next call while they are
fit, ended with this process.

The parent watches what each of them uses (`watched`). A document that uses too much costs its
process, which is replaced; and whoever stops asking ends only the processes that are busy for him.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from headwright.errors import HeadwrightError
from headwright.homework import limits
from headwright.watched import Allowance, Died, Ended, Watched

# By name: its imports are the judges, which the process that asks does not need.
MODULE = "headwright.homework.judging_process"


class Requests:
    """The requests of one caller: stopping them ends the processes that are busy for it, and no
    others."""

    def __init__(self, seconds: float, memory: int = limits.WORKER_MEMORY) -> None:
        self._allowance = Allowance(seconds, memory)
        self._busy: set[Watched] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any]) -> Any:
        if self._stopped:
            raise Died("it was stopped")
        process = _taken()
        with self._lock:
            self._busy.add(process)
            if self._stopped:
                process.end()
        try:
            return process.ask(request, self._allowance)
        finally:
            with self._lock:
                self._busy.discard(process)
            _given_back(process)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._busy:
                process.end()


_idle: list[Watched] = []
_idle_lock = threading.Lock()


def _taken() -> Watched:
    """An idle process, or a new one."""
    with _idle_lock:
        while _idle:
            process = _idle.pop()
            if process.alive:
                return process
            process.end()
    try:
        return Watched(MODULE)
    except (Died, Ended, OSError) as reason:
        raise HeadwrightError(
            f"wanted a process that judges documents; got none that starts ({reason}); "
            f'try: python -c "import {MODULE}", which shows why'
        ) from None


def _given_back(process: Watched) -> None:
    """Kept for the next document, unless it is gone, has kept much memory, or there are enough."""
    fit = process.alive and not process.holds_more_than(limits.WORKER_MEMORY // 4)
    with _idle_lock:
        if fit and len(_idle) < cores():
            _idle.append(process)
            return
    process.end()


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@atexit.register
def end_idle() -> None:
    with _idle_lock:
        while _idle:
            _idle.pop().end()


if hasattr(os, "register_at_fork"):  # a forked child must not talk to its parent's processes
    os.register_at_fork(after_in_child=_idle.clear)
