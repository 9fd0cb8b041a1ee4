"""Rows of a benchmark are told as they come: who runs it listens, and a benchmark that nobody
listens to is silent.

A benchmark passes what makes its rows through `as_they_come`, and returns the rows all the same.
Where only all parts together make a row, it passes the parts through `watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Row = dict[str, Any]
# A row, how many there are with it, and how many there will be if that is known.
Listener = Callable[[Row, int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def as_they_come(rows: Iterable[Row], total: int | None = None) -> Iterator[Row]:
    """The rows, each told when it is there."""
    listener = _listener.get()
    for done, row in enumerate(rows, 1):
        if listener is not None:
            listener(row, done, total)
        yield row


def watched(
    parts: Iterable[Any], described: Callable[[Any], Row], total: int | None = None
) -> list[Any]:
    """All parts, each told when it is there."""
    kept = []

    def rows() -> Iterator[Row]:
        for part in parts:
            kept.append(part)
            yield described(part)

    for _ in as_they_come(rows(), total):
        pass
    return kept


def in_one_line(row: Row) -> str:
    """`tokens 1024, ratio 1.08`"""
    return ", ".join(f"{name} {cell(value)}" for name, value in row.items() if value != "")


def cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
