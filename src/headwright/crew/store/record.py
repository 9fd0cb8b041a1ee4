"""What a store keeps of one point, and what every store can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Record(NamedTuple):
    """One row, readable by hand."""

    key: str
    function: str
    version: str
    point: str  # JSON
    value: str | None  # JSON; None where the point failed
    error: str  # empty, or why it failed
    seconds: float


# The value and the error of what is there
Kept = tuple[str | None, str]


@runtime_checkable
class Store(Protocol):
    @property
    def place(self) -> str:
        """Where it is: no two stores have the same."""
        ...

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        """What is there of these keys."""
        ...

    def add(self, records: Iterable[Record]) -> None:
        """Keep them; they are on the disk when this returns. A value that is there stays; what had
        failed is replaced."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Store: ...

    def __exit__(self, *_: object) -> None: ...
