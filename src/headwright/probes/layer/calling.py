"""One call of somebody's code: in silence, on copies, within the time, and told apart from ours.

Only the callable that was given runs. What it prints is dropped, what it raises becomes a
`Refusal`, and whether it wrote into its input is remembered (`Caller.wrote`).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.probes.alarm import alarm, check
from headwright.probes.layer.layer import OutOfTime, Refusal
from headwright.probes.layer.library import is_array, numbers

_LONGEST = 160  # characters of a reason


@dataclass
class Caller:
    """Counts and limits the calls of one layer. `deadline` is a reading of time.monotonic."""

    deadline: float = float("inf")
    calls: int = 0
    wrote: bool = False  # it has changed an array that it was given
    change: float = 0.0  # by how much at most

    def call(self, function: Callable[..., Any], *arrays: Any, **words: Any) -> Any:
        check(self.deadline)
        self.calls += 1
        given = [*arrays, *(word for word in words.values() if is_array(word))]
        before = [numbers(array).copy() for array in given]
        try:
            with _silence(), alarm(self.deadline):
                made = function(*arrays, **words)
        except OutOfTime:
            raise
        # Whatever the user's code raises, the answer is the same; an end of the program, too.
        except (Exception, SystemExit) as reason:
            raise Refusal(_line(reason)) from reason
        for old, array in zip(before, given, strict=True):
            new = numbers(array)
            if not np.array_equal(old, new, equal_nan=True):
                self.wrote = True
                self.change = max(self.change, largest_change(old, new))
        return made


def largest_change(old: np.ndarray, new: np.ndarray) -> float:
    """Infinite where an array has another shape now."""
    return float(np.abs(new - old).max()) if old.shape == new.shape else float("inf")


@contextmanager
def _silence() -> Iterator[None]:
    nowhere = io.StringIO()
    with redirect_stdout(nowhere), redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _line(reason: BaseException) -> str:
    lines = str(reason).splitlines() or [""]
    return f"{type(reason).__name__}: {lines[0][:_LONGEST]}"


def first_array(made: Any) -> Any:
    """The output in what a layer returned: itself, the first array of a tuple, or of a record."""
    if is_array(made):
        return _with_numbers(made)
    if hasattr(made, "last_hidden_state"):
        return _with_numbers(made.last_hidden_state)
    parts = made.values() if isinstance(made, dict) else made
    try:
        for part in parts:
            if is_array(part):
                return _with_numbers(part)
    except TypeError:
        pass
    raise Refusal(f"returned {type(made).__name__}, which holds no array")


def _with_numbers(array: Any) -> Any:
    if getattr(array, "is_meta", False):
        raise Refusal("returned an array on the meta device, which has no numbers")
    if "complex" in str(array.dtype):
        raise Refusal(f"returned {array.dtype} numbers")
    return array
