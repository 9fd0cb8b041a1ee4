"""Streamed measures equal the same measures from full maps, in every array library."""

import array_api_compat as compat
import numpy as np
import pytest

from headwright.trained.heads import Heads
from headwright.trained.likeness import sample
from headwright.trained.marks import Marks
from headwright.trained.measures import LEAK, Look
from headwright.trained.rows import stream
from headwright.trained.tally import Tally
from tolerances import AUDIT, ROUNDING, STREAMED
from trained import naive


def _heads(rng, *, t=150, sharp=1.0, **words):
    h, d = 4, 8
    shape = {"q": (h, t, d), "k": (2, t, d), "v": (2, t, 5)}
    arrays = {name: rng.standard_normal(size) for name, size in shape.items()}
    return Heads(**arrays, scale=sharp * d**-0.5, **words)


def _marks(rng, t=150, padded=0):
    real = np.arange(t) < t - padded
    tokens = rng.integers(0, 30, t)
    return Marks(real, real, (tokens < 3) & real & (np.arange(t) > 0), tokens)


def _audited(heads, marks, **words):
    tally = Tally()
    tally.add(Look(heads, marks, stream(heads, marks, **words)))
    return tally.finish()


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
    "soft cap": {"softcap": 0.7},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("block", [7, 64, 256])
def test_equal_to_full_maps(rng, setting, block):
    heads = _heads(rng, **SETTINGS[setting])
    marks = _marks(rng, padded=40 if setting == "padded" else 0)
    ours, wanted = _audited(heads, marks, block=block), naive.measures(heads, marks, LEAK)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=STREAMED, atol=STREAMED, err_msg=name)
    rows = naive.full_weights(heads)[:, sample(marks.queries)]
    np.testing.assert_allclose(ours["redundancy"], naive.redundancy(rows), atol=STREAMED)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_single_precision_of_other_libraries_keeps_the_promise(rng, library):
    xp = pytest.importorskip(library)
    heads, marks = _heads(rng, sharp=6.0, causal=True), _marks(rng)
    wanted = naive.measures(heads, marks, LEAK)
    foreign = Heads(
        *(xp.asarray(x.astype(np.float32)) for x in (heads.q, heads.k, heads.v)), scale=heads.scale, causal=True
    )
    rows = stream(foreign, marks)
    assert compat.array_namespace(rows.output) is compat.array_namespace(foreign.q)
    ours = _audited(foreign, marks)
    for name, value in wanted.items():
        np.testing.assert_allclose(ours[name], value, rtol=AUDIT, atol=AUDIT, err_msg=name)


def test_a_sharp_row_keeps_the_digits_of_its_leak():
    """Margin 12: the others hold 6e-6 of the weight, of which single precision next to 1 keeps two digits."""
    z = np.full(100, -12.0)
    z[17] = 0.0
    heads = Heads(
        np.ones((1, 1, 1), dtype=np.float32), z[None, :, None].astype(np.float32), np.ones((1, 100, 1), np.float32), 1.0
    )
    marks = Marks.plain(1, 100)
    np.testing.assert_allclose(stream(heads, marks).leak[0, 0], 99 * np.exp(-12.0), rtol=AUDIT)
    # The closed form of the exercise, read backwards: this row is a copy with beta = 12.
    np.testing.assert_allclose(_audited(heads, marks)["sharpness"], 12.0, rtol=AUDIT)


def test_a_uniform_row_averages_and_a_peaked_row_copies(rng):
    t, v = 40, rng.standard_normal((1, 40, 6))
    marks = Marks.plain(t, t)
    flat = _audited(Heads(np.zeros((1, t, 4)), rng.standard_normal((1, t, 4)), v, 1.0), marks)
    np.testing.assert_allclose([flat["average"][0], flat["effective_keys"][0]], [1.0, t], rtol=ROUNDING)
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
    np.testing.assert_allclose(tally.finish()["entropy"], (30 * alone[0] + 90 * alone[1]) / 120, rtol=ROUNDING)


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
    for start in range(0, t, 256):
        marks.pairs("duplicate", start, min(start + 256, t))
    kept = sum(rows.size for (name, _), (rows, _) in marks._kept.items() if name == "duplicate")
    assert kept <= 2**21 < t * (t - 1) // 2
    assert marks.rows_with("duplicate") == t - 1


@pytest.mark.parametrize("t", [1, 5, 33, 150])
def test_the_picture_keeps_every_row_s_mass(rng, t):
    rows = stream(_heads(rng, t=t, causal=True), _marks(rng, t=t), block=16)
    assert max(rows.picture.shape[1:]) <= 32
    np.testing.assert_allclose(rows.picture.sum(axis=-1), 1.0, rtol=ROUNDING)
