"""What turns images and sounds into a model's arguments, as the configuration beside its weights
says. Nothing is downloaded and no code that comes with a model is run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.trained.library import transformers
from headwright.trained.loading.load import Place, quiet
from headwright.trained.loading.stored import all_numbers

_FILES = ("preprocessor_config.json", "processor_config.json")
_MOST_BYTES = 2**20
# The largest numbers of a configuration, by what their names say: sides of images, seconds and
# features of sounds, anything else.
_MOST = (
    (re.compile(r"height|width|edge|crop|size"), 2**13),
    (re.compile(r"chunk_length|feature"), 2**11),
    (re.compile(r"fft|hop|win"), 2**16),
    (re.compile(r""), 2**24),
)


def image_processor(place: Place) -> Any:
    return _loaded(place, transformers.AutoImageProcessor, "images")


def feature_extractor(place: Place) -> Any:
    return _loaded(place, transformers.AutoFeatureExtractor, "sounds")


def _loaded(place: Place, kind: Any, reads: str) -> Any:
    paths = [Path(place.folder) / name for name in _FILES]
    found = [path for path in paths if path.is_file()]
    if not found:
        raise InputError(
            wanted=f"{_FILES[0]} beside the model, which says how it reads {reads}",
            got=f"none in {place.name}",
            attempt="processor.save_pretrained(folder) with the processor it was trained with",
        )
    for path in found:
        _refuse_numbers(path)
    with quiet():
        try:
            return kind.from_pretrained(place.folder, **place.words)
        # Damaged and foreign configurations fail in many ways; all mean the same to the caller.
        except Exception as reason:
            line = (str(reason).splitlines() or [type(reason).__name__])[0]
            raise InputError(
                wanted=f"a configuration that says how {place.name} reads {reads}",
                got=f"{found[0].name}: {line[:160]}",
                attempt="install or copy the model again",
            ) from None


def _refuse_numbers(path: Path) -> None:
    """A configuration of a few bytes can ask for images of 2^40 pixels."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"{path.stat().st_size} bytes")
        config = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("no object")
    except (ValueError, RecursionError) as reason:
        raise _unreadable(path, str(reason)) from None
    for name, value in all_numbers(config):
        own = name.rpartition(".")[2]
        most = next(limit for words, limit in _MOST if words.search(own))
        if abs(value) > most:
            raise _unreadable(path, f"{name} = {value:.6g}, more than {most}")


def _unreadable(path: Path, reason: str) -> InputError:
    return InputError(
        wanted=f"a readable {path.name}",
        got=reason[:160],
        attempt="install or copy the model again",
    )
