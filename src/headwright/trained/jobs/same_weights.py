"""Which model was meant: a digest of its files, so that no result of other weights is taken for
its own, from a store or from another machine."""

from __future__ import annotations

import hashlib
from pathlib import Path

from headwright.errors import InputError
from headwright.trained.loading.load import find


def weights_digest(model: str) -> str:
    """Of a GGUF file, or of all files in a model's folder."""
    place = find(model)
    folder = Path(place.folder)
    files = [folder / place.gguf] if place.gguf else sorted(folder.iterdir())
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        if file.is_file():
            with file.open("rb") as content:
                one = hashlib.file_digest(content, "blake2b").hexdigest()
            digest.update(f"{file.name} {one}\n".encode())
    return digest.hexdigest()


def insist_on(model: str, weights: str) -> None:
    if weights_digest(model) != weights:
        raise InputError(
            wanted=f"the same {model} wherever jobs run",
            got="other files on a worker",
            attempt="the same folder on every machine, or --workers here",
        )
