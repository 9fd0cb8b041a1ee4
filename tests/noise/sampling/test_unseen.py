"""What is too rare to be drawn: the integral against quadrature, and sampled moments against exact
ones where keys overtake each other once in hundreds of draws, or in billions."""

import numpy as np
import pytest
from benchmarks import adversary_sampled
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm
from tests.tolerances import QUADRATURE, SIGMAS

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.sampling import unseen

CHANCE = 1e-3
DEVIATIONS = [1e-8, 1e-3, 0.1, 1.0, 3.0, 10.0, 1e3, 1e150]


@pytest.mark.parametrize("s", DEVIATIONS[1:-1])
@pytest.mark.parametrize("ratio", [3.2, 4.0, 6.0])
def test_the_integral_against_quadrature(s, ratio):
    """E[min(1, e^z) - e^c; z > c]."""
    t = -ndtri(CHANCE)
    gap = ratio * s

    def beyond(x):
        return (np.exp(min(0.0, s * x - gap)) - np.exp(s * t - gap)) * norm.pdf(x)

    true = quad(beyond, t, ratio, epsabs=0, limit=200)[0] + quad(beyond, ratio, 40, epsabs=0)[0]
    (found,) = unseen._beyond(np.array([t]), np.array([gap]), np.array([s]), limit=False)
    assert found == pytest.approx(true, rel=QUADRATURE)


@pytest.mark.parametrize("s", [0.0, *DEVIATIONS])
def test_within_reach_only_steps_are_missed(s):
    """Three deviations out P(|z| < 1) is 0.0009 for s = 10, where the chance is 0.001."""
    gap = np.array([[0.0, 0.5 * s, 3.0 * s, np.inf]])
    missed = unseen._missed(gap, np.full(gap.shape, s), np.array([CHANCE]), limit=False)
    first = {10.0: 2, 1e3: 0, 1e150: 0}.get(s, 3)
    steps = [0] * first + [1] * (3 - first) + [0]
    assert missed.tolist() == [[CHANCE * step for step in steps]]


def two_keys(s, ratio, V):
    """Keys of which the second overtakes the first `ratio` deviations out."""
    keys = GaussianKeys([[0.0], [-ratio * s * np.sqrt(2)]], isotropic=s * s)
    exact = hw.moments([1.0], keys, V)
    return exact, hw.moments([1.0], keys, V, method="sampled", samples=2**12)


@pytest.mark.parametrize("s", [0.3, 2.0, 10.0, 300.0])
@pytest.mark.parametrize("ratio", [3.5, 4.5, 6.0, 8.0])
def test_two_keys_that_hardly_ever_change_places(s, ratio, rng):
    exact, drawn = two_keys(s, ratio, rng.normal(size=(2, 3)))
    off = np.abs(drawn.mean - exact.mean).max()
    assert off <= SIGMAS * (drawn.mean_error + exact.mean_error)
    off = np.abs(drawn.covariance - exact.covariance).max()
    assert off <= SIGMAS * (drawn.covariance_error + exact.covariance_error)
    off = np.abs(drawn.weights_mean - exact.weights_mean).max()
    assert off <= SIGMAS * (drawn.error + exact.error)


@pytest.mark.parametrize("s", [1e5, 1e8, 1e12])
@pytest.mark.parametrize("gap", [-1e-3, 1e-5, 1e-2, 0.7])
def test_a_step_between_two_draws(s, gap):
    """The one random number of every replicate is below the step equally often."""
    keys = GaussianKeys([[0.0], [gap * s]]).radial({1: (1 / gap) ** 2})
    V = np.array([[0.0], [1.0]])
    exact = hw.moments([1.0], keys, V)
    drawn = hw.moments([1.0], keys, V, method="sampled", samples=2**10)
    assert np.abs(drawn.mean - exact.mean).max() <= SIGMAS * drawn.mean_error
    assert np.abs(drawn.covariance - exact.covariance).max() <= SIGMAS * drawn.covariance_error


def test_where_draws_reach_everything_standard_errors_are_all(rng):
    """Nothing is added: a standard error falls with the draws, as before."""
    V = rng.normal(size=(2, 3))
    keys = GaussianKeys([[0.0], [-1.0]], isotropic=1.0)
    few, many = (hw.moments([1.0], keys, V, method="sampled", samples=n) for n in (2**10, 2**16))
    assert many.mean_error < few.mean_error / 16
    assert many.message.endswith("standard errors")


def test_two_heads_at_infinite_sharpness(rng):
    """Both heads see the same two keys, whose order changes once in a hundred thousand draws."""
    keys = GaussianKeys([[6.0, 0.3], [0.0, 0.0]], isotropic=1.0)
    Q = np.array([[1.0, 0.0], [1.0, 0.1]])
    V = rng.normal(size=(2, 2))
    drawn = hw.moments(Q, keys, V, method="limit", samples=2**8)
    each = [hw.moments(q, keys, V, method="limit") for q in Q]
    exact = sum(one.mean for one in each) / 2
    assert drawn.message.endswith("too rare to be drawn")
    assert np.abs(drawn.mean - exact).max() <= SIGMAS * drawn.mean_error


def test_factors_that_keys_share_move_no_key_past_another(rng):
    """Both logits are moved alike: the gap between them is fixed, however far they go."""
    shared = 100 * np.ones((1, 2, 1))
    apart = 100 * np.array([1.0, -1.0]).reshape(1, 2, 1)
    still = GaussianKeys([[0.0], [-1000.0]])
    V = rng.normal(size=(2, 1))
    alike, opposed = (
        hw.moments([1.0], CorrelatedKeys(still, factors), V, method="sampled", samples=2**10)
        for factors in (shared, apart)
    )
    assert alike.mean_error < 1e-10
    # Two hundred times a normal number has to be beyond a thousand: once in 3.5 million.
    assert 1e-7 < opposed.mean_error / np.ptp(V) < 1e-6


def test_noise_of_the_values_is_missed_with_the_key(rng):
    """A key that is hardly ever drawn, and whose value is as uncertain as it gets."""
    keys = GaussianKeys([[0.0], [-80.0]], isotropic=100.0)
    noise = np.array([[1e-3], [1e6]])
    exact, drawn = (
        hw.moments([1.0], keys, np.zeros((2, 1)), value_noise=noise, **how)
        for how in ({}, {"method": "sampled", "samples": 2**10})
    )
    off = np.abs(exact.covariance - drawn.covariance).max()
    assert off <= SIGMAS * (drawn.covariance_error + exact.covariance_error)


def test_a_covariance_that_is_no_number_is_refused():
    """In a sentence, and without a warning before it."""
    keys = GaussianKeys([[0.0], [-5.0]], isotropic=1.0)
    with pytest.raises(InputError, match="a covariance beyond them"):
        hw.moments([1.0], keys, [[1e200], [2.0]], method="sampled", samples=64)


@pytest.mark.parametrize("family", adversary_sampled.SAMPLED)
def test_hostile_problems(family):
    row = adversary_sampled.family_row(family, count=4)
    assert row["violations"] == 0
