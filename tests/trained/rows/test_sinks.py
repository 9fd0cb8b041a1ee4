"""Learned sinks: what the closed form leaves to the keys is what a softmax with one more column
leaves them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tolerances import AUDIT, ROUNDING
from tests.trained import naive
from tests.trained.random_layers import in_single, random_heads, random_tokens

from headwright.trained.heads import Heads
from headwright.trained.rows.stream import stream

_SINKS = np.array([-2.0, 0.0, 1.5, 4.0])
_WINDOW = np.tri(150, dtype=bool) & ~np.tri(150, k=-20, dtype=bool)


@pytest.mark.parametrize(
    "words",
    [
        {"causal": True},
        {"mask": _WINDOW[None]},
        {"softcap": 1.5},
        {"bias": np.random.default_rng(2).standard_normal((4, 150, 150)), "causal": True},
    ],
    ids=["causal", "window", "soft cap", "bias"],
)
def test_rows_are_those_of_a_softmax_with_one_more_column(rng, words):
    heads = random_heads(rng, sinks=_SINKS, **words)
    tokens = random_tokens(rng)
    rows = stream(heads, tokens)
    p = naive.full_weights(heads)
    v = np.repeat(heads.v, heads.group, axis=0)
    np.testing.assert_allclose(rows.output, p @ v, atol=ROUNDING)
    np.testing.assert_allclose(rows.sink, 1.0 - p.sum(axis=-1), atol=ROUNDING)
    np.testing.assert_allclose(1.0 / (1.0 + rows.leak), p.max(axis=-1), rtol=ROUNDING)
    np.testing.assert_allclose(rows.first, p[..., 0], atol=ROUNDING)
    previous = np.trace(p, offset=-1, axis1=1, axis2=2)
    np.testing.assert_allclose(rows.patterns["previous"], previous, rtol=ROUNDING)


def test_many_pairs_are_looked_up_in_parts(rng, monkeypatch):
    from headwright.trained.rows import sinks

    heads = random_heads(rng, causal=True, sinks=_SINKS)
    tokens = random_tokens(rng)
    whole = stream(heads, tokens).patterns
    monkeypatch.setattr(sinks, "_PAIRS", 7)
    for name, mass in stream(heads, tokens).patterns.items():
        np.testing.assert_allclose(mass, whole[name], rtol=ROUNDING)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_a_sink_far_above_takes_all_and_one_far_below_takes_nothing(rng, precision):
    far = np.array([1e4, 1e30, -1e4, -np.inf])
    heads = replace(random_heads(rng, causal=True), sinks=far)
    tokens = random_tokens(rng)
    if precision is np.float32:
        heads, _ = in_single(heads)
    rows = stream(heads, tokens)
    np.testing.assert_allclose(rows.sink[:2], 1.0, rtol=AUDIT)
    np.testing.assert_allclose(rows.output[:2], 0.0, atol=AUDIT)
    np.testing.assert_allclose(rows.sink[2:], 0.0, atol=AUDIT)
    alone = stream(replace(heads, sinks=None), tokens)
    np.testing.assert_allclose(rows.output[2:], alone.output[2:], rtol=AUDIT)
    for name in ("leak", "shifted", "first", "separators"):
        assert np.isfinite(getattr(rows, name)).all(), name


def test_a_query_that_sees_no_key_gives_all_to_the_sink(rng):
    arrays = [rng.standard_normal((1, 3, 2)) for _ in range(3)]
    mask = np.array([[[True, False, False], [False, False, False], [True, True, True]]])
    heads = Heads(*arrays, 1.0, mask=mask, sinks=np.zeros(1))
    rows = stream(heads, random_tokens(rng, t=3))
    np.testing.assert_allclose(rows.sink[0, 1], 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(rows.output[0, 1], 0.0, atol=ROUNDING)
    assert np.all(rows.sink[0, [0, 2]] < 1.0)
