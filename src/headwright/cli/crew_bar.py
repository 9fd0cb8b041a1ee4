"""The progress of many jobs on a terminal: how many are there, how fast they come, how many are
left and how many failed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from headwright.cli.interrupt import raise_if_pressed

_EVERY = 0.1  # seconds: a million stored outcomes come within a few


class Tally:
    """What has come so far. What was stored before says nothing about the speed."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.come = 0
        self.computed = 0
        self.failed = 0
        self._start = time.monotonic()

    def note(self, outcome: Any) -> None:
        """An outcome has an `error`, empty where it has none, and says whether it was `stored`."""
        self.come += 1
        self.computed += not outcome.stored
        self.failed += bool(outcome.error)

    @property
    def words(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = self.computed / seconds
        parts = [
            f"{self.come:,} of {self.total:,}",
            f"{rate:,.3g}/s",
            f"{self.total - self.come:,} left",
            f"{self.failed:,} failed",
        ]
        return ", ".join(parts)


def counted(outcomes: Iterable[Any], label: str, tally: Tally) -> Iterator[Any]:
    """The same outcomes under a bar on a terminal's stderr, in silence elsewhere; Ctrl+C is heard
    between two."""
    with _bar(label, tally) as update:
        shown = 0.0
        for outcome in outcomes:
            raise_if_pressed()
            tally.note(outcome)
            yield outcome
            now = time.monotonic()
            if now - shown > _EVERY:
                shown = now
                update()


@contextmanager
def _bar(label: str, tally: Tally) -> Iterator[Callable[[], None]]:
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return

    # Here: a command that shows no bar starts sooner.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    screen = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as bar:
        task = bar.add_task(label, total=tally.total, words="")
        yield lambda: bar.update(task, completed=tally.come, words=tally.words)
