"""A layer of attention with random weights, and its values on any input."""

from __future__ import annotations

import functools

import numpy as np

from headwright.exercise.instances import SEED
from headwright.homework.scenes.arithmetic import softmax

SIZE = 6
TOLERANCE = 1e-8
_ORDER = [2, 0, 4, 1, 5, 3]


@functools.cache
def layer_weights() -> dict[str, np.ndarray]:
    """W_Q .. W_O, the biases b1 and b2 of the feed-forward layer, an input X, a permutation P."""
    rng = np.random.default_rng(SEED)
    out = {name: rng.standard_normal((SIZE, SIZE)) for name in ("Q", "K", "V", "1", "2", "O")}
    for name in ("b1", "b2"):
        out[name] = np.tile(rng.standard_normal(SIZE), (SIZE, 1))
    out["X"] = rng.standard_normal((SIZE, SIZE))
    out["P"] = np.eye(SIZE)[_ORDER]
    return out


def attended(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """softmax(Q K' / sqrt d) V"""
    return np.asarray(softmax(Q @ K.T / np.sqrt(SIZE))) @ V


def fed_forward(H: np.ndarray) -> np.ndarray:
    """ReLU(H W_1 + b_1) W_2 + b_2, token by token"""
    W = layer_weights()
    hidden = np.maximum(H @ W["1"] + W["b1"], 0)
    return hidden @ W["2"] + W["b2"]


def layer(X: np.ndarray, *, feed_forward: bool, scaled: bool = True) -> dict[str, np.ndarray]:
    """Q, K, V, their products M, the scores S, the weights A, the output H and (after the
    feed-forward layer) Z."""
    W = layer_weights()
    Q = X @ W["Q"]
    K = X @ W["K"]
    V = X @ W["V"]
    M = Q @ K.T
    S = M / np.sqrt(SIZE) if scaled else M
    A = np.asarray(softmax(S))
    H = A @ V
    Z = fed_forward(H) if feed_forward else H
    names = {"X": X, "Q": Q, "K": K, "V": V, "M": M, "S": S, "A": A, "H": H, "Z": Z}
    synonyms = {"Y": Z, "O": H, "Attention": H}
    return names | synonyms
