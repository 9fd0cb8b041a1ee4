"""From what the caller has (texts, token numbers, tensors) to what a model takes, and what is known
of the tokens."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.rows.tokens import Tokens

# Where configurations keep the number of positions they were made for.
_POSITIONS = ("max_position_embeddings", "n_positions", "max_target_positions")


# What a decoder's own tokens and mask are called where it has an encoder beside it.
_DECODER = {"input_ids": "decoder_input_ids", "attention_mask": "decoder_attention_mask"}


@dataclass
class Batch:
    """Texts that go through the model together. `arguments` are the model's own, by name."""

    arguments: dict[str, Any]
    separators: frozenset[int] = frozenset()
    tokenizer: Any = None
    _known: dict[tuple[str, int, int, int], Tokens] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return int(next(iter(self.arguments.values())).shape[0])

    @property
    def token_count(self) -> int:
        """Real tokens, or positions where there are no tokens."""
        ids = self.arguments.get("input_ids")
        if ids is None:
            # Images and sounds: as many as the layers saw.
            return self.size * max((queries for _, _, queries, _ in self._known), default=0)
        mask = self.arguments.get("attention_mask")
        return int(ids.numel() if mask is None else mask.sum())

    def tokens_of(self, layer: Layer, b: int) -> Tokens:
        """What is known of the queries and keys of this layer in the b-th text."""
        key = (layer.stack, b, layer.q.shape[2], layer.k.shape[2])
        if key not in self._known:
            self._known[key] = self._look_up(*key)
        return self._known[key]

    def _look_up(self, stack: str, b: int, t: int, n: int) -> Tokens:
        query_names, key_names = self._names(stack)
        tokens = Tokens.unknown(t, n)
        query_mask = self._row("attention_mask", query_names, b, t)
        if query_mask is not None:
            tokens.real_queries = query_mask != 0
        key_mask = self._row("attention_mask", key_names, b, n)
        if key_mask is not None:
            tokens.real_keys = key_mask != 0

        ids = self._row("input_ids", key_names, b, n)
        if ids is not None:
            separators = np.isin(ids, list(self.separators))
            tokens.separators = separators & tokens.real_keys
            tokens.separators[tokens.first] = False  # the first token has a measure of its own
        if t == n and stack != "cross":
            tokens.ids = ids
        return tokens

    def _names(self, stack: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """What the arguments of this stack's queries and keys are called."""
        # A decoder whose tokens the model makes itself has none that we know of; one that is fed
        # another stack's states has its tokens under the plain names.
        beside_encoder = "encoder_hidden_states" not in self.arguments
        decodes = stack in ("decoder", "cross") and beside_encoder
        query_names = _DECODER if decodes else {}
        return query_names, {} if stack == "cross" else query_names

    def token_numbers(self, layer: Layer, b: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Of the queries and of the keys of this layer in the b-th text; None where they are no
        tokens."""
        query_names, key_names = self._names(layer.stack)
        queries = self._row("input_ids", query_names, b, layer.q.shape[2])
        keys = self._row("input_ids", key_names, b, layer.k.shape[2])
        return queries, keys

    def _row(self, name: str, names: Mapping[str, str], b: int, length: int) -> np.ndarray | None:
        """Of the b-th text, the argument that `names` has in place of `name`; None where there is
        none of this length."""
        found = self.arguments.get(names.get(name, name))
        if found is None or found.shape[-1] != length:
            return None
        return to_numpy(found[b])


def batches(
    model: Any, texts: Any, tokenizer: Any, *, size: int = 1, limit: int | None = None
) -> Iterator[Batch]:
    """`texts`: one text, several, token numbers, or ready tensors (a mapping of the model's own
    arguments)."""
    if isinstance(texts, Mapping):
        arguments = {str(name): _tensor(name, x).to(model.device) for name, x in texts.items()}
        _refuse_arguments(arguments, model)
        marks = separators(tokenizer, arguments.get("input_ids"))
        yield Batch(arguments, marks, tokenizer)
        return

    rows = [token_numbers(text, tokenizer)[:limit] for text in _several(texts)]
    for row in rows:
        refuse(row, model.config)
    for start in range(0, len(rows), size):
        yield _padded(rows[start : start + size], model, tokenizer)


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


def token_numbers(text: Any, tokenizer: Any) -> list[int]:
    if not isinstance(text, str):
        return _as_numbers(text)
    if tokenizer is None:
        raise InputError(
            wanted="a tokenizer for the text",
            got="none with this model",
            attempt="tokenizer=, or pass token numbers",
        )
    if not text.strip():
        return []
    # An over-long text gets our own message, not the tokenizer's warning.
    encoded = tokenizer(text, verbose=False)
    return list(encoded["input_ids"])


def _as_numbers(row: Any) -> list[int]:
    numbers = row.tolist() if hasattr(row, "tolist") else row
    try:
        return [operator.index(i) for i in numbers]
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


def _refuse_arguments(arguments: dict[str, Any], model: Any) -> None:
    if not arguments:
        raise InputError(
            wanted="the model's own arguments",
            got="an empty mapping",
            attempt=f'{{"{model.main_input_name}": tensor}}',
        )
    for name in ("input_ids", "decoder_input_ids"):
        if name in arguments:
            for row in arguments[name].tolist():
                refuse(row, model.config)


def positions(config: Any) -> int | None:
    """The longest text that a model was made for, where its configuration says so."""
    inner = config.get_text_config()
    stated = [getattr(inner, name, None) for name in _POSITIONS]
    return next((p for p in stated if p and p > 0), None)


def refuse(row: list[int], config: Any) -> None:
    if not row:
        raise InputError(
            wanted="a text with tokens in it", got="an empty text", attempt="check the file"
        )
    longest = positions(config)
    if longest is not None and len(row) > longest:
        raise InputError(
            wanted=f"at most {longest} tokens, the positions of this model",
            got=f"a text of {len(row)}",
            attempt=f"--tokens {longest} (tokens= in Python) to read only its beginning",
        )
    vocabulary = getattr(config.get_text_config(), "vocab_size", None)
    if vocabulary and not 0 <= min(row) <= max(row) < vocabulary:
        raise InputError(
            wanted=f"token numbers below {vocabulary}",
            got=f"{min(row)} .. {max(row)}",
            attempt="use the model's own tokenizer",
        )


def _padded(rows: list[list[int]], model: Any, tokenizer: Any) -> Batch:
    """Texts in one batch: padded on the right, with the mask that says so where it is needed."""
    longest = max(map(len, rows))
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1

    arguments = {"input_ids": ids.to(model.device)}
    if not bool(mask.all()):
        arguments["attention_mask"] = mask.to(model.device)
    if model.config.is_encoder_decoder:
        # Both sides read the text, so that every head has something to look at.
        arguments |= {f"decoder_{name}": x for name, x in arguments.items()}
    return Batch(arguments, separators(tokenizer, ids), tokenizer)


def separators(tokenizer: Any, ids: Any) -> frozenset[int]:
    """Special tokens and tokens without a letter or digit."""
    if tokenizer is None or ids is None:
        return frozenset()
    found = set(to_numpy(ids).ravel().tolist())
    special = set(tokenizer.all_special_ids)
    wordless = {i for i in found if not _has_word(tokenizer.decode([i]))}
    return frozenset((special & found) | wordless)


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def fingerprint(work: Sequence[Batch]) -> str:
    """The same for the same texts, images or sounds, and for no others."""
    digest = hashlib.sha256()
    for batch in work:
        for name, x in sorted(batch.arguments.items()):
            digest.update(f"{name} {tuple(x.shape)}".encode())
            digest.update(to_numpy(x).tobytes())
    return digest.hexdigest()[:16]
