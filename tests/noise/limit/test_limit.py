"""Infinite sharpness: closed forms, mpmath, brute-force sampling of winners, and the classic
exercise."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import reference, tolerances

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.limit.moments import winners
from headwright.noise.limit.winner import race

N, A, B = 20, 3, 5
K = np.eye(N)
CLASSIC = GaussianKeys(K).radial({A: 0.5})
FLIP = float(reference.normal_cdf(-mp.sqrt(2)))


def drawn(q, keys, V, *, samples=40_000, seed=5):
    """Outputs at infinite sharpness by the definition: draw keys in d dimensions, take the largest
    score."""
    draws = keys.sample(np.random.default_rng(seed), samples)
    scores = np.einsum("snd,hd->shn", draws, np.atleast_2d(q))
    first = scores >= scores.max(axis=2, keepdims=True) - 1e-9
    alpha = first / first.sum(axis=2, keepdims=True)
    return alpha, (alpha @ V).mean(axis=1)


def z_scores(estimate, samples):
    apart = samples.mean(axis=0) - np.asarray(estimate)
    return np.abs(apart) / (samples.std(axis=0) / np.sqrt(len(samples)) + tolerances.ROUNDING)


def test_one_head_is_a_fair_coin():
    # c is v_a or v_b, each half of the time: covariance (v_a - v_b)(v_a - v_b)' / 4.
    V = np.random.default_rng(1).normal(size=(N, 3))
    m = hw.moments(K[A] + K[B], CLASSIC, V, method="limit")
    assert m.mean == pytest.approx((V[A] + V[B]) / 2, abs=tolerances.ROUNDING)
    assert m.covariance == pytest.approx(
        np.outer(V[A] - V[B], V[A] - V[B]) / 4, abs=tolerances.ROUNDING
    )


def test_two_heads_lose_the_key_with_probability_7_86_percent():
    found = winners(K[[A, B]], CLASSIC)
    assert found.flip == pytest.approx([FLIP, 0.0], abs=tolerances.ROUNDING)
    assert float(found.flip[0]) == pytest.approx(0.0786496, abs=1e-7)
    # When it is lost, head 1 spreads evenly over the 19 other keys.
    m = hw.moments(K[[A, B]], CLASSIC, np.eye(N), method="limit")
    spread = FLIP / (N - 1)
    assert m.mean[A] == pytest.approx((1 - FLIP) / 2, abs=tolerances.ROUNDING)
    assert m.mean[B] == pytest.approx(0.5 + spread / 2, abs=tolerances.ROUNDING)
    assert m.mean[0] == pytest.approx(spread / 2, abs=tolerances.ROUNDING)
    assert m.covariance[A, A] == pytest.approx(FLIP * (1 - FLIP) / 4, abs=tolerances.ROUNDING)


def test_a_fallback_component_gives_the_other_value_and_a_larger_error():
    # With a little of mu_b in head 1, a lost k_a leaves v_b: half wrong twice, error 1/2 instead of
    # about 1/4.
    target, errors = (K[A] + K[B]) / 2, []
    for fallback in (0.0, 0.1):
        m = hw.moments(K[[A, B]] + fallback * K[[B, B]], CLASSIC, np.eye(N), method="limit")
        errors.append(((m.mean - target) ** 2).sum() + np.trace(m.covariance))
    assert m.mean[A] + m.mean[B] == pytest.approx(1.0, abs=tolerances.ROUNDING)
    # And it is lost more often: below length 0.1 instead of 0.
    lost = float(reference.normal_cdf((mp.mpf("0.1") - 1) / mp.sqrt(0.5)))
    wanted = [FLIP * (1 + 1 / (N - 1)) / 4, lost / 2]
    assert errors == pytest.approx(wanted, abs=tolerances.ROUNDING)


def test_two_equal_heads_reduce_nothing():
    one = hw.moments(K[A] + K[B], CLASSIC, np.eye(N), method="limit")
    two = hw.moments(np.stack([K[A] + K[B], 3 * (K[A] + K[B])]), CLASSIC, np.eye(N), method="limit")
    assert two.covariance == pytest.approx(one.covariance, abs=tolerances.ROUNDING)
    assert two.heads_weights_mean.shape == (2, N)


CASES = {
    "one head, isotropic": (K[A] + K[B], GaussianKeys(K, isotropic=0.2)),
    "two heads, uncorrelated": (K[[A, B]], GaussianKeys(K, isotropic=0.1).radial({A: 0.5})),
    "heads that share one random number": (K[[A, B]] + 0.6 * K[[B, A]], CLASSIC),
    "heads that share many": (K[[A, B]] + 0.6 * K[[B, A]], GaussianKeys(K, isotropic=0.1)),
    "a head that looks away": (np.stack([K[A] - K[B], np.zeros(N)]), CLASSIC),
    "correlated keys": (
        K[[A, B]],
        CorrelatedKeys(GaussianKeys(K, isotropic=0.1), K[None, :, :] * 0.4),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_drawing_the_keys(name):
    q, keys = CASES[name]
    V = np.random.default_rng(2).normal(size=(N, 3))
    m = hw.moments(q, keys, V, method="limit")
    alpha, c = drawn(q, keys, V)
    assert z_scores(m.mean, c).max() < tolerances.SIGMAS
    assert z_scores(m.heads_weights_mean, alpha).max() < tolerances.SIGMAS
    centred = c - m.mean
    assert (
        z_scores(m.covariance, centred[:, :, None] * centred[:, None, :]).max() < tolerances.SIGMAS
    )
    mixed = alpha.mean(axis=1) - m.weights_mean
    assert z_scores(m.weights_variance, mixed**2).max() < tolerances.SIGMAS


def test_the_sampled_engine_converges_to_the_limit():
    V = np.random.default_rng(3).normal(size=(N, 2))
    keys = GaussianKeys(K, isotropic=0.05).radial({A: 0.5})
    sharp = hw.moments(1e7 * K[[A, B]], keys, V, method="sampled", samples=2**15)
    m = hw.moments(K[[A, B]], keys, V, method="limit")
    assert np.abs(sharp.mean - m.mean).max() < tolerances.SIGMAS * sharp.mean_error
    assert (
        np.abs(sharp.covariance - m.covariance).max() < tolerances.SIGMAS * sharp.covariance_error
    )


def test_race_has_closed_forms():
    # Two: Phi((m_0 - m_1) / sqrt(s_0^2 + s_1^2)). Equal ones: 1/n each.
    two = race(np.array([0.3, 1.0]), np.array([1.0, 2.5]))
    wanted = float(reference.normal_cdf((mp.mpf("0.3") - 1) / mp.sqrt(1 + mp.mpf("2.5") ** 2)))
    assert two.chances[0] == pytest.approx(wanted, abs=tolerances.ROUNDING)
    assert race(np.zeros(7), np.full(7, 0.2)).chances == pytest.approx(
        np.full(7, 1 / 7), abs=tolerances.ROUNDING
    )


def test_race_agrees_with_mpmath():
    m, s, floor = [0.0, 0.4, -1.0], [0.5, 1e-3, 3.0], 0.1

    def chance(i):
        def integrand(x):
            rest = [mp.ncdf((x - m[j]) / s[j]) for j in range(3) if j != i]
            return mp.npdf(x, m[i], s[i]) * mp.fprod(rest)

        cuts = [floor, 0.39, 0.395, 0.4, 0.405, 0.41, 1, 2, 4, 8, 30]
        return float(mp.quad(integrand, cuts))

    found = race(np.array(m), np.array(s), floor=floor)
    assert found.chances == pytest.approx([chance(i) for i in range(3)], abs=tolerances.ROUNDING)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 14))
def test_race_chances_sum_to_one_whatever_the_deviations(seed, k, decades):
    rng = np.random.default_rng(seed)
    m, s = rng.normal(size=k), 10 ** -(decades * rng.random(k))
    floor = rng.choice([-np.inf, 0.5])
    found = race(m, s, floor=floor)
    assert found.chances.sum() + found.none == pytest.approx(1.0, abs=tolerances.ROUNDING)
    assert found.error < tolerances.ROUNDING


def test_ties_between_fixed_keys_are_shared_and_biases_break_them():
    V = np.eye(4)
    q, keys = np.array([1.0, 1, 1, 0]), np.eye(4)
    assert hw.moments(q, keys, V, method="limit").mean == pytest.approx(
        [1 / 3] * 3 + [0], abs=tolerances.ROUNDING
    )
    biased = hw.moments(q, keys, V, method="limit", bias=[np.log(2), 0, 0, 9])
    assert biased.mean == pytest.approx([0.5, 0.25, 0.25, 0], abs=tolerances.ROUNDING)
    hidden = hw.moments(q, keys, V, method="limit", mask=[False, True, False, True])
    assert hidden.mean == pytest.approx([0, 1, 0, 0], abs=tolerances.ROUNDING)


def test_ties_survive_rotation(rng):
    # In a rotated basis equal scores differ by rounding, and orthogonal ones are 1e-17 instead of
    # 0.
    basis = np.linalg.qr(rng.normal(size=(N, N)))[0]
    plain, turned = (winners(E[[A, B]], GaussianKeys(E).radial({A: 0.5})) for E in (K, basis))
    assert turned.probabilities == pytest.approx(plain.probabilities, abs=tolerances.ROUNDING)
    assert np.array_equal(turned.noiseless, plain.noiseless)


def test_a_query_of_zeros_is_uniform_and_one_key_always_wins():
    zero = hw.moments(np.zeros(N), CLASSIC, np.eye(N), method="limit")
    assert zero.mean == pytest.approx(np.full(N, 1 / N), abs=tolerances.ROUNDING)
    alone = hw.moments([2.0], GaussianKeys([[1.0]], isotropic=1.0), [[3.0]], method="limit")
    assert (float(alone.mean[0]), float(alone.covariance[0, 0])) == (3.0, 0.0)


def test_value_noise_is_added():
    noise = 0.3
    m = hw.moments(K[A] + K[B], CLASSIC, np.zeros((N, 2)), method="limit", value_noise=noise)
    # One key wins always, so sum_i E[alpha_i^2] = 1 and the winner's noise comes through in full.
    assert m.covariance == pytest.approx(noise * np.eye(2), abs=tolerances.ROUNDING)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries(library):
    xp = pytest.importorskip(library)
    single = K.astype(np.float32)
    keys = GaussianKeys(xp.asarray(single)).radial({A: 0.5})
    tried = (single[[A, B]] + 0.5 * single[[B, A]], single[[A, B]], single[A] + single[B])
    for q in tried[: 1 if library == "jax.numpy" else 3]:  # every new shape costs JAX a compilation
        theirs = hw.moments(xp.asarray(q), keys, xp.asarray(single), method="limit")
        ours = hw.moments(q, CLASSIC, K, method="limit")
        assert type(theirs.mean) is type(xp.asarray(single))
        assert np.asarray(theirs.mean) == pytest.approx(ours.mean, abs=tolerances.SINGLE)
        assert np.asarray(theirs.covariance) == pytest.approx(
            ours.covariance, abs=tolerances.SINGLE
        )


def test_winners_of_a_million_fixed_keys_and_two_random_ones(rng):
    means = np.concatenate([rng.normal(size=1_000_000) * 0.1, [2.0, 2.0]])[:, None]
    found = winners([1.0], GaussianKeys(means, radial={1_000_000: 0.1, 1_000_001: 0.1}))
    assert found.probabilities[0, -2:] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert float(found.probabilities.sum()) == pytest.approx(1.0, abs=tolerances.ROUNDING)


def test_bad_input_is_refused():
    for q, keys in itertools.product([np.ones(3), np.full(N, np.nan)], [CLASSIC]):
        with pytest.raises(InputError):
            winners(q, keys)
