"""Results on disk: whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from headwright.result import plain

_finished: ContextVar[list[Path] | None] = ContextVar("finished", default=None)


@contextlib.contextmanager
def noting_writes() -> Iterator[list[Path]]:
    """The files that were finished inside the block, for whoever has to say what an interrupted run
    leaves."""
    paths: list[Path] = []
    token = _finished.set(paths)
    try:
        yield paths
    finally:
        _finished.reset(token)


def write_text(path: str | Path, text: str) -> Path:
    """UTF-8. What has no code there, half of a surrogate pair, is spelled out, which is also how
    JSON writes it."""
    return write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_json(path: str | Path, thing: Any) -> Path:
    return write_text(
        path, json.dumps(plain(thing), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )


def write_bytes(path: str | Path, data: bytes) -> Path:
    """Write beside the goal and rename over it: an interrupted run leaves the old file or none. A
    link stays and its target is written; a device, a pipe or the program's own output is written
    to, not replaced."""
    path = Path(path)
    there = None
    looked = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = _status(path)
        looked = True
        own = _own_output(there)
        if own is not None:
            own.flush()
            own.buffer.write(data)
            own.flush()
        elif there is not None and not stat.S_ISREG(there.st_mode):
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data, there)
    except OSError as reason:
        # Named after the goal: the name of the temporary file helps nobody.
        raise OSError(reason.errno, reason.strerror or str(reason), str(path)) from None
    except KeyboardInterrupt:
        # It may come after the rename: another file stands there now, and whoever tells what is
        # left must know.
        now = _status(path)
        if looked and now is not None and (there is None or now.st_ino != there.st_ino):
            _note(path)
        raise
    _note(path)
    return path


def _note(path: Path) -> None:
    finished = _finished.get()
    if finished is not None:
        finished.append(path)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _own_output(there: os.stat_result | None) -> Any:
    """The stream of this program that goes to that very place, as `/dev/stdout` does, if it can
    take bytes."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or no file at all
            if (
                there is not None
                and os.path.samestat(there, os.fstat(stream.fileno()))
                and stream.buffer
            ):
                return stream
    return None


def _replace(goal: Path, data: bytes, there: os.stat_result | None) -> None:
    """Put a new file where the old one (or none) is; its contents are on the disk before it has the
    name."""
    if there is not None and not os.access(goal, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    # The system takes the umask off this; an old file's own permissions are kept instead.
    mode = 0o666 if there is None else stat.S_IMODE(there.st_mode)
    temporary = goal.with_name(f".headwright-{os.urandom(8).hex()}")
    try:
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
        )
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if there is not None:
            _inherit(temporary, there)
        os.replace(temporary, goal)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(goal.parent)


def _inherit(temporary: Path, there: os.stat_result) -> None:
    """Owner and permissions of the file that is replaced."""
    # Only root may give files away, and not on Windows
    with contextlib.suppress(OSError, AttributeError):
        os.chown(temporary, there.st_uid, there.st_gid)
    os.chmod(temporary, stat.S_IMODE(there.st_mode))


def _sync_folder(folder: Path) -> None:
    """The rename itself reaches the disk, where folders can be synced at all (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
