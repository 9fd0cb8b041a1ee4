"""Streamed measures equal the same measures from full maps, in every array library."""

from dataclasses import replace
from importlib.util import find_spec

import array_api_compat as compat
import numpy as np
import pytest
from tests.tolerances import AUDIT, FUSED_EXP, ROUNDING, STREAMED
from tests.trained import naive

from headwright.trained.heads import Heads
from headwright.trained.measures.from_rows import LEAK, Look
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.likeness import sample
from headwright.trained.rows.stream import by_fused_rows, by_operations, stream, way
from headwright.trained.rows.tokens import Marks


def _heads(rng, *, t=150, sharp=1.0, **words):
    h, d = 4, 8
    shape = {"q": (h, t, d), "k": (2, t, d), "v": (2, t, 5)}
    arrays = {name: rng.standard_normal(size) for name, size in shape.items()}
    return Heads(**arrays, scale=sharp * d**-0.5, **words)


def _marks(rng, t=150, padded=0):
    real = np.arange(t) < t - padded
    tokens = rng.integers(0, 30, t)
    return Marks(real, real, (tokens < 3) & real & (np.arange(t) > 0), tokens)


def _audited(heads, marks, by=None):
    tally = Tally()
    tally.add(Look(heads, marks, stream(heads, marks, by=by)))
    return tally.finish()


@pytest.fixture
def fused():
    pytest.importorskip("numba", reason="needs numba, which comes with the extra 'models'")
    return by_fused_rows()


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


def _same_as_full_maps(ours, heads, marks, tolerance):
    wanted = naive.measures(heads, marks, LEAK)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    rows = naive.full_weights(heads)[:, sample(marks.queries)]
    np.testing.assert_allclose(ours["redundancy"], naive.redundancy(rows), atol=tolerance)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_equal_to_full_maps(rng, setting, block):
    heads = _heads(rng, **SETTINGS[setting])
    marks = _marks(rng, padded=40 if setting == "padded" else 0)
    ours = _audited(heads, marks, replace(by_operations(), rows=block))
    _same_as_full_maps(ours, heads, marks, STREAMED)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_fused_rows_equal_full_maps(rng, fused, setting, block):
    single, double = _single(_heads(rng, **SETTINGS[setting]))
    marks = _marks(rng, padded=40 if setting == "padded" else 0)
    _same_as_full_maps(_audited(single, marks, replace(fused, rows=block)), double, marks, AUDIT)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_both_ways_give_the_same_rows(rng, fused, setting, library):
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
    marks = _marks(rng, padded=40 if setting == "padded" else 0)
    a, b = (stream(single, marks, by=by) for by in (fused, by_operations()))
    for name in ("output", "top", "margin", "leak", "shifted", "square", "first", "separators"):
        x, y = (np.asarray(getattr(rows, name))[:, marks.queries] for rows in (a, b))
        np.testing.assert_allclose(x, y, rtol=AUDIT, atol=AUDIT, err_msg=name)
    np.testing.assert_allclose(a.picture, b.picture, atol=AUDIT)


def test_the_way_follows_the_arrays(rng, fused):
    """Fused rows are for single precision on the host; jax arrays cannot be written to."""
    single, double = _single(_heads(rng))
    assert way(single).take is fused.take
    assert way(double).take is by_operations().take
    jax = pytest.importorskip("jax.numpy")
    assert way(replace(single, q=jax.asarray(single.q))).take is by_operations().take


def test_without_numba_plain_operations_do(rng, monkeypatch):
    monkeypatch.setattr(
        "headwright.trained.rows.stream.find_spec",
        lambda name: None if name == "numba" else find_spec(name),
    )
    assert way(_single(_heads(rng))[0]).take is by_operations().take


def test_fused_exponential(fused):
    """Single precision of e^x over all x that matter; 0 where it is no normal number."""
    from headwright.trained.rows.compiled import _exp

    x = np.linspace(-87.0, 0.0, 20_001).astype(np.float32)
    ours = np.asarray([_exp(one) for one in x], dtype=float)
    np.testing.assert_allclose(ours, np.exp(x.astype(float)), rtol=FUSED_EXP)
    assert _exp(np.float32(0.0)) == 1.0
    assert [_exp(np.float32(v)) for v in (-87.01, -1e30, -np.inf)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("t", [1, 2, 63, 64, 65, 129])
def test_fused_rows_of_any_width(rng, fused, t):
    single, double = _single(_heads(rng, t=t))
    rows = stream(single, _marks(rng, t=t), by=fused)
    z, p = naive.full_logits(double), naive.full_weights(double)
    np.testing.assert_array_equal(rows.top, z.argmax(axis=-1))
    np.testing.assert_allclose(
        rows.output, p @ np.repeat(double.v, 2, axis=0), rtol=AUDIT, atol=AUDIT
    )


def test_ties_and_rows_of_one_key(fused):
    """Equal logits: no margin, and the tied keys leak. One visible key: no second, and nothing
    leaks."""
    q, k = np.ones((1, 3, 1), np.float32), np.asarray([2.0, 2.0, -1.0], np.float32)[None, :, None]
    mask = np.asarray([[True, True, True], [False, True, False], [False, False, True]])[None]
    heads = Heads(q, k, np.ones((1, 3, 1), np.float32), 1.0, mask=mask)
    rows = stream(heads, Marks.plain(3, 3), by=fused)
    np.testing.assert_array_equal(rows.margin[0], [0.0, np.inf, np.inf])
    np.testing.assert_allclose(rows.leak[0], [1.0 + np.exp(-3.0), 0.0, 0.0], rtol=AUDIT)
    np.testing.assert_array_equal(rows.top[0], [0, 1, 2])


def test_overflowing_logits_never_become_numbers(rng, fused):
    heads = _single(_heads(rng, sharp=1.0))[0]
    heads = replace(heads, q=heads.q * np.float32(1e25), k=heads.k * np.float32(1e25))
    with np.errstate(over="ignore", invalid="ignore"):
        rows = stream(heads, _marks(rng), by=fused)
    assert np.isnan(rows.shifted).all()


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_single_precision_of_other_libraries_keeps_the_promise(rng, library):
    xp = pytest.importorskip(library)
    heads, marks = _heads(rng, sharp=6.0, causal=True), _marks(rng)
    wanted = naive.measures(heads, marks, LEAK)
    foreign = Heads(
        *(xp.asarray(x.astype(np.float32)) for x in (heads.q, heads.k, heads.v)),
        scale=heads.scale,
        causal=True,
    )
    rows = stream(foreign, marks)
    assert compat.array_namespace(rows.output) is compat.array_namespace(foreign.q)
    ours = _audited(foreign, marks)
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
    marks = Marks.plain(1, 100)
    np.testing.assert_allclose(stream(heads, marks).leak[0, 0], 99 * np.exp(-12.0), rtol=AUDIT)
    # The closed form of the exercise, read backwards: this row is a copy with beta = 12.
    np.testing.assert_allclose(_audited(heads, marks)["sharpness"], 12.0, rtol=AUDIT)


def test_a_uniform_row_averages_and_a_peaked_row_copies(rng):
    t, v = 40, rng.standard_normal((1, 40, 6))
    marks = Marks.plain(t, t)
    flat = _audited(Heads(np.zeros((1, t, 4)), rng.standard_normal((1, t, 4)), v, 1.0), marks)
    np.testing.assert_allclose(
        [flat["average"][0], flat["effective_keys"][0]], [1.0, t], rtol=ROUNDING
    )
    np.testing.assert_allclose(flat["copy"], 0.0, atol=STREAMED)
    eye = np.eye(t)[None]
    peaked = _audited(Heads(60.0 * eye, eye, v, 1.0), marks)
    np.testing.assert_allclose([peaked["copy"][0], peaked["largest"][0]], 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(peaked["sharpness"], 60.0, rtol=ROUNDING)


def test_patterns_find_what_they_are_named_for():
    """A repeated text and heads built to do one thing each score 1 on it."""
    tokens = np.tile(np.arange(10), 3)
    t = tokens.size
    place, token = np.eye(t), np.eye(10)[tokens]
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
        marks = Marks(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), tokens)
        score = _audited(heads, marks)[name]
        np.testing.assert_allclose(score, 1.0, atol=ROUNDING, err_msg=name)


def test_texts_are_weighted_by_their_rows(rng):
    """Two texts give the mean over all rows, not the mean of two means."""
    pairs = [(_heads(rng, t=t, causal=True), _marks(rng, t=t)) for t in (30, 90)]
    tally = Tally()
    for heads, marks in pairs:
        tally.add(Look(heads, marks, stream(heads, marks)))
    alone = [_audited(*pair)["entropy"] for pair in pairs]
    np.testing.assert_allclose(
        tally.finish()["entropy"], (30 * alone[0] + 90 * alone[1]) / 120, rtol=ROUNDING
    )


def test_one_token_has_no_contest(rng):
    heads, marks = _heads(rng, t=1, causal=True), _marks(rng, t=1)
    ours = _audited(heads, marks)
    np.testing.assert_allclose(ours["largest"], 1.0)
    assert np.isnan(ours["margin"]).all()
    assert np.isnan(ours["previous"]).all()


def test_a_text_of_one_token_repeated_stays_small():
    """Every pair is a duplicate: pairs are then rebuilt for each layer, and nothing grows with t^2."""
    t = 2200
    marks = Marks(np.ones(t, bool), np.ones(t, bool), np.zeros(t, bool), np.zeros(t, dtype=int))
    found = [marks.pairs(start, min(start + 256, t)) for start in range(0, t, 256)]
    assert sum(pairs.columns.size for pairs in found) == t * (t - 1) + t - 1
    assert sum(pairs.columns.size for pairs in marks._kept.values()) <= 2**22 < t * (t - 1)
    assert marks.rows_with("duplicate") == t - 1


@pytest.mark.parametrize("t", [1, 5, 33, 150])
def test_the_picture_keeps_every_row_s_mass(rng, t):
    rows = stream(
        _heads(rng, t=t, causal=True), _marks(rng, t=t), by=replace(by_operations(), rows=16)
    )
    assert max(rows.picture.shape[1:]) <= 32
    np.testing.assert_allclose(rows.picture.sum(axis=-1), 1.0, rtol=ROUNDING)
