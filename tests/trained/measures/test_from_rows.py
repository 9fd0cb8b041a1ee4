"""Streamed measures equal the same measures from full maps, in every array library."""

from dataclasses import replace
from importlib.util import find_spec

import array_api_compat as compat
import numpy as np
import pytest
from tests.tolerances import AUDIT, COMPILED_EXP, ROUNDING, STREAMED
from tests.trained import naive

from headwright.trained.heads import Heads
from headwright.trained.measures.from_rows import LEAK, LayerRows
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.kernels import compiled_kernel, fastest_kernel, plain_kernel
from headwright.trained.rows.likeness import sample
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens


def _heads(rng, *, t=150, sharp=1.0, **words):
    h, d = 4, 8
    shape = {"q": (h, t, d), "k": (2, t, d), "v": (2, t, 5)}
    arrays = {name: rng.standard_normal(size) for name, size in shape.items()}
    return Heads(**arrays, scale=sharp * d**-0.5, **words)


def _tokens(rng, t=150, padded=0):
    real = np.arange(t) < t - padded
    ids = rng.integers(0, 30, t)
    separators = (ids < 3) & real & (np.arange(t) > 0)
    return Tokens(real, real, separators, ids)


def _audited(heads, tokens, kernel=None):
    tally = Tally()
    tally.add(LayerRows(heads, tokens, stream(heads, tokens, kernel=kernel)))
    return tally.finish()


@pytest.fixture
def compiled():
    pytest.importorskip("numba", reason="needs numba, which comes with the extra 'models'")
    return compiled_kernel()


def _single(heads):
    """In single precision, and the numbers it rounds to in double: what is left to differ is the
    computation."""
    arrays = {name: getattr(heads, name) for name in ("q", "k", "v", "bias")}
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
}


def _same_as_full_maps(ours, heads, tokens, tolerance):
    wanted = naive.measures(heads, tokens, LEAK)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    rows = naive.full_weights(heads)[:, sample(tokens.real_queries)]
    np.testing.assert_allclose(ours["redundancy"], naive.redundancy(rows), atol=tolerance)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_equal_to_full_maps(rng, setting, block):
    heads = _heads(rng, **SETTINGS[setting])
    tokens = _tokens(rng, padded=40 if setting == "padded" else 0)
    ours = _audited(heads, tokens, replace(plain_kernel(), rows=block))
    _same_as_full_maps(ours, heads, tokens, STREAMED)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_compiled_rows_equal_full_maps(rng, compiled, setting, block):
    single, double = _single(_heads(rng, **SETTINGS[setting]))
    tokens = _tokens(rng, padded=40 if setting == "padded" else 0)
    ours = _audited(single, tokens, replace(compiled, rows=block))
    _same_as_full_maps(ours, double, tokens, AUDIT)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_both_ways_give_the_same_rows(rng, compiled, setting, library):
    """Row by row, where the measures are means over rows."""
    xp = pytest.importorskip(library)
    single, _ = _single(_heads(rng, **SETTINGS[setting]))
    single = replace(single, **{x: xp.asarray(getattr(single, x)) for x in ("q", "k", "v")})
    single = replace(
        single,
        **{
            x: xp.asarray(getattr(single, x))
            for x in ("mask", "bias")
            if getattr(single, x) is not None
        },
    )
    tokens = _tokens(rng, padded=40 if setting == "padded" else 0)
    a, b = (stream(single, tokens, kernel=kernel) for kernel in (compiled, plain_kernel()))
    for name in ("output", "top", "margin", "leak", "shifted", "square", "first", "separators"):
        x, y = (np.asarray(getattr(rows, name))[:, tokens.real_queries] for rows in (a, b))
        np.testing.assert_allclose(x, y, rtol=AUDIT, atol=AUDIT, err_msg=name)
    np.testing.assert_allclose(a.picture, b.picture, atol=AUDIT)


def test_the_kernel_follows_the_arrays(rng, compiled):
    """Compiled rows are for single precision on the host; jax arrays cannot be written to."""
    single, double = _single(_heads(rng))
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
    assert fastest_kernel(_single(_heads(rng))[0]).row_numbers is plain_kernel().row_numbers


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
    single, double = _single(_heads(rng, t=t))
    rows = stream(single, _tokens(rng, t=t), kernel=compiled)
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
    heads = _single(_heads(rng, sharp=1.0))[0]
    heads = replace(heads, q=heads.q * np.float32(1e25), k=heads.k * np.float32(1e25))
    with np.errstate(over="ignore", invalid="ignore"):
        rows = stream(heads, _tokens(rng), kernel=compiled)
    assert np.isnan(rows.shifted).all()


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_single_precision_of_other_libraries_keeps_the_promise(rng, library):
    xp = pytest.importorskip(library)
    heads, tokens = _heads(rng, sharp=6.0, causal=True), _tokens(rng)
    wanted = naive.measures(heads, tokens, LEAK)
    foreign = Heads(
        *(xp.asarray(x.astype(np.float32)) for x in (heads.q, heads.k, heads.v)),
        scale=heads.scale,
        causal=True,
    )
    rows = stream(foreign, tokens)
    assert compat.array_namespace(rows.output) is compat.array_namespace(foreign.q)
    ours = _audited(foreign, tokens)
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
    np.testing.assert_allclose(_audited(heads, tokens)["sharpness"], 12.0, rtol=AUDIT)


def test_a_uniform_row_averages_and_a_peaked_row_copies(rng):
    t, v = 40, rng.standard_normal((1, 40, 6))
    tokens = Tokens.unknown(t, t)
    flat = _audited(Heads(np.zeros((1, t, 4)), rng.standard_normal((1, t, 4)), v, 1.0), tokens)
    np.testing.assert_allclose(
        [flat["average"][0], flat["effective_keys"][0]], [1.0, t], rtol=ROUNDING
    )
    np.testing.assert_allclose(flat["copy"], 0.0, atol=STREAMED)
    eye = np.eye(t)[None]
    peaked = _audited(Heads(60.0 * eye, eye, v, 1.0), tokens)
    np.testing.assert_allclose([peaked["copy"][0], peaked["largest"][0]], 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(peaked["sharpness"], 60.0, rtol=ROUNDING)


def test_patterns_find_what_they_are_named_for():
    """A repeated text and heads built to do one thing each score 1 on it."""
    ids = np.tile(np.arange(10), 3)
    t = ids.size
    place, token = np.eye(t), np.eye(10)[ids]
    after = np.vstack([np.zeros(10), token[:-1]])
    big = 80.0
    wanted = {
        "previous": (big * np.vstack([place[:1], place[:-1]]), place),
        "duplicate": (big * token, token),
        "induction": (big * token, after),
    }
    for name, (q, k) in wanted.items():
        if name == "duplicate":  # not itself: its own place scores less
            q, k = np.hstack([q, -2 * big * place]), np.hstack([k, place])
        heads = Heads(q[None], k[None], np.ones((1, t, 1)), 1.0, causal=True)
        tokens = Tokens(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), ids)
        score = _audited(heads, tokens)[name]
        np.testing.assert_allclose(score, 1.0, atol=ROUNDING, err_msg=name)


def test_texts_are_weighted_by_their_rows(rng):
    """Two texts give the mean over all rows, not the mean of two means."""
    pairs = [(_heads(rng, t=t, causal=True), _tokens(rng, t=t)) for t in (30, 90)]
    tally = Tally()
    for heads, tokens in pairs:
        tally.add(LayerRows(heads, tokens, stream(heads, tokens)))
    alone = [_audited(*pair)["entropy"] for pair in pairs]
    np.testing.assert_allclose(
        tally.finish()["entropy"], (30 * alone[0] + 90 * alone[1]) / 120, rtol=ROUNDING
    )


def test_one_token_has_no_contest(rng):
    heads, tokens = _heads(rng, t=1, causal=True), _tokens(rng, t=1)
    ours = _audited(heads, tokens)
    np.testing.assert_allclose(ours["largest"], 1.0)
    assert np.isnan(ours["margin"]).all()
    assert np.isnan(ours["previous"]).all()


def test_a_text_of_one_token_repeated_stays_small():
    """Every pair is a duplicate: pairs are then rebuilt for each layer, and nothing grows with
    t^2."""
    t = 2200
    tokens = Tokens(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), np.zeros(t, dtype=int))
    found = [tokens.pairs(start, min(start + 256, t)) for start in range(0, t, 256)]
    assert sum(pairs.columns.size for pairs in found) == t * (t - 1) + t - 1
    assert sum(pairs.columns.size for pairs in tokens._kept.values()) <= 2**22 < t * (t - 1)
    assert tokens.rows_with("duplicate") == t - 1


@pytest.mark.parametrize("t", [1, 5, 33, 150])
def test_the_picture_keeps_every_row_s_mass(rng, t):
    rows = stream(
        _heads(rng, t=t, causal=True), _tokens(rng, t=t), kernel=replace(plain_kernel(), rows=16)
    )
    assert max(rows.picture.shape[1:]) <= 32
    np.testing.assert_allclose(rows.picture.sum(axis=-1), 1.0, rtol=ROUNDING)
