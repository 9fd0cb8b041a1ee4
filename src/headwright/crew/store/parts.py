"""The store on a disk that several machines share: lines of JSON, one append-only part per writer.

Nobody writes into another's part, so nothing has to be locked, and a driver that was killed leaves
at most one torn line at the end of its own. Parts are merged when they are read, into a table on a
disk of this machine that ends with the process.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from headwright.crew.store.record import Kept, Record
from headwright.crew.store.table import Table
from headwright.errors import HeadwrightError, InputError

FOLDER = "parts"


class Parts:
    def __init__(self, folder: Path) -> None:
        self.place = str(folder.resolve())
        self._folder = folder / FOLDER
        self._folder.mkdir(exist_ok=True)
        self._own: Any = None
        self._place = tempfile.TemporaryDirectory(prefix="headwright-", ignore_cleanup_errors=True)
        try:
            self._table = Table(Path(self._place.name) / "merged.sqlite", durable=False)
            self._merge()
        except BaseException:
            self._place.cleanup()
            raise

    def _merge(self) -> None:
        try:
            for part in sorted(self._folder.glob("*.jsonl")):
                self._table.add(_records(part))
        except BaseException:
            self._table.close()
            raise

    def found(self, keys: Sequence[str]) -> dict[str, Kept]:
        return self._table.found(keys)

    def add(self, records: Iterable[Record]) -> None:
        kept = list(records)
        lines = [json.dumps(record._asdict()).encode("ascii") + b"\n" for record in kept]
        self._append(b"".join(lines))
        self._table.add(kept)

    def _append(self, data: bytes) -> None:
        """On the disk, or not there at all: half a line would spoil what follows it."""
        if self._own is None:
            name = f"{platform.node() or 'unnamed'}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            self._own = (self._folder / name).open("xb", buffering=0)
        end = self._own.tell()
        try:
            view = memoryview(data)
            while view:
                view = view[self._own.write(view) :]
            os.fsync(self._own.fileno())
        except BaseException as reason:
            with suppress(OSError):
                self._own.seek(end)
                self._own.truncate()
            if not isinstance(reason, OSError):
                raise
            raise HeadwrightError(
                f"wanted to keep results in {self._folder}; got: {reason.strerror}; try: free some "
                "space, then the same command again, which continues from what is stored"
            ) from None

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
        self._table.close()
        self._place.cleanup()

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _records(part: Path) -> Iterator[Record]:
    """Line by line; a last line without an end was never acknowledged."""
    with part.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield Record(**json.loads(line))
            except (ValueError, TypeError):
                raise InputError(
                    wanted="lines of results",
                    got=f"line {number} of {part} is none",
                    attempt="delete that line: its point is computed again",
                ) from None
