"""Arrays from files. Reading never unpickles, and asks for no more memory than a file can fill."""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import HeadwrightError, InputError, MissingExtra
from headwright.files.tables import read_table

# Bytes of one compressed array; what is stored plainly is as large as its file
MOST_UNPACKED = 1 << 30


def read_array(path: str | Path) -> np.ndarray:
    """A finite float array from `.npy`, `.npz`, `.csv`, `.tsv`, `.txt`, `.json`, `.safetensors` or
    `.pt` (one array per file, or `file.npz:name` to pick one); `-` is standard input."""
    if str(path) == "-":
        return _standard_input()
    file, member = _place(str(path))
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise InputError(
            wanted=f"an array file ({known})", got=file.name, attempt="np.save('keys.npy', K)"
        )
    return _checked(file.name, lambda: reader(file, member), f"readable {file.suffix} data")


def _standard_input() -> np.ndarray:
    """What is piped in: `.npy`, JSON or a table, told apart by its first bytes."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(MOST_UNPACKED + 1)
    wanted = "an array on standard input (.npy, JSON or a table)"
    if not data.strip():
        attempt = "headwright reach --keys - < keys.csv; only one option can read it"
        raise InputError(wanted=wanted, got="nothing", attempt=attempt)
    if len(data) > MOST_UNPACKED:
        got = f"more than {MOST_UNPACKED:,} bytes"
        raise InputError(wanted=wanted, got=got, attempt="a .npy file")
    return _checked("standard input", lambda: _piped(data), wanted)


def _piped(data: bytes) -> Any:
    if data.startswith(np.lib.format.MAGIC_PREFIX):
        return _read_numbers(io.BytesIO(data), len(data))
    text = data.decode("utf-8-sig")
    if text.lstrip().startswith("["):
        return json.loads(text)
    return read_table("standard input", text)


def _checked(name: str, read: Callable[[], Any], wanted: str) -> np.ndarray:
    try:
        found = read()
    except HeadwrightError:
        raise
    # Readers fail in many ways on a damaged file; all mean the same to the caller
    except Exception as reason:
        got = f"{name}: {_first_line(reason)}"
        raise InputError(wanted=wanted, got=got, attempt="write the file again") from None
    _, (array,) = inputs.arrays(**{name: found})
    if 0 in array.shape:
        raise InputError(
            wanted=f"numbers in {name}", got="an empty array", attempt="check the file"
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


def _read_table(file: Path, _: str) -> list[Any]:
    return read_table(file.name, file.read_text(encoding="utf-8-sig"))


def _read_json(file: Path, member: str) -> Any:
    found = json.loads(file.read_text(encoding="utf-8"))
    return found[_choose(list(found), member, file)] if isinstance(found, dict) else found


def _read_safetensors(file: Path, member: str) -> np.ndarray:
    from safetensors import safe_open

    with safe_open(str(file), framework="numpy") as bundle:
        return bundle.get_tensor(_choose(list(bundle.keys()), member, file))


def _read_torch(file: Path, member: str) -> np.ndarray:
    """Tensors and nothing else: `weights_only` runs no code of the file's."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "models") from None
    size = file.stat().st_size
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > size:
            raise ValueError(f"{unpacked:,} bytes once unpacked, in a file of {size:,}")
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except UnpicklingError:  # PyTorch's own words advise to run what is in it
        raise InputError(
            wanted=f"tensors and nothing else in {file.name}",
            got="Python objects, which are never run",
            attempt="torch.save(K, 'keys.pt') with a tensor, or np.save",
        ) from None
    if isinstance(found, dict):
        found = found[_choose([str(name) for name in found], member, file)]
    if not isinstance(found, torch.Tensor) or found.is_complex():
        wanted = f"a tensor of real numbers in {file.name}"
        attempt = "torch.save(K, 'keys.pt')"
        raise InputError(wanted=wanted, got=type(found).__name__, attempt=attempt)
    # A view may repeat one stored number without end
    if found.numel() * found.element_size() > size:
        raise ValueError(f"a tensor of {found.numel():,} numbers in a file of {size:,} bytes")
    return found.detach().double().numpy()


_READERS = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".txt": _read_table,
    ".json": _read_json,
    ".safetensors": _read_safetensors,
    ".pt": _read_torch,
}


def _first_line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0][:200]
