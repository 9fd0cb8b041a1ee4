"""The same number by independent routes: exact integral, sampling, closed form, limit, mpmath."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tolerances import EXACT_MEAN, QUOTED_FOUR, QUOTED_THREE, SIGMAS, SIMULATED

import headwright as hw

N = 20
MU = np.eye(N)
HALF = np.where(np.arange(N) < 2, 0.5, 0.0)


def classic(beta):
    """The exercise: k_a has random length (variance 1/2), everything else almost none."""
    keys = hw.GaussianKeys(MU, isotropic=1e-4).radial({0: 0.5})
    return keys, beta * (MU[0] + MU[1])[None], beta * MU[:2]


def squared_error(m):
    return float(np.trace(m.covariance) + ((m.mean - HALF) ** 2).sum())


@pytest.mark.parametrize("beta", [2.0, 10.0, 30.0])
@pytest.mark.parametrize("heads", [0, 1], ids=["one head", "two heads"])
def test_exact_equals_sampled_on_the_classic_example(beta, heads):
    keys, *queries = classic(beta)
    exact = hw.moments(queries[heads], keys, MU)
    drawn = hw.moments(queries[heads], keys, MU, method="sampled", samples=2**14)
    assert exact.status == "done"
    assert np.abs(exact.mean - drawn.mean).max() <= SIGMAS * drawn.error
    assert np.abs(exact.covariance - drawn.covariance).max() <= SIGMAS * drawn.error


def test_two_heads_beat_one_by_the_published_numbers():
    """Mean squared error of the weights at beta = 30: 0.462 with one head, 0.0247 with two
    (simulation: 3 digits)."""
    keys, one, two = classic(30.0)
    assert squared_error(hw.moments(one, keys, MU)) == pytest.approx(0.462, abs=2 * QUOTED_THREE)
    assert squared_error(hw.moments(two, keys, MU)) == pytest.approx(0.0247, abs=SIMULATED)


def test_sharp_heads_approach_the_limit():
    """beta = 1e4, no isotropic noise: head 1 loses k_a exactly when its length is negative,
    Phi(-sqrt 2) = 7.86 %."""
    keys = hw.GaussianKeys(MU).radial({0: 0.5})
    m = hw.moments(1e4 * MU[0], keys, MU)
    flip = float(mp.ncdf(-mp.sqrt(2)))
    assert flip == pytest.approx(0.0786, abs=QUOTED_FOUR)
    # Near the flip the weight turns over a width 1/beta of the length, whose density there is below
    # 1/2.
    assert abs(1 - m.weights_mean[0] - flip) <= np.log(N) / 1e4
    coin = hw.moments(1e4 * (MU[0] + MU[1]), keys, MU)
    assert coin.weights_mean[0] == pytest.approx(0.5, abs=EXACT_MEAN)


@given(
    n=st.integers(2, 40),
    beta=st.floats(0, 40),
    noise=st.floats(1e-3, 2.0),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=12)
def test_any_small_problem(n, beta, noise, seed):
    rng = np.random.default_rng(seed)
    keys = hw.GaussianKeys(rng.normal(size=(n, 3)), isotropic=noise)
    q = beta * rng.normal(size=3) / 2
    V = rng.uniform(-1, 1, (n, 2))
    exact = hw.moments(q, keys, V)
    drawn = hw.moments(q, keys, V, method="sampled", samples=2**13, seed=seed)
    assert exact.status == "done"
    assert np.abs(exact.mean - drawn.mean).max() <= SIGMAS * max(drawn.error, EXACT_MEAN)
    assert np.linalg.eigvalsh(exact.covariance).min() >= -exact.covariance_error
