"""From what the caller has (texts, token numbers, tensors) to what a model takes, and what is known
of the tokens."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained.capture import Layer
from headwright.trained.library import torch
from headwright.trained.rows.tokens import Marks

# Where configurations keep the number of positions they were made for.
_POSITIONS = ("max_position_embeddings", "n_positions", "max_target_positions")


@dataclass
class Batch:
    """Texts that go through the model together. `words` are the model's arguments."""

    words: dict[str, Any]
    separators: frozenset[int] = frozenset()
    _marks: dict[tuple[str, int, int, int], Marks] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return int(next(iter(self.words.values())).shape[0])

    @property
    def tokens(self) -> int:
        """Real tokens, or positions where there are no tokens."""
        mask = self.words.get("attention_mask")
        if mask is not None:
            return int(mask.sum())
        ids = self.words.get("input_ids", self.words.get("decoder_input_ids"))
        return int(ids.numel()) if ids is not None else 0

    def marks(self, layer: Layer, b: int) -> Marks:
        """What is known of the queries and keys of this layer in the b-th text."""
        key = (layer.stack, b, layer.q.shape[2], layer.k.shape[2])
        if key not in self._marks:
            self._marks[key] = self._look_up(*key)
        return self._marks[key]

    def _look_up(self, stack: str, b: int, t: int, n: int) -> Marks:
        decoder = {"input_ids": "decoder_input_ids", "attention_mask": "decoder_attention_mask"}
        # A decoder whose tokens the model makes itself has none that we know of; one that is fed
        # another stack's states has its tokens under the plain names.
        queries = (
            decoder
            if stack in ("decoder", "cross") and "encoder_hidden_states" not in self.words
            else {}
        )
        keys = queries if stack != "cross" else {}

        def row(name: str, side: Mapping[str, str], length: int) -> np.ndarray | None:
            found = self.words.get(side.get(name, name))
            return None if found is None or found.shape[-1] != length else to_numpy(found[b])

        real = [row("attention_mask", side, length) for side, length in ((queries, t), (keys, n))]
        marks = Marks.plain(t, n)
        marks.queries = marks.queries if real[0] is None else real[0] != 0
        marks.keys = marks.keys if real[1] is None else real[1] != 0
        ids = row("input_ids", keys, n)
        if ids is not None:
            marks.separators = np.isin(ids, list(self.separators)) & marks.keys
            marks.separators[marks.first] = False  # the first token has a measure of its own
        if t == n and stack != "cross":
            marks.tokens = ids
        return marks


def batches(
    model: Any, texts: Any, tokenizer: Any, *, size: int = 1, limit: int | None = None
) -> Iterator[Batch]:
    """`texts`: one text, several, token numbers, or ready tensors (a mapping of the model's own
    arguments)."""
    device = model.device
    if isinstance(texts, Mapping):
        words = {str(name): _tensor(name, x).to(device) for name, x in texts.items()}
        _refuse_words(words, model)
        yield Batch(words, separators(tokenizer, words.get("input_ids")))
        return
    if model.main_input_name != "input_ids":
        raise InputError(
            wanted="a model that reads text",
            got=f"{type(model).__name__}, which reads {model.main_input_name}",
            attempt=f"in Python: hw.audit(model, processor(...)), a mapping with {model.main_input_name}",
        )
    rows = [_numbers(text, tokenizer) for text in _several(texts)]
    rows = [row[:limit] for row in rows]
    for row in rows:
        _refuse(row, model.config)
    for start in range(0, len(rows), size):
        ids, mask = _together(rows[start : start + size])
        words = {"input_ids": ids.to(device)}
        if not bool(mask.all()):
            words["attention_mask"] = mask.to(device)
        if model.config.is_encoder_decoder:
            # Both sides read the text, so that every head has something to look at.
            words |= {f"decoder_{name}": x for name, x in words.items()}
        yield Batch(words, separators(tokenizer, ids))


def _several(texts: Any) -> list[Any]:
    if isinstance(texts, str):
        return [texts]
    rows = texts.tolist() if hasattr(texts, "tolist") else texts
    if not isinstance(rows, Sequence) or isinstance(rows, bytes):
        raise InputError(
            wanted="a text, several, or token numbers",
            got=type(texts).__name__,
            attempt='["a text"]',
        )
    if len(rows) == 0:
        raise InputError(wanted="at least one text", got="none", attempt="pass a list of strings")
    return [rows] if isinstance(rows[0], (int, np.integer)) else list(rows)


def _numbers(text: Any, tokenizer: Any) -> list[int]:
    if not isinstance(text, str):
        return _token_numbers(text)
    if tokenizer is None:
        raise InputError(
            wanted="a tokenizer for the text",
            got="none with this model",
            attempt="tokenizer=, or pass token numbers",
        )
    # An over-long text gets our own message, not the tokenizer's warning.
    return list(tokenizer(text, verbose=False)["input_ids"]) if text.strip() else []


def _token_numbers(row: Any) -> list[int]:
    try:
        return [operator.index(i) for i in (row.tolist() if hasattr(row, "tolist") else row)]
    except TypeError:
        raise InputError(
            wanted="texts, or lists of token numbers",
            got=f"{row!r:.60}",
            attempt="[[101, 2009, 102]]",
        ) from None


def _tensor(name: Any, value: Any) -> Any:
    """What the caller passes for one of the model's arguments: texts along its first axis, nothing
    empty."""
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        tensor = torch.empty(0)
    if tensor.ndim < 2 or not tensor.numel():
        raise InputError(
            wanted=f"{name} as an array with one text (or image) along its first axis",
            got=f"{type(value).__name__} of shape {tuple(tensor.shape)}",
            attempt=f"{name}[None] for a single one",
        )
    return tensor


def _refuse_words(words: dict[str, Any], model: Any) -> None:
    if not words:
        raise InputError(
            wanted="the model's own arguments",
            got="an empty mapping",
            attempt=f'{{"{model.main_input_name}": tensor}}',
        )
    for name in ("input_ids", "decoder_input_ids"):
        for row in words[name].tolist() if name in words else ():
            _refuse(row, model.config)


def _refuse(row: list[int], config: Any) -> None:
    if not row:
        raise InputError(
            wanted="a text with tokens in it", got="an empty text", attempt="check the file"
        )
    inner = config.get_text_config()
    positions = [p for p in (getattr(inner, name, None) for name in _POSITIONS) if p and p > 0]
    if positions and len(row) > positions[0]:
        raise InputError(
            wanted=f"at most {positions[0]} tokens, the positions of this model",
            got=f"a text of {len(row)}",
            attempt=f"--tokens {positions[0]} (tokens= in Python) to read only its beginning",
        )
    words = getattr(inner, "vocab_size", None)
    if words and not 0 <= min(row) <= max(row) < words:
        raise InputError(
            wanted=f"token numbers below {words}",
            got=f"{min(row)} .. {max(row)}",
            attempt="use the model's own tokenizer",
        )


def _together(rows: list[list[int]]) -> tuple[Any, Any]:
    """Padded on the right, with the mask that says so."""
    longest = max(map(len, rows))
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return ids, mask


def separators(tokenizer: Any, ids: Any) -> frozenset[int]:
    """Special tokens and tokens without a letter or digit."""
    if tokenizer is None or ids is None:
        return frozenset()
    unique = set(to_numpy(ids).ravel().tolist())
    special = set(tokenizer.all_special_ids)
    plain = {i for i in unique if not any(c.isalnum() for c in tokenizer.decode([i]))}
    return frozenset((special & unique) | plain)
