"""Compiled rows: the numbers of the plain operations, in single precision and at every edge."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from tests.tolerances import AUDIT, COMPILED_EXP
from tests.trained import naive
from tests.trained.random_layers import (
    SETTINGS,
    audited,
    in_single,
    random_heads,
    random_tokens,
    same_as_full_maps,
)

from headwright.trained.heads import Heads
from headwright.trained.rows.kernels import compiled_kernel, fastest_kernel, plain_kernel
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens


@pytest.fixture
def compiled():
    pytest.importorskip("numba", reason="needs numba, which comes with the extra 'models'")
    return compiled_kernel()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_compiled_rows_equal_full_maps(rng, compiled, setting, block):
    single, double = in_single(random_heads(rng, **SETTINGS[setting]))
    tokens = random_tokens(rng, padded=40 if setting == "padded" else 0)
    ours = audited(single, tokens, replace(compiled, rows=block))
    same_as_full_maps(ours, double, tokens, AUDIT)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_both_ways_give_the_same_rows(rng, compiled, setting, library):
    """Row by row, where the measures are means over rows."""
    xp = pytest.importorskip(library)
    single, _ = in_single(random_heads(rng, **SETTINGS[setting]))
    single = replace(single, **{x: xp.asarray(getattr(single, x)) for x in ("q", "k", "v")})
    single = replace(
        single,
        **{
            x: xp.asarray(getattr(single, x))
            for x in ("mask", "bias", "sinks")
            if getattr(single, x) is not None
        },
    )
    tokens = random_tokens(rng, padded=40 if setting == "padded" else 0)
    a, b = (stream(single, tokens, kernel=kernel) for kernel in (compiled, plain_kernel()))
    for name in ("output", "top", "margin", "leak", "shifted", "first", "separators"):
        x, y = (np.asarray(getattr(rows, name))[:, tokens.real_queries] for rows in (a, b))
        np.testing.assert_allclose(x, y, rtol=AUDIT, atol=AUDIT, err_msg=name)
    np.testing.assert_allclose(a.picture, b.picture, atol=AUDIT)


def test_the_kernel_follows_the_arrays(rng, compiled):
    """Compiled rows are for single precision on the host; jax arrays cannot be written to."""
    single, double = in_single(random_heads(rng))
    assert fastest_kernel(single).row_numbers is compiled.row_numbers
    assert fastest_kernel(double).row_numbers is plain_kernel().row_numbers
    jax = pytest.importorskip("jax.numpy")
    foreign = replace(single, q=jax.asarray(single.q))
    assert fastest_kernel(foreign).row_numbers is plain_kernel().row_numbers


def test_without_numba_plain_operations_do(rng, monkeypatch):
    monkeypatch.setattr(
        "headwright.trained.rows.kernels.find_spec",
        lambda name: None if name == "numba" else find_spec(name),
    )
    assert fastest_kernel(in_single(random_heads(rng))[0]).row_numbers is plain_kernel().row_numbers


def test_compiled_exponential(compiled):
    """Single precision of e^x over all x that matter; 0 where it is no normal number."""
    from headwright.trained.rows.loops import _exp

    x = np.linspace(-87.0, 0.0, 20_001).astype(np.float32)
    ours = np.asarray([_exp(one) for one in x], dtype=float)
    np.testing.assert_allclose(ours, np.exp(x.astype(float)), rtol=COMPILED_EXP)
    assert _exp(np.float32(0.0)) == 1.0
    assert [_exp(np.float32(v)) for v in (-87.01, -1e30, -np.inf)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("t", [1, 2, 63, 64, 65, 129])
def test_compiled_rows_of_any_width(rng, compiled, t):
    single, double = in_single(random_heads(rng, t=t))
    rows = stream(single, random_tokens(rng, t=t), kernel=compiled)
    z, p = naive.full_logits(double), naive.full_weights(double)
    np.testing.assert_array_equal(rows.top, z.argmax(axis=-1))
    np.testing.assert_allclose(
        rows.output, p @ np.repeat(double.v, 2, axis=0), rtol=AUDIT, atol=AUDIT
    )


def test_ties_and_rows_of_one_key(compiled):
    """Equal logits: no margin, and the tied keys leak. One visible key: no second, and nothing
    leaks."""
    q, k = np.ones((1, 3, 1), np.float32), np.asarray([2.0, 2.0, -1.0], np.float32)[None, :, None]
    mask = np.asarray([[True, True, True], [False, True, False], [False, False, True]])[None]
    heads = Heads(q, k, np.ones((1, 3, 1), np.float32), 1.0, mask=mask)
    rows = stream(heads, Tokens.unknown(3, 3), kernel=compiled)
    np.testing.assert_array_equal(rows.margin[0], [0.0, np.inf, np.inf])
    np.testing.assert_allclose(rows.leak[0], [1.0 + np.exp(-3.0), 0.0, 0.0], rtol=AUDIT)
    np.testing.assert_array_equal(rows.top[0], [0, 1, 2])


def test_overflowing_logits_never_become_numbers(rng, compiled):
    heads = in_single(random_heads(rng, sharp=1.0))[0]
    heads = replace(heads, q=heads.q * np.float32(1e25), k=heads.k * np.float32(1e25))
    with np.errstate(over="ignore", invalid="ignore"):
        rows = stream(heads, random_tokens(rng), kernel=compiled)
    assert np.isnan(rows.shifted).all()
