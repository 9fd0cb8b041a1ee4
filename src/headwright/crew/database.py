"""The store on a local disk: one SQLite file, in WAL mode so that others can read it meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from headwright.crew.record import Kept, Record
from headwright.errors import InputError

NAME = "results.sqlite"
_LOCK = "driver.lock"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY,
    function TEXT NOT NULL,
    version TEXT NOT NULL,
    point TEXT NOT NULL,
    value TEXT,
    error TEXT NOT NULL,
    seconds REAL NOT NULL
)
"""
_CACHE = -65536  # KiB of pages: enough for the keys of a million results
_CHUNK = 500  # keys of one question; SQLite allows a few hundred parameters everywhere


class Database:
    """Only the driver writes, and only one driver at a time: the lock ends with its process."""

    def __init__(self, folder: Path) -> None:
        self._lock = _locked(folder)
        try:
            self._connection = sqlite3.connect(folder / NAME, timeout=30)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute(f"PRAGMA cache_size={_CACHE}")
            self._connection.execute(_SCHEMA)
            self._connection.commit()
        except BaseException:
            self._lock.close()
            raise

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        kept: dict[str, Kept] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            question = f"SELECT key, value, error FROM results WHERE key IN ({marks})"
            rows = self._connection.execute(question, chunk)
            kept.update((key, (value, error)) for key, value, error in rows)
        return kept

    def add(self, records: Iterable[Record]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)", records
            )

    def close(self) -> None:
        self._connection.close()
        self._lock.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(folder: Path) -> sqlite3.Connection:
    """A lock that every system has and that ends with its process, however that ends."""
    lock = sqlite3.connect(folder / _LOCK, timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        raise InputError(
            wanted=f"a store that nobody else writes at {folder}",
            got="one that another process is writing",
            attempt="wait for it to end, or another folder",
        ) from None
    return lock
