"""What the files of a model hold, against what its configuration claims, before any memory is asked
for.

A configuration of a few hundred bytes can claim 2^31 layers. Its numbers are therefore read first,
as plain data; then the model it describes is built without memory, on the "meta" device, and its
size compared with the weights on disk.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.trained.library import torch, transformers
from headwright.trained.loading import gguf_header

# A configuration with names for 20,000 classes takes 1 MB.
_MOST_CONFIG_BYTES = 2**24
# Layers: each has a tensor of its own, but for small models that share them. The library builds
# lists this long.
_COUNTS_LAYERS = re.compile(r"layer|depth|block_count|num_blocks|stage")
_SHARING_LAYERS = 256
# Any other whole number is at most this, or the bits of the weights: no size, count or token goes
# beyond them.
_ALWAYS_ALLOWED = 2**17
# But the base of the rotary positions is a wave length.
_NO_SIZE = re.compile(r"theta")
# Weights that may be missing from the files: a pooler that the checkpoint had no use for, say.
_SLACK = 2**22
# Memory for what a model keeps beside its weights (masks, positions), where the weights themselves
# are small.
_MOST_BUFFER_BYTES = 2**30


@dataclass(frozen=True)
class Stored:
    """The weight files of a model: their bytes, their tensors, and the most weights that these can
    mean."""

    size: int
    tensors: int
    weights: int


def fitting_config(folder: Path, gguf: str | None, words: dict[str, Any]) -> Any:
    """The configuration; InputError where it speaks of a model that the weights beside it cannot
    be."""
    if gguf is not None:
        path = folder / gguf
        header = gguf_header.read(path)
        numbers = list(header.numbers.items())
        size = path.stat().st_size
        # Tensors may lie over one another
        stored = Stored(size, header.tensors, min(header.elements, 8 * size))
    else:
        numbers = list(all_numbers(_config(folder / "config.json")))
        stored = _safetensors(folder)
    for name, value in numbers:
        _refuse_number(name, value, stored)
    config = transformers.AutoConfig.from_pretrained(str(folder), **words)
    _refuse_size(config, stored)
    return config


def _config(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _MOST_CONFIG_BYTES:
        raise ValueError(f"a config.json of {path.stat().st_size} bytes")
    config = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(config, dict):
        raise ValueError("a config.json that is no object")
    named = config.get("transformers_weights")
    if named is not None and not str(named).endswith((".safetensors", ".safetensors.index.json")):
        raise ValueError(
            f"a config.json that asks for the weights {named!r}, which are no safetensors"
        )
    return config


def all_numbers(config: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Every number of the configuration with the name it stands under, lists and inner objects
    too."""
    left: list[tuple[str, Any]] = list(config.items())
    while left:
        name, value = left.pop()
        if isinstance(value, dict):
            left += [(f"{name}.{inner}", x) for inner, x in value.items()]
        elif isinstance(value, list):
            left += [(name, x) for x in value]
        elif isinstance(value, (int, float)):
            yield name, value


def _safetensors(folder: Path) -> Stored:
    from safetensors import safe_open

    size = 0
    tensors = 0
    weights = 0
    for path in folder.glob("*.safetensors"):
        size += path.stat().st_size
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 (no mapping: it has no other way to its names)
                tensors += 1
                entry = file.get_slice(name)
                packed = _weights_per_number(str(entry.get_dtype()))
                weights += math.prod(entry.get_shape()) * packed
    return Stored(size, tensors, weights)


def _weights_per_number(kind: str) -> int:
    """Whole numbers are packed weights, which take a bit or more."""
    if kind.startswith(("F", "BF")):
        return 1
    bits = re.sub(r"\D", "", kind)
    return int(bits or 8)


def _refuse_number(name: str, value: float, stored: Stored) -> None:
    own = name.rpartition(".")[2]
    if _COUNTS_LAYERS.search(own):
        most = max(_SHARING_LAYERS, stored.tensors)
    elif isinstance(value, float) or _NO_SIZE.search(own):
        return
    else:
        most = max(_ALWAYS_ALLOWED, 8 * stored.size)
    if value > most:
        raise _too_large(f"{name} = {value:.6g}", stored)


def _refuse_size(config: Any, stored: Stored) -> None:
    from transformers import initialization

    safely = getattr(initialization, "meta_device_safe_creation_ops", nullcontext)
    with torch.device("meta"), initialization.no_init_weights(), safely():
        model = transformers.AutoModel.from_config(config)
    weights = sum(x.numel() for x in model.parameters())
    beside = sum(x.numel() * x.element_size() for x in model.buffers())
    if weights > 2 * stored.weights + _SLACK:
        raise _too_large(f"{weights:,} weights", stored)
    if beside > max(_MOST_BUFFER_BYTES, 8 * stored.size):
        raise _too_large(f"{beside:,} bytes of masks and positions", stored)


def _too_large(claimed: str, stored: Stored) -> InputError:
    return InputError(
        wanted="a configuration that fits the weights beside it",
        got=f"{claimed} claimed, with {stored.size:,} bytes of weights on disk",
        attempt="install or copy the model again",
    )
