"""Streamed measures equal the same measures from full maps, in every array library."""

from dataclasses import replace

import array_api_compat as compat
import numpy as np
import pytest
from tests.tolerances import AUDIT, ROUNDING, STREAMED
from tests.trained import naive
from tests.trained.random_layers import (
    SETTINGS,
    audited,
    random_heads,
    random_tokens,
    same_as_full_maps,
)

from headwright.trained.heads import Heads
from headwright.trained.measures.from_rows import LEAK, LayerRows
from headwright.trained.measures.measured import measured
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.kernels import plain_kernel
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_equal_to_full_maps(rng, setting, block):
    heads = random_heads(rng, **SETTINGS[setting])
    tokens = random_tokens(rng, padded=40 if setting == "padded" else 0)
    ours = audited(heads, tokens, replace(plain_kernel(), rows=block))
    same_as_full_maps(ours, heads, tokens, STREAMED)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_single_precision_of_other_libraries_keeps_the_promise(rng, library):
    xp = pytest.importorskip(library)
    heads, tokens = random_heads(rng, sharp=6.0, causal=True), random_tokens(rng)
    wanted = naive.measures(heads, tokens, LEAK)
    foreign = Heads(
        *(xp.asarray(x.astype(np.float32)) for x in (heads.q, heads.k, heads.v)),
        scale=heads.scale,
        causal=True,
    )
    rows = stream(foreign, tokens)
    assert compat.array_namespace(rows.output) is compat.array_namespace(foreign.q)
    ours = audited(foreign, tokens)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=AUDIT, atol=AUDIT, err_msg=name)


def test_a_sharp_row_keeps_the_digits_of_its_leak():
    """Margin 12: the others hold 6e-6 of the weight, of which single precision next to 1 keeps two
    digits."""
    z = np.full(100, -12.0)
    z[17] = 0.0
    heads = Heads(
        np.ones((1, 1, 1), dtype=np.float32),
        z[None, :, None].astype(np.float32),
        np.ones((1, 100, 1), np.float32),
        1.0,
    )
    tokens = Tokens.unknown(1, 100)
    np.testing.assert_allclose(stream(heads, tokens).leak[0, 0], 99 * np.exp(-12.0), rtol=AUDIT)
    # The closed form of the exercise, read backwards: this row is a copy with beta = 12.
    np.testing.assert_allclose(audited(heads, tokens)["sharpness"], 12.0, rtol=AUDIT)


def test_a_uniform_row_averages_and_a_peaked_row_copies(rng):
    t, v = 40, rng.standard_normal((1, 40, 6))
    tokens = Tokens.unknown(t, t)
    flat = audited(Heads(np.zeros((1, t, 4)), rng.standard_normal((1, t, 4)), v, 1.0), tokens)
    np.testing.assert_allclose(
        [flat["average"][0], flat["effective_keys"][0]], [1.0, t], rtol=ROUNDING
    )
    np.testing.assert_allclose(flat["copy"], 0.0, atol=STREAMED)
    eye = np.eye(t)[None]
    peaked = audited(Heads(60.0 * eye, eye, v, 1.0), tokens)
    np.testing.assert_allclose([peaked["copy"][0], peaked["largest"][0]], 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(peaked["sharpness"], 60.0, rtol=ROUNDING)


def test_texts_are_weighted_by_their_rows(rng):
    """Two texts give the mean over all rows, not the mean of two means."""
    pairs = [(random_heads(rng, t=t, causal=True), random_tokens(rng, t=t)) for t in (30, 90)]
    tally = Tally()
    for heads, tokens in pairs:
        tally.add(LayerRows(heads, tokens, stream(heads, tokens)))
    alone = [audited(*pair)["entropy"] for pair in pairs]
    np.testing.assert_allclose(
        measured([tally])[0].measures["entropy"],
        (30 * alone[0] + 90 * alone[1]) / 120,
        rtol=ROUNDING,
    )


def test_layers_of_several_kinds_are_measured_as_each_alone(rng):
    """Those of one kind are worked on together; the order is that of the layers."""
    tallies = []
    for t, texts in ((30, 1), (90, 2), (1, 1), (30, 1)):
        tally = Tally()
        for _ in range(texts):
            heads, tokens = random_heads(rng, t=t, causal=True), random_tokens(rng, t=t)
            tally.add(LayerRows(heads, tokens, stream(heads, tokens)))
        tallies.append(tally)
    few = Tally()
    heads = Heads(*rng.standard_normal((3, 2, 20, 8)), scale=1.0)
    few.add(LayerRows(heads, Tokens.unknown(20, 20), stream(heads, Tokens.unknown(20, 20))))
    tallies.insert(2, few)

    for together, tally in zip(measured(tallies), tallies, strict=True):
        (alone,) = measured([tally])
        np.testing.assert_equal(together.measures, alone.measures)
        np.testing.assert_equal(together.parts, alone.parts)


def test_one_token_has_no_contest(rng):
    heads, tokens = random_heads(rng, t=1, causal=True), random_tokens(rng, t=1)
    ours = audited(heads, tokens)
    np.testing.assert_allclose(ours["largest"], 1.0)
    assert np.isnan(ours["margin"]).all()
    assert np.isnan(ours["previous"]).all()


@pytest.mark.parametrize("t", [1, 5, 33, 150])
def test_the_picture_keeps_every_row_s_mass(rng, t):
    rows = stream(
        random_heads(rng, t=t, causal=True),
        random_tokens(rng, t=t),
        kernel=replace(plain_kernel(), rows=16),
    )
    assert max(rows.picture.shape[1:]) <= 32
    np.testing.assert_allclose(rows.picture.sum(axis=-1), 1.0, rtol=ROUNDING)
