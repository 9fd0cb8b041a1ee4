"""How often the output is far off: the numbers of the classic example, and plain counting."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr
from scipy.stats import binom
from tests import tolerances

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.tail_probability import CONFIDENCE, exceedance, interval

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
    assert found.value == pytest.approx(0.103, abs=tolerances.QUOTED_THREE)
    # And the mean squared error of the weights, 0.462 with one head, 0.0246 with two.
    for heads, wanted in (("one", 0.4625), ("two", 0.0246)):
        m = hw.moments(HEADS[heads], CLASSIC, K)
        assert ((m.mean - TARGET) ** 2).sum() + np.trace(m.covariance) == pytest.approx(
            wanted, abs=tolerances.QUOTED_FOUR
        )


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
    for target, tau in (
        (TARGET[:-1], 0.1),
        (TARGET, -1.0),
        (TARGET, np.nan),
        (np.full(N, np.inf), 0.1),
    ):
        with pytest.raises(InputError):
            exceedance(HEADS["one"], CLASSIC, K, target, tau)


def rare(reach):
    """Two noisy keys and a tau that is passed with probability 2 Phi(-reach): z_a - z_b ~ N(0,
    beta^2)."""
    beta = 4.0
    tau = np.sqrt(2) * (expit(beta * reach) - 0.5)
    keys = GaussianKeys(np.eye(2)).radial({0: 0.5, 1: 0.5})
    return (beta * np.ones(2), keys, np.eye(2), [0.5, 0.5], tau), 2 * ndtr(-reach)


@pytest.mark.parametrize("samples", [2**8, 2**12, 2**16])
@pytest.mark.parametrize("reach", [4.5, 5.5, 7.0])
def test_a_count_of_none_is_bounded_by_what_it_can_know(reach, samples):
    problem, truth = rare(reach)
    found = exceedance(*problem, samples=samples)
    assert found.method == "sampled"
    assert found.value == 0.0
    assert found.error > truth or samples * truth > 1
    assert found.error == pytest.approx(
        -np.log1p(-CONFIDENCE) / samples, rel=tolerances.NONE_OF_MANY
    )
    assert "95% confidence" in found.message


def test_a_count_of_all_is_bounded_too():
    q, keys, V, _, _ = rare(1.0)[0]
    found = exceedance(q, keys, V, [9.0, 9.0], 1.0, samples=2**10)
    assert found.value == 1.0
    assert found.error == pytest.approx(-np.log1p(-CONFIDENCE) / 2**10, rel=tolerances.NONE_OF_MANY)


def test_replicates_that_agree_on_something_are_not_certain_either():
    # Far off is half of the line of the first number, and every Sobol replicate has exactly half of
    # its points there.
    keys = GaussianKeys(np.eye(3)).radial({0: 0.5, 1: 0.5})
    Q, V, first = 4 * np.eye(3)[:2], np.eye(3)[:, :1], [1.0, 0.0]
    middle = float(hw.multihead(Q, np.eye(3), V, mix=first).output[0])
    found = exceedance(Q, keys, V, [0.0], middle, mix=first, samples=2**10)
    assert (found.value, found.method) == (0.5, "sampled")
    assert 0.01 < found.error < 0.1


@pytest.mark.parametrize("draws", [20, 1000, 65536])
def test_the_interval_covers_as_often_as_it_says(draws):
    """Exactly, by summing the binomial law over all counts whose interval misses the truth."""
    counts = np.unique(
        np.concatenate([np.arange(min(draws, 60) + 1), draws - np.arange(min(draws, 60) + 1)])
    )
    ends = np.array([interval(int(k), draws) for k in counts])
    for p in (1e-6, 1.0 / draws, 3.5 / draws, 20.0 / draws, 1 - 2.0 / draws):
        chance = np.exp(binom.logpmf(counts, draws, p))
        assert chance[p > ends[:, 1]].sum() <= 1 - CONFIDENCE + 1e-12
        assert chance[p < ends[:, 0]].sum() <= 1 - CONFIDENCE + 1e-12
