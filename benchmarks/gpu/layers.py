"""Random layers and token numbers for the benchmark on a GPU."""

from __future__ import annotations

import numpy as np
import torch

from headwright.trained.heads import Heads
from headwright.trained.rows.tokens import Tokens

# The layer of the timings: heads, key heads, head size.
LAYER = (32, 8, 64)


def same_work(d: int) -> tuple[int, int, int]:
    """As many numbers as in `LAYER`, in heads of another size."""
    h, hk, known = LAYER
    return h * known // d, hk * known // d, d


def layer(tokens: int, dtype: str, sizes=LAYER, *, sharp: float = 1.0, seed: int = 0, **words):
    """Random heads, laid out as a model lays them out."""
    h, hk, d = sizes
    made = torch.Generator("cuda").manual_seed(seed)

    def normal(heads: int):
        x = torch.randn((tokens, heads, d), device="cuda", generator=made)
        return x.to(getattr(torch, dtype)).transpose(0, 1)

    return Heads(normal(h), normal(hk), normal(hk), scale=sharp * d**-0.5, **words)


def known_tokens(n: int, vocabulary: int = 32_000) -> Tokens:
    """Random token numbers, a tenth of them separators."""
    ids = np.random.default_rng(0).integers(1, vocabulary, n)
    real = np.ones(n, dtype=bool)
    return Tokens(real, real, (ids % 10 == 0) & (np.arange(n) > 0), ids)


def natural_tokens(n: int) -> Tokens:
    """Token numbers as frequent as words are: the k-th with weight 1 / k."""
    tokens = known_tokens(n)
    weights = 1.0 / np.arange(1, 32_001)
    tokens.ids = np.random.default_rng(0).choice(32_000, n, p=weights / weights.sum())
    return tokens
