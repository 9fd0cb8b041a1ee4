"""Arrays and results on disk. Reading never unpickles, and asks for no more memory than a file can
fill; writing is whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import math
import os
import secrets
import stat
import sys
import zipfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import plain

# Bytes of one compressed array; what is stored plainly is as large as its file
MOST_UNPACKED = 1 << 30


# ------------------------------------------------------------------------------------------ reading


def read_array(path: str | Path) -> np.ndarray:
    """A finite float array from `.npy`, `.npz`, `.csv`, `.json` or `.safetensors` (one array per
    file, or `file.npz:name` to pick one)."""
    file, member = _place(str(path))
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise InputError(
            wanted=f"an array file ({known})", got=file.name, attempt="np.save('keys.npy', K)"
        )
    try:
        found = reader(file, member)
    except InputError:
        raise
    except (
        Exception
    ) as reason:  # readers fail in many ways on a damaged file; all mean the same to the caller
        raise InputError(
            wanted=f"readable {file.suffix} data",
            got=f"{file.name}: {_first_line(reason)}",
            attempt="write the file again",
        ) from None
    _, (array,) = inputs.arrays(**{file.name: found})
    if 0 in array.shape:
        raise InputError(
            wanted=f"numbers in {file.name}", got="an empty array", attempt="check the file"
        )
    return array


def _place(path: str) -> tuple[Path, str]:
    """The file and the array in it: `two.npz:K` is K of two.npz, unless there is a file of that
    very name."""
    whole, _, member = path.partition("::")
    head, colon, tail = whole.rpartition(":")
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        if Path(whole).is_file():
            return Path(whole), member
        if colon and Path(head).is_file():
            return Path(head), tail
    raise InputError(wanted="an array file", got=f"no file at {path}", attempt="check the path")


def _choose(names: list[str], member: str, file: Path) -> str:
    if member in names:
        return member
    if not member and len(names) == 1:
        return names[0]
    raise InputError(
        wanted=f"one array of {file.name}" + (f" called {member}" if member else ""),
        got=f"arrays: {', '.join(sorted(names)) or 'none'}"[:200],
        attempt=f"name one, as in {file.name}:NAME",
    )


def _read_npy(file: Path, _: str) -> np.ndarray:
    with file.open("rb") as stream:
        return _read_numbers(stream, file.stat().st_size)


def _read_npz(file: Path, member: str) -> np.ndarray:
    """One member of the archive; the others are not unpacked."""
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        entry = entries[_choose(list(entries), member, file)]
        size = entry.file_size
        # A stored member is part of the file; a compressed one may be a thousand times as large.
        most = file.stat().st_size if entry.compress_type == zipfile.ZIP_STORED else MOST_UNPACKED
        if size > most:
            raise InputError(
                wanted=f"an array of at most {most:,} bytes in {file.name}",
                got=f"{size:,} bytes once unpacked",
                attempt="save it without compression: np.save, or np.savez instead of "
                "np.savez_compressed",
            )
        with archive.open(entry) as stream:
            return _read_numbers(stream, size)


def _read_numbers(stream: Any, size: int) -> np.ndarray:
    """An array in NumPy's format from a stream of `size` bytes. The header is believed only as far
    as the bytes that follow it reach: a few bytes can claim any shape, and NumPy asks for the
    memory first."""
    version = np.lib.format.read_magic(stream)
    headers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in headers:
        raise ValueError(f"version {version} of the format holds no plain numbers")
    shape, _, dtype = headers[version](stream)
    claimed = math.prod(shape) * dtype.itemsize
    if claimed > size - stream.tell():
        raise ValueError(
            f"a header that claims {claimed:,} bytes, and {size - stream.tell():,} behind it"
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _read_csv(file: Path, _: str) -> Any:
    with file.open(newline="", encoding="utf-8-sig") as text:
        rows = [[float(cell) for cell in row] for row in csv.reader(text) if row]
    return rows[0] if len(rows) == 1 else rows


def _read_json(file: Path, member: str) -> Any:
    found = json.loads(file.read_text(encoding="utf-8"))
    return found[_choose(list(found), member, file)] if isinstance(found, dict) else found


def _read_safetensors(file: Path, member: str) -> np.ndarray:
    from safetensors import safe_open

    with safe_open(str(file), framework="numpy") as bundle:
        return bundle.get_tensor(_choose(list(bundle.keys()), member, file))


_READERS = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".json": _read_json,
    ".safetensors": _read_safetensors,
}


def _first_line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0][:200]


# ------------------------------------------------------------------------------------------ writing


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
    temporary = goal.with_name(f".headwright-{secrets.token_hex(8)}")
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
