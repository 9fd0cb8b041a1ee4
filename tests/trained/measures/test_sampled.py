"""Row-sampled measures, the key-cache table and the exercise's claim, each by a second route."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import AUDIT, ROUNDING, SIGMAS
from tests.trained import naive

from headwright.errors import InputError
from headwright.keys import GaussianKeys, rounded
from headwright.trained.cache import quantise
from headwright.trained.cache.prediction import predict
from headwright.trained.heads import Heads
from headwright.trained.measures.sampled import (
    BOX,
    Sample,
    mean_and_error,
    noise_gain,
    reachable,
    worst_shift,
)
from headwright.trained.rows.tokens import Tokens


def _sample(rng, *, n=60, d=6, sharp=1.5, **words):
    heads = Heads(
        rng.standard_normal((4, n, d)),
        rng.standard_normal((2, n, d)),
        rng.standard_normal((2, n, 3)),
        sharp / np.sqrt(d),
        causal=True,
        **words,
    )
    return Sample.draw(heads, Tokens.unknown(n, n), np.random.default_rng(1), size=3)


@pytest.mark.parametrize(
    "words", [{}, {"softcap": 1.3}, {"bias": np.linspace(-2, 2, 4 * 60 * 60).reshape(4, 60, 60)}]
)
def test_rows_are_the_rows_of_the_full_maps(rng, words):
    sample = _sample(rng, **words)
    full = naive.full_logits(sample.heads)
    for head in range(4):
        np.testing.assert_allclose(sample.logits(head), full[head, sample.rows], atol=ROUNDING)


_LEARNED = np.array([0.5, 2.0, 1.0, 0.0])


@pytest.mark.parametrize("words", [{}, {"softcap": 1.3}, {"sinks": _LEARNED}])
def test_noise_gain_is_the_slope_of_real_noise(rng, words):
    row = _sample(rng, **words).row(1, 59)
    c, size, draws = row.output(), 1e-4, 4000
    step = size * np.sqrt(np.mean(np.sum(row.K**2, axis=1)) / row.K.shape[1])
    moved = [
        np.sum((row.output(row.K + step * rng.standard_normal(row.K.shape)) - c) ** 2)
        for _ in range(draws)
    ]
    squared = (noise_gain(row) * size * np.linalg.norm(c)) ** 2
    assert abs(np.mean(moved) - squared) < SIGMAS * np.std(moved) / np.sqrt(draws)


@pytest.mark.parametrize("sinks", [None, _LEARNED])
def test_no_corner_of_the_box_beats_the_worst_case(rng, sinks):
    """A learned sink stays where it is, and takes its share."""
    row = _sample(rng, n=14, sinks=sinks).row(0, 13)
    z, c = row.logits(), row.output()
    along = row.V @ c / np.linalg.norm(c)
    corners = z + BOX * (2 * ((np.arange(2**14)[:, None] >> np.arange(14)) & 1) - 1)
    e = np.exp(corners)
    total = e.sum(axis=1) + (0.0 if sinks is None else np.exp(sinks[0]))
    shifts = np.abs((e @ along) / total - np.linalg.norm(c)) / np.linalg.norm(c)
    np.testing.assert_allclose(worst_shift(row), shifts.max(), rtol=AUDIT)


def test_a_row_with_a_sink_is_a_row_of_the_full_maps(rng):
    sample = _sample(rng, sinks=_LEARNED)
    full = naive.full_weights(sample.heads)
    for head in range(4):
        for i in sample.rows:
            row = sample.row(head, int(i))
            wanted = full[head, i, : i + 1] @ row.V
            np.testing.assert_allclose(row.output(), wanted, atol=ROUNDING)
            as_key = row.with_sink_as_key()
            np.testing.assert_allclose(as_key.output(), wanted, atol=ROUNDING)


def test_noise_is_not_measured_where_it_would_move_the_bias(rng):
    sample = _sample(rng, bias_reads_keys=True)
    row = sample.row(0, 59)
    assert np.isnan(noise_gain(row))
    assert np.isfinite(worst_shift(row))
    with pytest.raises(InputError, match="a bias that reads the keys too"):
        quantise.squared_errors(sample, [[row]], (4,))


def test_reachable_keys_are_the_corners_of_a_square():
    K = np.asarray([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.4], [0.3, 0.6]], dtype=float)
    np.testing.assert_array_equal(reachable(K, np.arange(6)), [1, 1, 1, 1, 0, 0])


@pytest.mark.parametrize("per", quantise.PER)
def test_predicted_and_measured_errors_have_one_size(rng, per):
    moved, predicted = [], []
    for _ in range(12):
        sample = _sample(rng, n=64, d=16)
        K = sample.K[0]
        stored, law = rounded(K, bits=4, per=per), GaussianKeys.quantised(K, bits=4, per=per)
        for i in sample.rows:
            row = sample.row(0, int(i))
            moved.append(np.sum((row.output(stored[row.seen]) - row.output()) ** 2))
            predicted.append(predict(row, law))
    ratios = np.asarray(moved) / predicted  # each has mean 1 if the law is right
    spread = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1.0) < SIGMAS * spread
    assert spread < 0.25


def test_the_first_few_sampled_rows_are_a_random_sample(rng):
    """Not the earliest: the table that looks at two rows of eight would favour short rows."""
    heads = Heads(
        np.zeros((1, 64, 2)), np.zeros((1, 64, 2)), np.zeros((1, 64, 2)), 1.0, causal=True
    )
    first = [Sample.draw(heads, Tokens.unknown(64, 64), rng, size=8).rows[:2] for _ in range(400)]
    deviation = np.arange(32).std() / np.sqrt(800)
    assert abs(np.mean(first) - np.arange(32, 64).mean()) < SIGMAS * deviation


def test_padding_is_no_key(rng):
    """Of a text padded on either side: the same rows, errors and reachable keys as of the text
    alone."""
    alone = _sample(rng, n=24)
    heads, rows = alone.heads, alone.rows
    for left, right in ((0, 9), (9, 0)):
        wide = ((0, 0), (left, right), (0, 0))
        real = np.pad(np.ones(24, dtype=bool), (left, right))
        mask = np.tril(np.ones((33, 33), dtype=bool)) & real[None, :]
        padded = Heads(
            *(np.pad(x, wide, constant_values=50.0) for x in (heads.q, heads.k, heads.v)),
            heads.scale,
            mask=mask[None],
        )
        sample = Sample.of_rows(padded, Tokens(real, real, ~real), rows + left)
        np.testing.assert_array_equal(sample.K, alone.K)
        few = [[one.row(h, int(i)) for i in one.rows] for one in (alone, sample) for h in range(4)]
        wanted, found = (
            quantise.squared_errors(one, part, (4,))
            for one, part in ((alone, few[:4]), (sample, few[4:]))
        )
        np.testing.assert_allclose(found.predicted, wanted.predicted, rtol=ROUNDING)
        np.testing.assert_allclose(found.measured, wanted.measured, rtol=ROUNDING)


def test_mean_and_error_leave_out_what_is_undecided():
    mean, error = mean_and_error(np.asarray([[1.0, 0.0, np.nan], [2.0, np.nan, np.nan]]))
    np.testing.assert_allclose(mean, [0.5, 2.0])
    np.testing.assert_allclose(error, [0.5, np.nan])
    np.testing.assert_array_equal(mean_and_error(np.asarray([[np.nan]])), [[np.nan], [np.nan]])
