"""Arrays and results on disk. Reading never unpickles; writing is whole or not at all (temporary name, rename)."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import plain


def read_array(path: str | Path) -> np.ndarray:
    """A finite float array from `.npy`, `.npz`, `.csv`, `.json` or `.safetensors` (one array per file, or
    `file.npz:name` to pick one)."""
    path, _, member = str(path).partition("::")
    file = Path(path)
    if not file.exists() and ":" in path:
        head, _, member = path.rpartition(":")
        file = Path(head)
    if not file.is_file():
        raise InputError(wanted="an array file", got=f"no file at {path}", attempt="check the path")
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise InputError(wanted=f"an array file ({known})", got=file.name, attempt="np.save('keys.npy', K)")
    try:
        found = reader(file)
    except InputError:
        raise
    except Exception as reason:  # readers fail in many ways on a damaged file; all mean the same to the caller
        raise InputError(
            wanted=f"readable {file.suffix} data",
            got=f"{file.name}: {_first_line(reason)}",
            attempt="write the file again",
        ) from None
    if isinstance(found, dict):
        found = _pick(found, member, file)
    _, (array,) = inputs.arrays(**{file.name: found})
    if 0 in array.shape:
        raise InputError(wanted=f"numbers in {file.name}", got="an empty array", attempt="check the file")
    return array


def _pick(found: dict[str, Any], member: str, file: Path) -> Any:
    if member and member in found:
        return found[member]
    if not member and len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(sorted(found)) or "none"
    raise InputError(
        wanted=f"one array of {file.name}" + (f" called {member}" if member else ""),
        got=f"arrays: {names}",
        attempt=f"name one, as in {file.name}:NAME",
    )


def _read_npz(file: Path) -> dict[str, np.ndarray]:
    with np.load(file, allow_pickle=False) as bundle:
        return {name: bundle[name] for name in bundle.files}


def _read_csv(file: Path) -> Any:
    with file.open(newline="", encoding="utf-8-sig") as text:
        rows = [[float(cell) for cell in row] for row in csv.reader(text) if row]
    return rows[0] if len(rows) == 1 else rows


def _read_safetensors(file: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(str(file))


_READERS = {
    ".npy": lambda file: np.load(file, allow_pickle=False),
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".json": lambda file: json.loads(file.read_text(encoding="utf-8")),
    ".safetensors": _read_safetensors,
}


def _first_line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0][:200]


def write_text(path: str | Path, text: str) -> Path:
    return write_bytes(path, text.encode("utf-8"))


def write_json(path: str | Path, thing: Any) -> Path:
    return write_text(path, json.dumps(plain(thing), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_bytes(path: str | Path, data: bytes) -> Path:
    """Write beside the goal, then rename over it: an interrupted run leaves the old file or none."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
