"""Several heads on the same keys: merged, independent, correlated; against sampling and against
each other."""

import numpy as np
import pytest
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, SIGMAS

import headwright as hw
from headwright.noise import exact as exact_route
from headwright.noise.head import tabulated
from headwright.noise.heads import between, pair


@pytest.fixture
def law(rng):
    means, V = rng.normal(size=(6, 4)), rng.uniform(-1, 1, (6, 3))
    return hw.GaussianKeys(means, isotropic=0.05, diagonal=rng.uniform(0, 0.3, (6, 4))).radial(
        {1: 0.4}
    ), V


def test_identical_heads_reduce_nothing(law, rng):
    keys, V = law
    q = rng.normal(size=4)
    one, two = hw.moments(q, keys, V), hw.moments(np.stack([q, q, q]), keys, V)
    np.testing.assert_allclose(two.covariance, one.covariance, atol=EXACT_COVARIANCE)
    np.testing.assert_allclose(two.mean, one.mean, atol=EXACT_MEAN)


def test_nearly_identical_heads_come_close_to_identical_ones(law, rng):
    """Correlation 1 - 1e-9 goes through the double integral; no merging helps there."""
    keys, V = law
    q = rng.normal(size=4)
    one, two = hw.moments(q, keys, V), hw.moments(np.stack([q, q * (1 + 1e-9)]), keys, V)
    np.testing.assert_allclose(two.covariance, one.covariance, atol=EXACT_COVARIANCE)


def test_uncorrelated_heads_are_independent():
    keys, V = hw.GaussianKeys(np.eye(4), isotropic=0.2), np.eye(4)
    both = hw.moments(3 * np.eye(4)[:2], keys, V)
    alone = [hw.moments(3 * np.eye(4)[i], keys, V) for i in (0, 1)]
    total = alone[0].covariance + alone[1].covariance
    np.testing.assert_allclose(both.covariance, total / 4, atol=EXACT_COVARIANCE)
    np.testing.assert_allclose(both.heads_mean, np.stack([m.mean for m in alone]), atol=EXACT_MEAN)
    np.testing.assert_allclose(both.heads_weights_mean[1], alone[1].weights_mean, atol=EXACT_MEAN)


@pytest.mark.parametrize("size", [0.7, 3.0])
def test_correlated_heads_agree_with_sampling(law, rng, size):
    keys, V = law
    Q, mix = size * rng.normal(size=(3, 4)), np.array([0.5, 0.8, -0.3])
    exact, drawn = (
        hw.moments(Q, keys, V, mix=mix),
        hw.moments(Q, keys, V, mix=mix, method="sampled", samples=2**15),
    )
    assert exact.status == "done"
    assert np.abs(exact.mean - drawn.mean).max() <= SIGMAS * drawn.error
    assert np.abs(exact.covariance - drawn.covariance).max() <= SIGMAS * drawn.error
    assert np.abs(exact.weights_variance - drawn.weights_variance).max() <= SIGMAS * drawn.error


def test_pair_of_logistics_against_a_double_sum():
    """Two keys, two heads: alpha and alpha' are logistics of a bivariate Gaussian, so a plain
    double sum decides."""
    m, s, c = (
        np.array([[1.0, 0.0], [0.5, 0.0]]),
        np.array([[1.5, 0.0], [0.8, 0.0]]),
        np.array([0.9, 0.0]),
    )
    g = np.linspace(-9, 9, 601)
    p = np.exp(-g * g / 2)
    p /= p.sum()
    slope = c[0] / s[0, 0]
    first = 1 / (1 + np.exp(-(m[0, 0] + s[0, 0] * g)))
    second = 1 / (
        1 + np.exp(-(m[1, 0] + slope * g[:, None] + np.sqrt(s[1, 0] ** 2 - slope**2) * g))
    )
    true = p @ (first * (second @ p)) - (p @ first) * (p @ second @ p)
    V = np.eye(2)
    heads = tuple(exact_route.one_head(m[h], s[h], V) for h in (0, 1))
    tables = [tabulated.tabulate(m[h], s[h]) for h in (0, 1)]
    found = pair.pair_moments(*tables, pair.PairLaw(m, s, c), V, heads=heads)
    assert abs(found.covariance[0, 0] - true) <= found.error <= EXACT_COVARIANCE
    assert abs(found.weights[0] - true) <= found.error


def test_too_many_correlated_keys_are_sampled_and_say_so(law, rng, monkeypatch):
    keys, V = law
    Q = rng.normal(size=(2, 4))
    exact = hw.moments(Q, keys, V)
    monkeypatch.setattr(pair, "_WORK", 0.0)
    drawn = hw.moments(Q, keys, V)
    assert drawn.status == "sampled covariance"
    assert np.abs(drawn.covariance - exact.covariance).max() <= drawn.covariance_error
    np.testing.assert_array_equal(drawn.mean, exact.mean)


def test_pairs_after_one_out_of_reach_are_not_tried(law, rng, monkeypatch):
    keys, V = law
    tried = []

    def out_of_reach(problem, law, first, second):
        tried.append((first, second))
        return between.Pair(first, second, None)

    monkeypatch.setattr(exact_route, "between", out_of_reach)
    drawn = hw.moments(rng.normal(size=(4, 4)), keys, V)
    assert drawn.status == "sampled covariance"
    assert len(tried) == 1


def test_sixteen_heads(rng):
    keys, V = hw.GaussianKeys(np.eye(16), isotropic=0.1), np.eye(16)
    m = hw.moments(4 * np.eye(16), keys, V)
    assert abs(m.weights_mean.sum() - 1) <= EXACT_MEAN
    np.testing.assert_allclose(m.mean, 1 / 16, atol=EXACT_MEAN)
