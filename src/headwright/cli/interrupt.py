"""Ctrl+C that cannot get lost.

Python raises KeyboardInterrupt wherever it happens to be. Inside a finaliser or the callback of a
weak reference it is printed and forgotten, and the work goes on. So a press that was forgotten is
made again a moment later; every press is noted as well, and long work asks between two steps.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

_AGAIN = 0.05  # seconds, in which the finaliser or callback ends

_pressed = threading.Event()


@contextlib.contextmanager
def noting_presses() -> Iterator[None]:
    """Inside the block a press is noted and raised. Where Ctrl+C means something else already,
    nothing changes."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    told = sys.unraisablehook

    def tell(lost: Any) -> None:
        if lost.exc_type is KeyboardInterrupt:
            threading.Timer(_AGAIN, _press_again).start()
        else:
            told(lost)

    sys.unraisablehook = tell
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = told
        _pressed.clear()


def _note(number: int, frame: Any) -> None:
    _pressed.set()
    raise KeyboardInterrupt


def _press_again() -> None:
    """Unless the work has stopped meanwhile."""
    if _pressed.is_set():
        _thread.interrupt_main()


def raise_if_pressed() -> None:
    """Between two steps: was there a press that nobody heard?"""
    if _pressed.is_set():
        raise KeyboardInterrupt
