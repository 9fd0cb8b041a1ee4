"""How often the output is far off: the numbers of the classic example, and plain counting."""

import numpy as np
import pytest
from scipy.special import logit, ndtr

import headwright as hw
import tolerances
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.far import exceedance

N, A, B, BETA = 20, 3, 5, 30.0
K = np.eye(N)
TARGET = (K[A] + K[B]) / 2
CLASSIC = GaussianKeys(K).radial({A: 0.5})
HEADS = {"one": BETA * (K[A] + K[B]), "two": BETA * K[[A, B]]}


def counted(q, keys, tau, samples=50_000):
    z = np.einsum("snd,hd->shn", keys.sample(np.random.default_rng(4), samples), np.atleast_2d(q))
    alpha = np.exp(z - z.max(axis=-1, keepdims=True))
    c = (alpha / alpha.sum(axis=-1, keepdims=True)).mean(axis=1)
    return (np.linalg.norm(c - TARGET, axis=1) > tau).mean()


def test_two_heads_are_far_off_in_ten_percent_of_all_draws():
    found = exceedance(HEADS["two"], CLASSIC, K, TARGET, np.sqrt(0.05))
    assert found.method == "exact"
    assert found.value == pytest.approx(0.103, abs=5e-4)
    # And the mean squared error of the weights, 0.462 with one head, 0.0246 with two.
    for heads, wanted in (("one", 0.4625), ("two", 0.0246)):
        m = hw.moments(HEADS[heads], CLASSIC, K)
        assert ((m.mean - TARGET) ** 2).sum() + np.trace(m.covariance) == pytest.approx(wanted, abs=1e-4)


def test_one_head_has_a_closed_form():
    # With n = 2, c - target = (alpha_a - 1/2)(1, -1): far off iff |alpha_a - 1/2| > tau / sqrt 2.
    keys, tau, beta = GaussianKeys(np.eye(2)).radial({0: 0.5}), 0.3, 4.0
    reach = logit(0.5 + tau / np.sqrt(2)) / (beta * np.sqrt(0.5))
    found = exceedance(beta * np.ones(2), keys, np.eye(2), [0.5, 0.5], tau)
    assert found.value == pytest.approx(2 * ndtr(-reach), abs=tolerances.ROUNDING)


@pytest.mark.parametrize("beta", [1e2, 1e4])
def test_a_narrow_window_is_not_missed(beta):
    keys, tau = GaussianKeys(np.eye(2)).radial({0: 0.5}), 0.3
    reach = logit(0.5 + tau / np.sqrt(2)) / (beta * np.sqrt(0.5))
    found = exceedance(beta * np.ones(2), keys, np.eye(2), [0.5, 0.5], tau)
    assert found.value == pytest.approx(2 * ndtr(-reach), abs=tolerances.ROUNDING)


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize(
    "keys",
    [
        CLASSIC,
        GaussianKeys(K, isotropic=1e-4).radial({A: 0.5}),
        GaussianKeys(K).radial({A: 0.5, B: 0.5}),
        CorrelatedKeys(GaussianKeys(K), 0.3 * K[None, :, :]),
    ],
    ids=["classic", "all noisy", "two noisy", "correlated"],
)
def test_agrees_with_counting(heads, keys):
    found = exceedance(HEADS[heads], keys, K, TARGET, 0.2, samples=2**13)
    share = counted(HEADS[heads], keys, 0.2)
    error = np.hypot(found.error, np.sqrt(share * (1 - share) / 50_000)) + 1 / 50_000
    assert abs(found.value - share) < tolerances.SIGMAS * error


def test_without_noise_it_is_certain():
    q = K[A] + K[B]
    sure = np.linalg.norm(hw.attend(q, K, K).output - TARGET)
    assert exceedance(q, K, K, TARGET, sure + 1e-9).value == 0.0
    assert exceedance(q, K, K, TARGET, sure - 1e-9).value == 1.0


def test_bad_input_is_refused():
    for target, tau in ((TARGET[:-1], 0.1), (TARGET, -1.0), (TARGET, np.nan), (np.full(N, np.inf), 0.1)):
        with pytest.raises(InputError):
            exceedance(HEADS["one"], CLASSIC, K, target, tau)
