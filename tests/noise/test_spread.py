"""Many keys by a grid against every key by itself."""

import numpy as np
import pytest

from headwright.noise import spread
from headwright.noise.exact import head_moments
from tolerances import EXACT_COVARIANCE, EXACT_MEAN

# deviation of the means, smallest and largest deviation of the logits
LAWS = [
    (1.0, 0.5, 2.0),
    (3.0, 0.5, 2.0),
    (3.0, 0.0, 1.0),
    (3.0, 1.0, 1.0),
    (8.0, 0.5, 2.0),
    (0.0, 0.5, 2.0),
    (0.1, 1e-3, 2e-3),
]


def problem(rng, law, n=500):
    width, low, high = law
    return rng.normal(0, width, n), rng.uniform(low, high, n), rng.uniform(-1, 1, (n, 3))


def agree(found, true):
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert np.abs(found.covariance - true.covariance).max() <= found.second + true.second
    assert np.abs(found.weights_mean - true.weights_mean).sum() <= found.first + true.first
    assert found.first <= EXACT_MEAN
    assert found.second <= EXACT_COVARIANCE


@pytest.mark.parametrize("law", LAWS)
def test_grid_equals_every_key_by_itself(law, rng):
    m, s, V = problem(rng, law)
    agree(spread.logits_moments(m, s, V), head_moments(m, s, V))


def test_wide_noise_is_honest(rng):
    """Deviations up to 30 on graded nodes: whatever is claimed holds."""
    m, s, V = problem(rng, (10.0, 0.0, 30.0), n=300)
    found, true = spread.logits_moments(m, s, V), head_moments(m, s, V)
    assert np.abs(found.mean - true.mean).max() <= found.first + true.first
    assert np.abs(found.covariance - true.covariance).max() <= found.second + true.second


def test_keys_out_of_reach_and_masked_keys(rng):
    m, s, V = problem(rng, (1.0, 0.0, 1.0))
    m[::3] = -1e4
    m[1::3] = -np.inf
    s[1::3] = 0.0
    kept = np.arange(2, 500, 3)
    found, true = spread.logits_moments(m, s, V), head_moments(m[kept], s[kept], V[kept])
    np.testing.assert_allclose(found.mean, true.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(found.covariance, true.covariance, atol=EXACT_COVARIANCE)
    assert found.weights_mean[:2].tolist() == [0.0, 0.0]


def test_one_heavy_key_among_many(rng):
    m, s, V = problem(rng, (1.0, 0.5, 0.6), n=6000)
    m[17] += 12.0
    found = spread.logits_moments(m, s, V)
    assert found.weights_mean[17] > 0.9
    assert abs(found.weights_mean.sum() - 1) <= found.first <= EXACT_MEAN


def test_a_hundred_thousand_equal_keys(rng):
    """Equal keys: E[alpha] = 1/n and sum_i E[alpha_i] = 1, whatever the noise."""
    n = 100_000
    V = rng.choice([-1.0, 1.0], size=(n, 2))
    found = spread.logits_moments(np.zeros(n), np.full(n, 1.5), V)
    assert np.abs(n * found.weights_mean - 1).max() <= EXACT_MEAN
    np.testing.assert_allclose(found.mean, V.mean(axis=0), atol=EXACT_MEAN)
    # Cov[c] = (E[alpha^2] - E[alpha alpha']) sum_i (v_i - mean)(v_i - mean)' for exchangeable keys.
    cross = (1 / n - found.weights_square[0]) / (n - 1)
    centred = V - V.mean(axis=0)
    np.testing.assert_allclose(
        found.covariance, (found.weights_square[0] - cross) * centred.T @ centred, atol=EXACT_COVARIANCE
    )
