"""A table of results in SQLite, which both stores look their keys up in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headwright.crew.store.record import Kept, Record
from headwright.errors import HeadwrightError, InputError

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
# A point that had failed may be tried again; a value never changes.
_ADD = """
INSERT INTO results (key, function, version, point, value, error, seconds)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, error = excluded.error, seconds = excluded.seconds
WHERE results.value IS NULL
"""
_CACHE = -65536  # KiB of pages, most of the keys of a million results
_CHUNK = 500  # keys of one question; every SQLite takes so many parameters


class Table:
    """`durable`: what is added is on the disk before `add` returns."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        self._path = path
        with explained(path):
            self._connection = sqlite3.connect(path, timeout=30)
        try:
            with explained(path):
                self._prepare(durable)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, durable: bool) -> None:
        journal = "WAL" if durable else "OFF"
        self._connection.execute(f"PRAGMA journal_mode={journal}")
        self._connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")
        self._connection.execute(f"PRAGMA cache_size={_CACHE}")
        self._connection.execute(_SCHEMA)
        self._connection.execute("SELECT key, value, error, seconds FROM results LIMIT 1")
        self._connection.commit()

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        kept: dict[str, Kept] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            question = f"SELECT key, value, error FROM results WHERE key IN ({marks})"
            with explained(self._path):
                rows = self._connection.execute(question, chunk).fetchall()
            kept.update((key, (value, error)) for key, value, error in rows)
        return kept

    def add(self, records: Iterable[Record]) -> None:
        """All or none of them."""
        with explained(self._path), self._connection:
            self._connection.executemany(_ADD, records)

    def close(self) -> None:
        self._connection.close()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """SQLite's errors in words that say what to do."""
    try:
        yield
    except sqlite3.DatabaseError as reason:
        kind = getattr(reason, "sqlite_errorname", "")
        if kind.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise HeadwrightError(
                f"wanted to keep results in {path}; got: {reason}; try: free some space, then the "
                "same command again, which continues from what is stored"
            ) from None
        if kind.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            attempt = "a folder of your own"
            raise InputError(
                wanted="a store that can be written", got=f"{path}: {reason}", attempt=attempt
            ) from None
        if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise HeadwrightError(
                f"wanted to write {path}; got: another program has locked it; try: close that "
                "program, then the same command again"
            ) from None
        raise InputError(
            wanted="a store of results",
            got=f"{path}: {reason}",
            attempt="another folder; what is readable of this one: sqlite3 FILE .recover",
        ) from None
