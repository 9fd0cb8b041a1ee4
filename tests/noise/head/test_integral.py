"""One head, every key by itself: against 25 digits, over the whole range that is promised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise import twin
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, ROUNDING

from headwright.noise.head.integral import head_moments

EYE = np.eye(2)
TWO_KEYS = [
    ((0.0, 0.0), (1.0, 1.0)),
    ((2.0, -1.0), (0.5, 0.0)),
    ((1e4, 1e4 - 3), (1e-3, 2.0)),
    ((30.0, 30.0), (21.2, 0.42)),
    ((0.0, 5.0), (1e3, 0.0)),
    ((100.0, -200.0), (1e3, 3.0)),
    ((-7.0, 0.0), (250.0, 999.0)),
    ((0.0, 40.0), (0.0, 10.0)),
    ((0.0, 0.0), (0.0, 0.0)),
]


@pytest.mark.parametrize(("m", "s"), TWO_KEYS)
def test_two_keys_against_the_twin(m, s):
    first, second = (float(x) for x in twin.two_keys(m, s))
    h = head_moments(np.array(m), np.array(s), EYE)
    assert abs(h.mean[0] - first) <= h.first <= EXACT_MEAN
    assert abs(h.covariance[0, 0] - (second - first**2)) <= h.second <= EXACT_COVARIANCE
    assert abs(h.weights_square[0] - second) <= h.second


@given(
    gap=st.floats(-50, 50),
    s=st.tuples(st.floats(0, 20), st.floats(0, 20)),
    shift=st.floats(-1e4, 1e4),
)
@settings(max_examples=40)
def test_two_keys_anywhere(gap, s, shift):
    """E[alpha] of a logistic of a Gaussian by a plain fine sum, slow and without any theory."""
    g = np.linspace(-9, 9, 20_001)
    with np.errstate(over="ignore"):
        weight = 1 / (1 + np.exp(-gap - np.hypot(*s) * g))
    density = np.exp(-g * g / 2)
    h = head_moments(np.array([shift + gap, shift]), np.array(s), EYE)
    # The gap between two logits of size |shift| is itself rounded.
    assert abs(h.mean[0] - density @ weight / density.sum()) <= EXACT_MEAN + ROUNDING * abs(shift)
    assert h.first <= EXACT_MEAN
    assert h.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("s", [(0.7, 1.9), (2.0, 0.1)])
def test_four_keys_two_of_them_noisy(s):
    m = [1.0, 0.5, 0.0, -1.0]
    first, second = twin.two_noisy(m, s)
    h = head_moments(np.array(m), np.array([*s, 0.0, 0.0]), np.eye(4))
    first = np.array([float(x) for x in first])
    second = np.array([[float(x) for x in row] for row in second])
    assert np.abs(h.mean - first).max() <= h.first
    assert np.abs(h.covariance - (second - np.outer(first, first))).max() <= h.second


def test_one_key_has_all_the_weight():
    h = head_moments(np.array([3.0]), np.array([1e3]), np.array([[2.0, -1.0]]))
    assert h.weights_mean.tolist() == [1.0]
    assert h.mean.tolist() == [2.0, -1.0]
    assert not h.covariance.any()


def test_equal_keys_share_equally():
    h = head_moments(np.full(7, 2.0), np.full(7, 5.0), np.eye(7))
    assert np.abs(h.weights_mean - 1 / 7).max() <= h.first


def test_masked_keys_change_nothing(rng):
    m, s, V = rng.normal(size=6), rng.uniform(0, 3, 6), rng.normal(size=(6, 2))
    seen = head_moments(m[:4], s[:4], V[:4])
    masked = head_moments(np.append(m[:4], [-np.inf] * 2), np.append(s[:4], [0.0, 0.0]), V)
    np.testing.assert_allclose(masked.mean, seen.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(masked.covariance, seen.covariance, atol=EXACT_COVARIANCE)
    assert not masked.weights_mean[4:].any()


def test_a_common_shift_of_logits_or_values_is_seen_for_what_it_is(rng):
    m, s, V = rng.normal(size=5), rng.uniform(0, 3, 5), rng.normal(size=(5, 3))
    a, b = head_moments(m, s, V), head_moments(m + 100.0, s, V + 1e3)
    np.testing.assert_allclose(b.mean, a.mean + 1e3, atol=1e3 * ROUNDING + EXACT_MEAN)
    np.testing.assert_allclose(b.covariance, a.covariance, atol=EXACT_COVARIANCE)


def test_no_variance_of_a_weight_is_negative(rng):
    """Heavy tails: rounding of the heavy keys is more than all that a faint one has."""
    for _ in range(100):
        m = 3 * rng.standard_t(2, 100)
        s = 10 ** rng.uniform(-2, 0, 100)
        h = head_moments(m, s, np.ones((100, 1)))
        assert (h.weights_square >= h.weights_mean**2).all()
