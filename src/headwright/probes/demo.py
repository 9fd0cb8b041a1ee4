"""A layer with a deliberate mistake, for `headwright xray --demo` and `headwright symmetry
--demo`: its window of four tokens has five."""

from __future__ import annotations

import numpy as np

NAME = "headwright.probes.demo:sliding_window"
WINDOW = 4
EXPECT = f"window={WINDOW}"


def sliding_window(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Causal attention over the last four tokens, as it is often written."""
    logits = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    queries = np.arange(q.shape[-2])[:, None] + k.shape[-2] - q.shape[-2]
    keys = np.arange(k.shape[-2])[None, :]
    # The mistake: > would be right, >= lets one token more in.
    visible = (keys <= queries) & (keys >= queries - WINDOW)

    logits = np.where(visible, logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)) @ v


def self_attention(X: np.ndarray) -> np.ndarray:
    """The same layer on tokens (N, D), each its own query, key and value: it is not
    permutation-equivariant, for a window goes by places."""
    return sliding_window(X, X, X)
