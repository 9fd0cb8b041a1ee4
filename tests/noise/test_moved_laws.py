"""Distributions and probabilities from a law that is off on purpose: the logits are moved by as
much as the law says they may be, and the stated error has to cover what that does. Two noisy keys
or one: no sampling is involved."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tolerances import ROUNDING

import headwright as hw
from headwright.noise import exceedance, weight_distribution
from headwright.noise.problem import Problem

MEANS = np.array([[0.3], [-0.4], [0.1], [0.0]])
ONE_NOISY = np.array([0.9, 0.0, 0.0, 0.0])
NONE_NOISY = np.zeros(4)
VALUES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [0.2, -0.7]])
X = np.array([0.05, 0.2, 0.3, 0.5, 0.8])


def keys(variances):
    return hw.GaussianKeys(MEANS, isotropic=variances)


@pytest.fixture
def moved(monkeypatch):
    """Every law afterwards is off by up to `size` in the means and, of noisy keys, in the
    variances, and says so."""

    def move(size, seed):
        exact = Problem.law.func

        def law(self):
            true = exact(self)
            rng = np.random.default_rng(seed)
            noisy = true.variances > 0
            return replace(
                true,
                means=true.means + size * rng.choice([-1.0, 1.0], true.means.shape),
                variances=true.variances
                + noisy * size * rng.choice([-1.0, 1.0], true.variances.shape),
                means_error=np.full(true.means.shape, size),
                root_error=np.where(noisy, np.sqrt(size), 0.0),
            )

        monkeypatch.setattr(Problem, "law", property(law))

    return move


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize("what", ["cdf", "quantile"])
def test_the_law_of_a_weight(what, size, seed, moved):
    true = getattr(weight_distribution([1.0], keys(ONE_NOISY), 0), what)(X)
    moved(size, seed)
    found = getattr(weight_distribution([1.0], keys(ONE_NOISY), 0), what)(X)
    off = np.abs(found.value - true.value).max()
    assert size / 100 <= off <= found.error + true.error


@pytest.mark.parametrize("size", [1e-4, 1e-2])
def test_a_weight_without_noise(size, moved):
    """Its distribution function is a step: where it may be on either side, nothing is known."""
    place = hw.attend([1.0], MEANS, VALUES).weights[0]
    moved(size, 1)
    law = weight_distribution([1.0], keys(NONE_NOISY), 0)
    assert law.cdf(place).error >= 1.0
    assert law.cdf(place + 10 * size).error <= ROUNDING
    assert law.cdf(place - 10 * size).error <= ROUNDING


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e-2])
def test_the_probability_to_be_far_off(size, seed, moved):
    given = ([1.0], keys(ONE_NOISY), VALUES, [0.2, 0.1], 0.3)
    true = exceedance(*given)
    moved(size, seed)
    found = exceedance(*given)
    assert true.method == found.method == "exact"
    off = abs(found.value - true.value)
    assert size / 100 <= off <= found.error + true.error


@pytest.mark.parametrize("size", [1e-4, 1e-2])
def test_a_distance_without_noise(size, moved):
    output = hw.attend([1.0], MEANS, VALUES).output
    distance = float(np.linalg.norm(output - [0.2, 0.1]))
    moved(size, 2)
    given = ([1.0], keys(NONE_NOISY), VALUES, [0.2, 0.1])
    assert exceedance(*given, distance).error == 1.0
    assert exceedance(*given, distance + 20 * size).error == 0.0


def test_ordinary_problems_keep_their_digits():
    law = weight_distribution([1.0], keys(ONE_NOISY), 0)
    assert law.method == "closed form"
    for found in (law.cdf(X), law.quantile(X), law.density(X)):
        assert 0.0 < found.error <= 1e-12
    assert exceedance([1.0], keys(ONE_NOISY), VALUES, [0.2, 0.1], 0.3).error <= 1e-12
