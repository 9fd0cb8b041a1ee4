"""A limit for code that is not ours: an alarm rings inside the call, where the system has alarms.

Only the main thread hears it, and only between two steps of Python; elsewhere the time is looked at
between calls.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwright.probes.layer.layer import OutOfTime


def check(deadline: float) -> None:
    """`deadline` is a reading of time.monotonic."""
    if time.monotonic() > deadline:
        raise OutOfTime("the time limit was reached")


@contextmanager
def alarm(deadline: float) -> Iterator[None]:
    """OutOfTime is raised in the block at the deadline; the alarm that was set before, if any, is
    left alone."""
    check(deadline)
    in_main = threading.current_thread() is threading.main_thread()
    usable = in_main and hasattr(signal, "setitimer") and deadline != float("inf")
    if not usable or signal.getitimer(signal.ITIMER_REAL)[0] > 0:
        yield
        check(deadline)
        return

    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    check(deadline)


def _ring(number: int, frame: Any) -> None:
    raise OutOfTime("the time limit was reached")
