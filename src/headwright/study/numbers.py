"""What a function may return: a dictionary of numbers. Anything else fails its point, in the store
as well, so that `--retry` computes it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headwright.crew.store.record import Kept, Record, Store
from headwright.study.grid import ERROR

_MOST_SHOWN = 80


def fault(value: Any, parameters: Mapping[str, Any]) -> str:
    """Why it is no row of a table, or nothing. None is a number that is not there."""
    if not isinstance(value, dict) or not value:
        return _said("a dictionary of numbers", value, 'return {"leak": 0.1}')
    for name, number in value.items():
        if name in parameters or name == ERROR:
            return _said("names of its own for the numbers", name, "another name than a parameter")
        if not isinstance(number, bool | int | float | None):
            return _said(f"a number for {name}", number, "a number per name, or None for none")
    return ""


def _said(wanted: str, got: Any, attempt: str) -> str:
    return f"wanted {wanted}; got {got!r:.{_MOST_SHOWN}}; try: {attempt}"


class NumbersOnly:
    """A store that keeps a result which is no row as a failed one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.place = store.place

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        return self._store.found(keys)

    def add(self, records: Iterable[Record]) -> None:
        self._store.add([_checked(record) for record in records])

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> NumbersOnly:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(record: Record) -> Record:
    if record.value is None:
        return record
    wrong = fault(json.loads(record.value), json.loads(record.point))
    return record._replace(value=None, error=wrong) if wrong else record
