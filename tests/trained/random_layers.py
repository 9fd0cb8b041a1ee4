"""Layers of random heads in all settings, their measures, and what these have to agree with."""

from dataclasses import replace

import numpy as np
from tests.trained import naive

from headwright.trained.heads import Heads
from headwright.trained.measures.from_rows import LEAK, LayerRows
from headwright.trained.measures.measured import measured
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.likeness import sample
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens


def random_heads(rng, *, t=150, sharp=1.0, **words):
    h, d = 4, 8
    shape = {"q": (h, t, d), "k": (2, t, d), "v": (2, t, 5)}
    arrays = {name: rng.standard_normal(size) for name, size in shape.items()}
    return Heads(**arrays, scale=sharp * d**-0.5, **words)


def random_tokens(rng, t=150, padded=0):
    real = np.arange(t) < t - padded
    ids = rng.integers(0, 30, t)
    separators = (ids < 3) & real & (np.arange(t) > 0)
    return Tokens(real, real, separators, ids)


def audited(heads, tokens, kernel=None):
    tally = Tally()
    tally.add(LayerRows(heads, tokens, stream(heads, tokens, kernel=kernel)))
    return measured([tally])[0].measures


def in_single(heads):
    """In single precision, and the numbers it rounds to in double: what is left to differ is the
    computation."""
    arrays = {name: getattr(heads, name) for name in ("q", "k", "v", "bias", "sinks")}
    single = {name: None if x is None else x.astype(np.float32) for name, x in arrays.items()}
    double = {name: None if x is None else x.astype(float) for name, x in single.items()}
    return replace(heads, **single), replace(heads, **double)


def _mask(padded, t=150):
    seen = np.tri(t, dtype=bool)
    seen[:, t - padded :] = False
    return seen[None]


SETTINGS = {
    "both ways": {},
    "causal": {"causal": True},
    "causal, sharp": {"causal": True, "sharp": 12.0},
    "padded": {"mask": _mask(40)},
    "biased": {"bias": np.random.default_rng(1).standard_normal((4, 150, 150)), "causal": True},
    # Lower caps press the best logits together until single precision cannot tell which is first.
    "soft cap": {"softcap": 1.5},
    "sinks": {"causal": True, "sinks": np.array([-1.0, 0.5, 2.0, 6.0])},
}


def same_as_full_maps(ours, heads, tokens, tolerance):
    wanted = naive.measures(heads, tokens, LEAK)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    rows = naive.full_weights(heads)[:, sample(tokens.real_queries)]
    np.testing.assert_allclose(ours["redundancy"], naive.redundancy(rows), atol=tolerance)
