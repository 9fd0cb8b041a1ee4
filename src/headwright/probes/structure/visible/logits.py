"""Inputs whose logits are known: queries and keys along one direction.

    q = a (1, ..., 1),   k_j = s_j a (1, ..., 1),   q k_j / sqrt(d) = s_j a^2 sqrt(d) = s_j L

Masks that hide a key by a finite number show only where hidden keys have large logits and visible
ones small; a key that every query sees must win when its logit is the largest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headwright.probes.layer.inputs import Inputs

# Above the largest number of half precision less what a sum may add.
_LARGEST = {"float16": 6e4}


def with_logits(given: Inputs, signs: Sequence[float] | np.ndarray, logit: float) -> Inputs:
    """The same values; every query has logits `signs[j] * logit`."""
    width = given["q"].shape[-1]
    # a^2 sqrt(d) = L
    size = math.sqrt(logit / math.sqrt(width))
    q = np.full(given["q"].shape, size)
    k = np.broadcast_to(size * np.asarray(signs, float)[:, None], given["k"].shape).copy()
    return given.replaced(q=q, k=k)


def favouring(given: Inputs, key: int, logit: float) -> Inputs:
    """The logit of one key is `logit`, those of all others are 0."""
    signs = np.zeros(given["k"].shape[-2])
    signs[key] = 1.0
    return with_logits(given, signs, logit)


def louder(given: Inputs, factor: float) -> Inputs:
    """Logits times `factor`: the queries are scaled, or the hidden states by its square root."""
    if "q" in given.arrays:
        return given.each(lambda a: factor * a, "q")
    return given.each(lambda a: math.sqrt(factor) * a)


def holds_logit(dtype: str, width: int, logit: float) -> bool:
    """Whether q k stays finite in the layer's dtype, before it is scaled."""
    return logit * math.sqrt(width) < _LARGEST.get(dtype, math.inf)
