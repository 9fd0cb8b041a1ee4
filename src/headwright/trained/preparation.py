"""What every question to a model begins with: the model itself, the batches it will see, and an
attention that changes nothing, to compare it with the untouched model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError
from headwright.trained import capture
from headwright.trained.batches import Batch, batches
from headwright.trained.heads import Layer
from headwright.trained.library import torch, transformers
from headwright.trained.loading.load import find, load
from headwright.trained.own_inputs.examples import own_batches
from headwright.trained.own_inputs.given import Given, reads_other
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens

# Tokens on which the tapped model is compared with the untouched one.
_COMPARED = 48


@dataclass(frozen=True)
class Prepared:
    """The model's name, the model itself, its tokenizer, and the batches it will see."""

    name: str
    model: Any
    tokenizer: Any
    batches: list[Batch]


def prepared(
    model: Any, texts: Any, *, tokenizer: Any = None, limit: int | None = None, size: int = 1
) -> Prepared:
    place = find(str(model)) if _is_place(model) else None
    name, model, tokenizer = _opened(model, tokenizer)
    if isinstance(texts, Given):
        work = own_batches(model, texts, tokenizer, place, limit=limit)
    elif model.main_input_name != "input_ids" and not isinstance(texts, Mapping):
        raise reads_other(model, "a text")
    else:
        work = batches(model, texts, tokenizer, size=size, limit=limit)
    return Prepared(name, model, tokenizer, list(work))


def _opened(model: Any, tokenizer: Any = None) -> tuple[str, Any, Any]:
    """The model's name, the model without the head on top, and the tokenizer: the given one, or
    that which lies with the model."""
    name = type(model).__name__
    if _is_place(model):
        name = str(model)
        model, own_tokenizer = load(name)
        tokenizer = tokenizer or own_tokenizer
    model = getattr(model, "base_model", model)  # the head on top has no attention and can be large
    if not isinstance(model, transformers.PreTrainedModel):
        raise InputError(
            wanted="a transformers model, or the folder of one",
            got=type(model).__name__,
            attempt="pass a folder",
        )
    return name, model, tokenizer


def _is_place(model: Any) -> bool:
    return isinstance(model, str) or hasattr(model, "__fspath__")


def difference(model: Any, batch: Batch, visit: capture.Visit | None = None) -> float:
    """How far the tapped model's output is from the untouched one's, on the beginning of a text."""
    return capture.verify(model, _beginning(batch), visit or output_only)


def _beginning(batch: Batch) -> dict[str, Any]:
    """The first tokens of the first text."""
    first = {name: x[:1] for name, x in batch.arguments.items()}
    if "input_ids" not in first:
        return first
    short = {name: x[:, :_COMPARED] if x.ndim == 2 else x for name, x in first.items()}
    return {name: x for name, x in short.items() if not _says_nothing(name, x)}


def _says_nothing(name: str, x: Any) -> bool:
    """A mask of ones only."""
    return name.endswith("attention_mask") and bool(x.all())


def output_only(layer: Layer) -> Any:
    """The layer's output, and nothing measured on the way."""
    texts, _, t, _ = layer.q.shape
    n = layer.k.shape[2]
    tokens = Tokens.unknown(t, n)
    outputs = [stream(layer.text(b), tokens).output for b in range(texts)]
    return torch.stack(outputs)
