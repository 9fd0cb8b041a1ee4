"""The parts of a model that run alone, and what each of them reads.

A decoder beside an encoder runs without it: the library then leaves cross attention out. What reads
texts is given embeddings, which can be changed by a rounding error, as token numbers cannot.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.probes.layer.layer import CACHE, MASK, POSITIONS, Refusal
from headwright.probes.layer.library import numbers
from headwright.trained.library import torch, transformers

# What the library calls the arguments of a whole model.
EMBEDDINGS = "inputs_embeds"
WORDS = {MASK: "attention_mask", POSITIONS: "position_ids", CACHE: "past_key_values"}
_SWITCH = "use_cache"

# Models of two kinds of input keep one model for each under these names.
_BESIDE = ("vision_model", "text_model", "vision_tower", "language_model")


@dataclass(frozen=True)
class Stack:
    """One model, or the encoder, decoder or tower of one."""

    name: str
    model: Any

    @property
    def arguments(self) -> frozenset[str]:
        """A subclass that hands its keywords on takes those of the class that it extends."""
        names: set[str] = set()
        for kind in type(self.model).__mro__:
            parameters = inspect.signature(kind.forward).parameters  # pyright: ignore
            names |= set(parameters)
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                break
        return frozenset(names)

    @property
    def reads_texts(self) -> bool:
        return EMBEDDINGS in self.arguments and self._table() is not None

    @property
    def width(self) -> int:
        """Of the embeddings."""
        table = self._table()
        return int(table.weight.shape[-1])

    @property
    def takes(self) -> dict[str, str]:
        """What probes may pass -> the keyword."""
        if not self.reads_texts:
            return {}
        return {means: word for means, word in WORDS.items() if word in self.arguments}

    @property
    def without_cache(self) -> dict[str, bool]:
        return {_SWITCH: False} if _SWITCH in self.arguments else {}

    def _table(self) -> Any:
        try:
            found = self.model.get_input_embeddings()
        except (AttributeError, NotImplementedError):
            return None
        return found if isinstance(found, torch.nn.Embedding) else None

    def embeddings(self, rng: np.random.Generator, batch: int, tokens: int) -> np.ndarray:
        """Of random tokens, as the model itself looks them up."""
        table = self._table()
        ids = torch.from_numpy(rng.integers(0, table.num_embeddings, (batch, tokens)))
        with torch.no_grad():
            return numbers(table(ids.to(table.weight.device)))

    def own_input(self) -> dict[str, Any]:
        """For what reads no texts: one image or sound of noise, of the size it was made for."""
        config = self.model.config
        shapes = {
            "pixel_values": lambda: (config.num_channels, *_pair(config.image_size)),
            "input_features": lambda: (config.num_mel_bins, 2 * config.max_source_positions),
        }
        reads = self.model.main_input_name
        if reads not in shapes:
            raise Refusal(f"{type(self.model).__name__} reads {reads}, which cannot be made up")
        made = torch.randn((1, *shapes[reads]()), generator=torch.Generator().manual_seed(0))
        return {reads: made.to(self.model.device, self.model.dtype)}


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else tuple(size)


def stacks(model: Any) -> list[Stack]:
    if model.config.is_encoder_decoder:
        return [Stack("encoder", model.get_encoder()), Stack("decoder", model.get_decoder())]
    beside = {name.rpartition(".")[2]: part for name, part in model.named_modules() if name}
    found = [Stack(name, beside[name]) for name in _BESIDE if _is_model(beside.get(name))]
    return found if len(found) > 1 else [Stack("model", model)]


def _is_model(part: Any) -> bool:
    return isinstance(part, transformers.PreTrainedModel)
