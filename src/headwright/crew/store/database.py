"""The store on a local disk: one SQLite file, in WAL mode so that others can read it meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from headwright.crew.store.record import Kept, Record
from headwright.crew.store.table import Table, explained
from headwright.errors import InputError

NAME = "results.sqlite"
LOCK = "driver.lock"


class Database:
    """Only the driver writes, and only one driver at a time."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder.resolve())
        self._lock = _locked(folder)
        try:
            self._table = Table(folder / NAME, durable=True)
        except BaseException:
            self._lock.close()
            raise

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        return self._table.found(keys)

    def add(self, records: Iterable[Record]) -> None:
        self._table.add(records)

    def close(self) -> None:
        self._table.close()
        self._lock.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(folder: Path) -> sqlite3.Connection:
    """A lock that every system has and that ends with its process, however that ends."""
    path = folder / LOCK
    with explained(path):
        lock = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        with explained(path):
            _begin(lock, folder)
    except BaseException:
        lock.close()
        raise
    return lock


def _begin(lock: sqlite3.Connection, folder: Path) -> None:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as reason:
        if reason.sqlite_errorname != "SQLITE_BUSY":
            raise
        raise InputError(
            wanted="a store that nobody else is writing",
            got=f"another process is writing {folder}",
            attempt="wait until it ends, or use another folder",
        ) from None
