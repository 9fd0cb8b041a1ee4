"""Small layers in NumPy, right and wrong, and the examination of one property of them."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.probes.examination import Examination
from headwright.probes.intent import intent
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes

WIDTH = 8


def places(t, n):
    return np.arange(t)[:, None], np.arange(n)[None, :]


def softmax(logits):
    with np.errstate(invalid="ignore"):
        e = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def function(sees=None, fill=-np.inf, bias=None):
    """A function of (q, k, v): `sees(i, j)` is its mask, `bias(i, j)` is added to its logits."""

    def attention(q, k, v):
        i, j = places(q.shape[-2], k.shape[-2])
        logits = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        if bias is not None:
            logits = logits + bias(i, j)
        if sees is not None:
            logits = np.where(sees(i, j), logits, fill)
        return (softmax(logits) @ v).astype(q.dtype)

    return attention


def module(sees=None, heads=2, residual=False, bias=None, merge=None, weigh=softmax):
    """A layer on hidden states (b, n, 8)."""
    rng = np.random.default_rng(7)
    maps = rng.standard_normal((4, WIDTH, WIDTH)) / np.sqrt(WIDTH)

    def split(x):
        b, n, _ = x.shape
        return x.reshape(b, n, heads, WIDTH // heads).swapaxes(1, 2)

    def layer(x):
        b, n, _ = x.shape
        q, k, v = (split(x @ part) for part in maps[:3])
        i, j = places(n, n)
        logits = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        if bias is not None:
            logits = logits + bias(i, j)
        if sees is not None:
            logits = np.where(sees(i, j), logits, -np.inf)
        mixed = weigh(logits) @ v
        joined = mixed.swapaxes(1, 2) if merge is None else merge(mixed)
        output = joined.reshape(b, n, WIDTH) @ maps[3]
        return x + output if residual else output

    return layer


def causal(i, j):
    return j <= i


def window(size):
    return lambda i, j: (j <= i) & (j > i - size)


def found(probe, layer, expect=None, seed=0, dtype=None):
    """The finding, after its counterexample has been run: it must fail."""
    examined = layer_of(layer, dtype=dtype)
    finding = probe(Examination(examined, intent(expect), seed=seed))
    shown = finding.counterexample
    assert (finding.status == "broken") == (shown is not None)
    if shown is not None:
        names = {"layer": examined, "np": np, "Inputs": Inputs, "Options": Options, "Sizes": Sizes}
        with pytest.raises(AssertionError):
            exec(compile(shown.script, "counterexample", "exec"), names)
    return finding
