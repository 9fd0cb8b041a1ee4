"""How much one document may cost. A document that would cost more is `unread`, with the limit as the reason.

Sizes are checked before work starts, expansion while it runs, and a clock stops everything else. The clock is
the interval timer of the process: it interrupts pure-Python loops without asking every loop to look at a
watch, and it counts processor time, so that a busy machine does not change verdicts. It exists only in a
process's main thread; elsewhere the size limits alone have to do.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwright.errors import HeadwrightError

MOST_BYTES = 40_000_000  # of a file (a notebook may carry pictures)
MOST_CHARACTERS = 1_000_000  # of readable text; a long thesis has about as many
MOST_EXPANSIONS = 5_000  # of macros in one document
MOST_EXPANDED = 300_000  # characters written by macros
MOST_NESTING = 60  # macros within macros
MOST_SEGMENTS = 40_000
SECONDS = 5.0  # of processor time
_AGAIN = 0.5  # seconds between further alarms
WORKER_MEMORY = 2_000_000_000  # bytes of address space beyond what the worker started with


class LimitReached(HeadwrightError):
    """A document would cost more than one document may; `str(error)` names the limit."""


@contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise LimitReached in the body after `seconds` of processor time."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(signum: int, frame: Any) -> None:
        raise LimitReached(f"reading took longer than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    # It rings again: an exception raised while a finaliser runs is swallowed by the interpreter.
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def limit_memory(extra: int = WORKER_MEMORY) -> None:
    """Cap this process's address space; past it Python raises MemoryError. For worker processes only."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + extra
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
