"""The passage of an audit: the first text, as the layers of one stack read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headwright.trained.batches import Batch
from headwright.trained.heads import Layer
from headwright.trained.passage.looks import Passage, chosen_queries
from headwright.trained.passage.spelling import spelled

# A place in the passage has two bytes in the report.
_LONGEST = 2**16


def passage(batch: Batch, layer: Layer, size: int) -> Passage:
    """Of the first text of the batch, with `size` queries to look at."""
    queries, keys = batch.token_numbers(layer, 0)
    tokens = batch.tokens_of(layer, 0)
    chosen = chosen_queries(tokens, size)
    key_count = layer.k.shape[2]
    if key_count > _LONGEST:
        chosen = chosen[:0]
    special = _special(batch.tokenizer, keys)
    return Passage(
        queries=tuple(chosen.tolist()),
        query_tokens=_words(batch.tokenizer, queries, layer.q.shape[2]),
        key_tokens=_words(batch.tokenizer, keys, key_count),
        special=special,
    )


def _words(tokenizer: Any, numbers: np.ndarray | None, count: int) -> tuple[str, ...]:
    """Tokens, or what stands in their place where there are none: image patches, frames of
    sound."""
    if numbers is None:
        return tuple(f"[{place}]" for place in range(count))
    return spelled(tokenizer, _plain(numbers))


def _special(tokenizer: Any, numbers: np.ndarray | None) -> tuple[int, ...]:
    if tokenizer is None or numbers is None:
        return ()
    marks = set(tokenizer.all_special_ids)
    return tuple(place for place, number in enumerate(_plain(numbers)) if number in marks)


def _plain(numbers: np.ndarray) -> Sequence[int]:
    return [int(number) for number in numbers]
