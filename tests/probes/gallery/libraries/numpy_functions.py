"""NumPy functions, right and broken."""

from __future__ import annotations

import math

import numpy as np


def _logits(q, k):
    return q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])


def _softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def numpy_right(q, k, v):
    """The textbook."""
    return _softmax(_logits(q, k)) @ v


def numpy_causal_right(q, k, v):
    """The textbook with a triangle."""
    t = q.shape[-2]
    n = k.shape[-2]
    return _softmax(np.where(np.tri(t, n, n - t, dtype=bool), _logits(q, k), -np.inf)) @ v


def numpy_one_sum(q, k, v):
    """exp / sum without an axis: one sum for the whole array (several tutorials)."""
    e = np.exp(_logits(q, k))
    return e / e.sum() @ v


def numpy_no_maximum(q, k, v):
    """exp without subtracting the maximum: past 709 even double precision overflows."""
    e = np.exp(_logits(q, k))
    return e / e.sum(axis=-1, keepdims=True) @ v


def numpy_in_single(q, k, v):
    """A double-precision function that computes in single precision."""
    made = _softmax(_logits(q.astype(np.float32), k.astype(np.float32)))
    return (made @ v.astype(np.float32)).astype(q.dtype)


def numpy_noise(q, k, v):
    """A generator without a seed: dropout left on."""
    weights = _softmax(_logits(q, k))
    return weights * (np.random.default_rng().random(weights.shape) > 0.1) / 0.9 @ v


def numpy_future(q, k, v):
    """np.tri with the corner of a square: with fewer queries than keys it sees too little, and the
    edge lets the next token in."""
    t = q.shape[-2]
    n = k.shape[-2]
    return _softmax(np.where(np.tri(t, n, n - t + 1, dtype=bool), _logits(q, k), -np.inf)) @ v


def numpy_written_into(q, k, v):
    """`q /= sqrt(d)` changes the caller's array."""
    q /= math.sqrt(q.shape[-1])
    return _softmax(q @ np.swapaxes(k, -1, -2)) @ v
