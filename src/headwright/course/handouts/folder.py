"""The folder of a course: there as a whole, or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from headwright.errors import InputError


def is_written(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Do these very files stand there already? A folder with anything else in their place is
    refused."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            wanted="a folder for the sheets", got=f"{folder} is a file", attempt="another --out"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return False
    for place, data in files.items():
        file = folder / place
        if not file.is_file() or file.read_bytes() != data:
            raise InputError(
                wanted="an empty folder, or the same sheets",
                got=f"other files in {folder}",
                attempt="another --out, or remove it first",
            )
    return True


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Written beside its place and moved there when all of it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".headwright-", dir=folder.parent) as beside:
        complete = Path(beside, "complete")
        complete.mkdir()
        for place, data in files.items():
            file = complete / place
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        if folder.is_dir():
            folder.rmdir()  # empty; a folder cannot be moved onto another one everywhere
        complete.rename(folder)
