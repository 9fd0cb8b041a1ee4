"""The table of keys in few bits: its standard errors, and the fewest bits per head."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import LINEARISED, ROUNDING
from tests.trained.families import build

import headwright as hw
from headwright.trained.cache.key_noise import CacheSetting, KeyNoise, relative_error
from headwright.trained.cache.quantise import PER
from headwright.trained.measures.sampled import mean_and_error


def test_the_table_and_the_budget():
    model, inputs = build("llama")
    result = hw.audit(model, inputs, rows=2, key_bits=(8, 4, 2))
    noise = result.key_noise
    assert [(s.per, s.bits) for s in noise.settings] == [(p, b) for p in PER for b in (8, 4, 2)]
    for coarse, fine in ((2, 4), (4, 8)):
        by = {(s.per, s.bits): np.median(s.predicted) for s in noise.settings}
        assert all(by[per, coarse] > by[per, fine] for per in PER)
    channels = [s for s in noise.settings if s.per == "channel"]
    # Two query heads read each key head: the worse of them decides. Errors between the two tell.
    pairs = [s.predicted.reshape(-1, 2) for s in channels]
    for error in [0.05, *np.concatenate(pairs).mean(axis=1)]:
        budget = noise.budget(error)
        assert len(budget) == len(result) // 2
        for key_head, bits in enumerate(budget):
            worse = {s.bits: max(two[key_head]) for s, two in zip(channels, pairs, strict=True)}
            assert bits is None or worse[bits] <= error
            assert all(worse[b] > error for b in worse if bits is None or b < bits)
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
    assert {one["unsettled"] for one in result.plain()["key_noise"]["budgets"]} == {
        len(result) // 2
    }
    assert "Unsettled" in result.to_html()


def test_the_standard_error_is_the_spread_of_repeated_samples(rng):
    """200 rows drawn again and again, squared errors that go with the squared sizes: e spreads as
    its error says."""
    size = rng.gamma(3.0, size=(2000, 200))
    error, se = relative_error(0.04 * size * rng.exponential(size=size.shape), size)
    np.testing.assert_allclose(np.mean(se), np.std(error), rtol=LINEARISED)
    assert abs(np.mean(error) - 0.2) < np.mean(se)


def test_the_standard_error_for_outputs_of_one_size_is_that_of_a_mean(rng):
    """Then e^2 is a plain mean, and d(e^2) = 2 e de."""
    squares = rng.exponential(size=(5, 7))
    error, se = relative_error(squares, np.full((5, 7), 2.0))
    mean, mean_se = mean_and_error(squares / 2.0)
    np.testing.assert_allclose(error**2, mean, rtol=ROUNDING)
    np.testing.assert_allclose(2.0 * error * se, mean_se, rtol=ROUNDING)


def test_standard_errors_at_the_ends():
    """One row says nothing about others; no error in any row is no error; a head that puts out
    nothing is no NaN."""
    assert np.isnan(relative_error(np.ones((1, 1)), np.ones((1, 1)))[1])
    for size in (np.ones((1, 4)), np.zeros((1, 4))):
        np.testing.assert_array_equal(relative_error(np.zeros((1, 4)), size), np.zeros((2, 1)))


def test_a_budget_near_the_threshold_is_not_settled():
    """Heads: far below at 2 bits; just below at 2 bits; just above at 2 bits; above at 4 bits too;
    one row only."""
    near = np.asarray([0.01, 0.045, 0.055, 0.5, 0.01])
    se = np.asarray([0.001, 0.004, 0.004, 0.01, np.nan])
    far = np.asarray([0.001, 0.002, 0.002, 0.3, 0.001])
    settings = tuple(
        CacheSetting("channel", bits, x, x, se, se) for bits, x in ((4, far), (2, near))
    )
    noise = KeyNoise(tuple(("model", 0, h) for h in range(5)), settings)
    found = next(one for one in noise.budgets() if one["error"] == 0.05)
    assert found["bits"] == noise.budget(0.05) == [2, 2, 4, None, 2]
    assert found["bits_low"] == [2, 2, 2, None, 2]
    assert found["bits_high"] == [2, 4, 4, None, None]
    assert found["unsettled"] == 3
