"""The weights of a few queries are those of the full maps; the heavy ones are kept."""

# ruff: noqa: E402

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")

from tests.tolerances import STREAMED
from tests.trained import naive
from tests.trained.random_layers import SETTINGS, random_heads, random_tokens

from headwright.trained.passage.looks import (
    LEAST,
    MOST_KEYS,
    chosen_queries,
    heaviest,
    weights_of,
)


def _in_torch(heads):
    arrays = {}
    for name in ("q", "k", "v", "mask", "bias", "sinks"):
        array = getattr(heads, name)
        arrays[name] = None if array is None else torch.as_tensor(array)
    return dataclasses.replace(heads, **arrays)


@pytest.mark.parametrize("setting", SETTINGS)
def test_weights_are_those_of_the_full_maps(rng, setting):
    heads = random_heads(rng, **SETTINGS[setting])
    queries = np.asarray([0, 3, 77, 109])
    wanted = naive.full_weights(heads)[:, queries]
    np.testing.assert_allclose(weights_of(_in_torch(heads), queries), wanted, atol=STREAMED)


def test_heavy_keys_are_kept_in_order(rng, monkeypatch):
    """One query at a time, so that parts are put together too."""
    monkeypatch.setattr("headwright.trained.passage.looks._BUDGET", 1)
    heads = random_heads(rng, sharp=3.0, causal=True)
    queries = np.asarray([0, 40, 149])
    whole = naive.full_weights(heads)
    for head, found in enumerate(heaviest(_in_torch(heads), queries).looks()):
        for query, keys, weights in zip(queries, found.keys, found.weights, strict=True):
            row = whole[head, query]
            np.testing.assert_allclose(weights, row[keys], atol=STREAMED)
            assert np.all(np.diff(weights) <= 0.0)
            assert len(keys) == min(MOST_KEYS, np.sum(row >= LEAST))


def test_queries_are_spread_and_some_repeat_a_token(rng):
    tokens = random_tokens(rng, padded=40)
    queries = chosen_queries(tokens, 24)
    assert queries.size == np.unique(queries).size == 24
    assert tokens.real_queries[queries].all()
    assert queries[-1] == 109
    again = [i for i in queries if tokens.ids[i] in tokens.ids[:i]]
    assert len(again) >= 8
    assert np.diff(queries).max() < 20


@pytest.mark.parametrize(("t", "size"), [(1, 24), (5, 24), (150, 1), (150, 0)])
def test_short_texts_and_few_queries(rng, t, size):
    assert chosen_queries(random_tokens(rng, t), size).size == min(t, size)
