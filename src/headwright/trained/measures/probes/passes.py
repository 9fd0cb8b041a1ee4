"""One forward pass for each made text that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained import capture
from headwright.trained.batches import batches, positions
from headwright.trained.heads import Layer
from headwright.trained.measures.probes.needle import needle_text
from headwright.trained.measures.probes.repeated import induction, repeated_tokens
from headwright.trained.rows.result import Rows
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array

# One number per head, by the layer's stack and its number there.
Scores = dict[tuple[str, int], np.ndarray]
_Score = Callable[[Rows, Tokens], Array]


def induction_random(model: Any, *, seed: int) -> Scores:
    """Induction scores on random tokens repeated."""
    vocabulary = model.get_input_embeddings().weight.shape[0]
    ids = repeated_tokens(vocabulary, longest=positions(model.config), seed=seed)
    return _scores(model, ids, induction)


def retrieval(model: Any, tokenizer: Any, *, needle: str | None, seed: int) -> Scores:
    """Retrieval scores on a needle text: `needle` in a haystack, or made facts."""
    if tokenizer is None:
        raise InputError(
            wanted="a tokenizer for the needle", got="none with this model", attempt="tokenizer="
        )

    def tokenize(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    text = needle_text(tokenize, needle=needle, seed=seed)
    return _scores(model, text.ids.tolist(), lambda rows, tokens: text.retrieval(rows.top))


def _scores(model: Any, ids: list[int], score: _Score) -> Scores:
    """Of every layer in which the text attends to itself."""
    longest = positions(model.config)
    if longest is not None and len(ids) > longest:
        raise InputError(
            wanted=f"at most {longest} tokens, the positions of this model",
            got=f"a made text of {len(ids)}",
            attempt="a shorter needle, or leave it out",
        )
    (batch,) = batches(model, [ids], None)
    found: Scores = {}

    def visit(layer: Layer) -> Array:
        tokens = batch.tokens_of(layer, 0)
        rows = stream(layer.text(0), tokens)
        if tokens.ids is not None:
            values = to_numpy(score(rows, tokens)).astype(float)
            found[layer.stack, layer.index] = values if _looks_back(rows) else values * np.nan
        return rows.output[None]

    capture.run(model, batch.arguments, visit)
    return found


def _looks_back(rows: Rows) -> bool:
    """The first query sees itself alone. Where it sees what follows, no token is to be found: it
    stands there."""
    seen = to_numpy(rows.seen)
    return bool(np.all(seen[:, 0] == 1))
