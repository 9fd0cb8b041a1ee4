"""Row-sampled measures, the key-cache table and the exercise's claim, each by a second route."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import AUDIT, LINEARISED, ROUNDING, SIGMAS
from tests.trained import naive
from tests.trained.families import build

import headwright as hw
from headwright.errors import InputError
from headwright.keys import GaussianKeys, rounded
from headwright.trained.cache import key_noise, quantise
from headwright.trained.cache.prediction import predict
from headwright.trained.claim import CLAIMS, angles, check_claim
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


@pytest.mark.parametrize("softcap", [None, 1.3])
def test_noise_gain_is_the_slope_of_real_noise(rng, softcap):
    row = _sample(rng, softcap=softcap).row(1, 59)
    c, size, draws = row.output(), 1e-4, 4000
    step = size * np.sqrt(np.mean(np.sum(row.K**2, axis=1)) / row.K.shape[1])
    moved = [
        np.sum((row.output(row.K + step * rng.standard_normal(row.K.shape)) - c) ** 2)
        for _ in range(draws)
    ]
    squared = (noise_gain(row) * size * np.linalg.norm(c)) ** 2
    assert abs(np.mean(moved) - squared) < SIGMAS * np.std(moved) / np.sqrt(draws)


def test_no_corner_of_the_box_beats_the_worst_case(rng):
    row = _sample(rng, n=14).row(0, 13)
    z, c = row.logits(), row.output()
    along = row.V @ c / np.linalg.norm(c)
    corners = z + BOX * (2 * ((np.arange(2**14)[:, None] >> np.arange(14)) & 1) - 1)
    e = np.exp(corners)
    shifts = np.abs((e @ along) / e.sum(axis=1) - np.linalg.norm(c)) / np.linalg.norm(c)
    np.testing.assert_allclose(worst_shift(row), shifts.max(), rtol=AUDIT)


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


def test_the_table_and_the_budget():
    model, inputs = build("llama")
    result = hw.audit(model, inputs, rows=2, key_bits=(8, 4, 2))
    noise = result.key_noise
    assert [(s.per, s.bits) for s in noise.settings] == [
        (p, b) for p in quantise.PER for b in (8, 4, 2)
    ]
    for coarse, fine in ((2, 4), (4, 8)):
        by = {(s.per, s.bits): np.median(s.predicted) for s in noise.settings}
        assert all(by[per, coarse] > by[per, fine] for per in quantise.PER)
    budget = noise.budget(0.05)
    for h, bits in enumerate(budget):
        predicted = {s.bits: s.predicted[h] for s in noise.settings if s.per == "channel"}
        assert bits is None or predicted[bits] <= 0.05
        assert all(predicted[b] > 0.05 for b in predicted if bits is None or b < bits)
    heads = result.plain()["key_noise"]["heads"]
    assert len(heads) == len(result)
    assert all(
        heads[3][f"{s.per}{s.bits}_predicted_se"] == s.predicted_se[3] > 0 for s in noise.settings
    )
    assert all(
        heads[3][f"{s.per}{s.bits}_measured_se"] == s.measured_se[3] > 0 for s in noise.settings
    )


def test_one_row_has_no_standard_error():
    model, _ = build("llama")
    result = hw.audit(model, [list(range(1, 20))], rows=1, key_bits=(4,))
    assert result.rows()[0]["token4_predicted_se"] is None
    assert {one["unsettled"] for one in result.plain()["key_noise"]["budgets"]} == {len(result)}
    assert "Unsettled" in result.to_html()


def test_the_standard_error_is_the_spread_of_repeated_samples(rng):
    """200 rows drawn again and again, squared errors that go with the squared sizes: e spreads as
    its error says."""
    size = rng.gamma(3.0, size=(2000, 200))
    error, se = key_noise.relative_error(0.04 * size * rng.exponential(size=size.shape), size)
    np.testing.assert_allclose(np.mean(se), np.std(error), rtol=LINEARISED)
    assert abs(np.mean(error) - 0.2) < np.mean(se)


def test_the_standard_error_for_outputs_of_one_size_is_that_of_a_mean(rng):
    """Then e^2 is a plain mean, and d(e^2) = 2 e de."""
    squares = rng.exponential(size=(5, 7))
    error, se = key_noise.relative_error(squares, np.full((5, 7), 2.0))
    mean, mean_se = mean_and_error(squares / 2.0)
    np.testing.assert_allclose(error**2, mean, rtol=ROUNDING)
    np.testing.assert_allclose(2.0 * error * se, mean_se, rtol=ROUNDING)


def test_standard_errors_at_the_ends():
    """One row says nothing about others; no error in any row is no error; a head that puts out
    nothing is no NaN."""
    assert np.isnan(key_noise.relative_error(np.ones((1, 1)), np.ones((1, 1)))[1])
    for size in (np.ones((1, 4)), np.zeros((1, 4))):
        np.testing.assert_array_equal(
            key_noise.relative_error(np.zeros((1, 4)), size), np.zeros((2, 1))
        )


def test_a_budget_near_the_threshold_is_not_settled():
    """Heads: far below at 2 bits; just below at 2 bits; just above at 2 bits; above at 4 bits too;
    one row only."""
    near = np.asarray([0.01, 0.045, 0.055, 0.5, 0.01])
    se = np.asarray([0.001, 0.004, 0.004, 0.01, np.nan])
    far = np.asarray([0.001, 0.002, 0.002, 0.3, 0.001])
    settings = tuple(
        key_noise.CacheSetting("channel", bits, x, x, se, se) for bits, x in ((4, far), (2, near))
    )
    noise = key_noise.KeyNoise(tuple(("model", 0, h) for h in range(5)), settings)
    found = next(one for one in noise.budgets() if one["error"] == 0.05)
    assert found["bits"] == noise.budget(0.05) == [2, 2, 4, None, 2]
    assert found["bits_low"] == [2, 2, 2, None, 2]
    assert found["bits_high"] == [2, 4, 4, None, None]
    assert found["unsettled"] == 3


def test_the_first_few_sampled_rows_are_a_random_sample(rng):
    """Not the earliest: the table that looks at two rows of eight would favour short rows."""
    heads = Heads(
        np.zeros((1, 64, 2)), np.zeros((1, 64, 2)), np.zeros((1, 64, 2)), 1.0, causal=True
    )
    first = [Sample.draw(heads, Tokens.unknown(64, 64), rng, size=8).rows[:2] for _ in range(400)]
    deviation = np.arange(32).std() / np.sqrt(800)
    assert abs(np.mean(first) - np.arange(32, 64).mean()) < SIGMAS * deviation


def test_the_claim_holds_for_a_head_built_by_it(rng):
    """Orthonormal keys and q = beta (k_a + k_b): the angle is 0 at any sharpness; a part along a
    third key opens it."""
    K = np.eye(6)
    q = 5.0 * (K[1] + K[4])
    asked = np.stack([q, q / 5.0])
    degrees, mass = angles(asked, K, asked @ K.T, CLAIMS["b.q"])
    np.testing.assert_allclose(degrees, 0.0, atol=AUDIT)
    np.testing.assert_allclose(mass[0], 2 * np.exp(5) / (2 * np.exp(5) + 4), rtol=ROUNDING)
    sideways = (K[1] + K[4] + 0.99 * K[2])[None]
    cosine = 2 / np.sqrt(2) / np.sqrt(2 + 0.99**2)
    np.testing.assert_allclose(
        angles(sideways, K, sideways @ K.T, CLAIMS["b.q"])[0], np.degrees(np.arccos(cosine))
    )


def test_the_claim_on_a_model():
    model, inputs = build("gpt2")
    report = check_claim(model, inputs, "b.q", angle=60.0)
    assert len(report.heads) == 8
    assert 0.0 <= report.within <= 1.0
    wider = check_claim(model, inputs, "b.q", angle=120.0)
    assert wider.within >= report.within
    assert "b.q" in report.sentence
    with pytest.raises(InputError, match="a claim about queries"):
        check_claim(model, inputs, "z.z")
    with pytest.raises(InputError, match="longer text"):
        check_claim(model, [[3, 4]], "b.q")


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


def test_the_claim_is_not_tested_on_a_model_that_puts_out_no_numbers():
    model, inputs = build("llama")
    model.norm.weight.data[0] = float("nan")
    with pytest.raises(InputError, match="NaN or infinity in the output of LlamaModel"):
        check_claim(model, inputs, "b.q")


def test_mean_and_error_leave_out_what_is_undecided():
    mean, error = mean_and_error(np.asarray([[1.0, 0.0, np.nan], [2.0, np.nan, np.nan]]))
    np.testing.assert_allclose(mean, [0.5, 2.0])
    np.testing.assert_allclose(error, [0.5, np.nan])
    np.testing.assert_array_equal(mean_and_error(np.asarray([[np.nan]])), [[np.nan], [np.nan]])
