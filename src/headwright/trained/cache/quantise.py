"""Random keys in practice: a key cache stored in few bits. How far does each head's output move?

Two routes to one number. Predicted: rounding adds independent noise of variance D^2/12 to every key
coordinate, and `prediction` gives the expected squared error without running anything. Measured:
the keys are really rounded and the output computed again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.errors import InputError
from headwright.keys import GaussianKeys, rounded
from headwright.trained.cache.prediction import predict
from headwright.trained.measures.sampled import Row, Sample
from headwright.types import Float

PER = ("token", "channel")
# Rows per head and text that the table looks at: the exact engine is the slowest part of an audit.
KEY_ROWS = 2


@dataclass(frozen=True)
class SquaredErrors:
    """Of one layer's heads on one text's sampled rows, with the squared size of the outputs. First
    axis: setting (per, bits); last: row. `group`: query heads per key head."""

    settings: tuple[tuple[str, int], ...]
    predicted: Float[np.ndarray, "s h r"]
    measured: Float[np.ndarray, "s h r"]
    size: Float[np.ndarray, "h r"]
    group: int = 1


def squared_errors(
    sample: Sample, rows: list[list[Row]], key_bits: tuple[int, ...]
) -> SquaredErrors:
    """Both routes for every setting, on the given rows of each head. Keys are rounded as a cache
    would: all keys of a key head together."""
    if sample.heads.bias_reads_keys:
        raise InputError(
            wanted="logits that see the keys through their product with the query alone",
            got="a bias that reads the keys too (relative positions looked up in them)",
            attempt="leave out --key-bits (key_bits= in Python)",
        )
    settings = tuple((per, int(bits)) for per in PER for bits in key_bits)
    sizes = [[_square(row.output()) for row in one_head] for one_head in rows]
    size = np.asarray(sizes)
    predicted = np.zeros((len(settings), *size.shape))
    measured = np.zeros((len(settings), *size.shape))

    for s, (per, bits) in enumerate(settings):
        stored = [rounded(K, bits=bits, per=per) for K in sample.K]
        laws = [GaussianKeys.quantised(K, bits=bits, per=per) for K in sample.K]
        for head, one_head in enumerate(rows):
            g = sample.heads.key_head(head)
            measured[s, head] = [_moved(row, stored[g]) for row in one_head]
            predicted[s, head] = [predict(row, laws[g]) for row in one_head]

    return SquaredErrors(settings, predicted, measured, size, sample.heads.group)


def _moved(row: Row, stored: Float[np.ndarray, "n d"]) -> float:
    with_stored_keys = row.output(stored[row.seen])
    return _square(with_stored_keys - row.output())


def _square(x: Float[np.ndarray, "v"]) -> float:
    return float(np.sum(x**2))
