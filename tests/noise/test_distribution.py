"""The law of one weight: closed form, mpmath, empirical distribution, and its own moments."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import tolerances

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.distribution import weight_distribution

N, A, B, BETA = 20, 3, 5, 6.0
K = np.eye(N)
Q = BETA * (K[A] + K[B])
X = np.array([0.01, 0.2, 0.5, 0.8, 0.99])

LAWS = {
    "one noisy key": GaussianKeys(K).radial({A: 0.5}),
    "two": GaussianKeys(K).radial({A: 0.5, B: 0.1}),
    "all": GaussianKeys(K, isotropic=0.01).radial({A: 0.5, B: 0.1}),
    "tiny beside large": GaussianKeys(K, isotropic=1e-8).radial({A: 0.5}),
    "correlated": CorrelatedKeys(GaussianKeys(K, isotropic=0.02), 0.3 * K[None, :, :]),
}
METHOD = {"one noisy key": "closed form", "two": "quadrature"}


def drawn(keys, q=Q, samples=100_000):
    z = keys.sample(np.random.default_rng(3), samples) @ q
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", LAWS)
def test_distribution_function_is_the_empirical_one(name):
    alpha = drawn(LAWS[name], samples=20_000)
    for key in (A, B, 0):
        law = weight_distribution(Q, LAWS[name], key)
        assert law.method == (
            "sampled" if (name, key) == ("two", 0) else METHOD.get(name, "sampled")
        )
        found = law.cdf(X)
        share = (alpha[:, key, None] <= X).mean(axis=0)
        error = np.hypot(np.sqrt(share * (1 - share) / len(alpha)), found.error) + 1 / len(alpha)
        assert (np.abs(found.value - share) / error).max() < tolerances.SIGMAS


def test_one_noisy_key_has_a_closed_form():
    # alpha_a <= x  <=>  z_a <= ln(e^beta + n - 2) + logit x
    x, s = mp.mpf("0.3"), BETA * mp.sqrt(mp.mpf("0.5"))
    rest = mp.log(mp.exp(BETA) + N - 2)
    t = (rest + mp.log(x / (1 - x)) - BETA) / s
    law = weight_distribution(Q, LAWS["one noisy key"], A)
    assert law.cdf(0.3).value == pytest.approx(float(mp.ncdf(t)), abs=tolerances.ROUNDING)
    density = mp.npdf(t) / s / (x * (1 - x))
    assert law.density(0.3).value == pytest.approx(float(density), abs=tolerances.ROUNDING)
    assert law.quantile(float(mp.ncdf(t))).value == pytest.approx(0.3, abs=tolerances.ROUNDING)


@pytest.mark.parametrize("key", [A, B, 0])
def test_two_noisy_keys_agree_with_mpmath(key):
    # P(alpha_key <= x) as a double integral over z_a, z_b, the inner one in closed form (over the
    # other order).
    mp.mp.dps = 20
    s = {A: BETA * mp.sqrt(mp.mpf("0.5")), B: BETA * mp.sqrt(mp.mpf("0.1"))}
    x = mp.mpf("0.2") if key != 0 else mp.mpf("0.004")
    odds = mp.log(x / (1 - x))

    def given_b(zb):
        """P(alpha_key <= x | z_b), integrating z_a."""
        if key == A:
            limit = mp.log(mp.exp(zb) + N - 2) + odds
            return mp.ncdf((limit - BETA) / s[A])
        own, others = (zb, N - 2) if key == B else (mp.mpf(0), N - 3 + mp.exp(zb))
        left = mp.exp(own - odds) - others
        return mp.mpf(1) if left <= 0 else mp.ncdf((BETA - mp.log(left)) / s[A])

    kink = {A: [], B: [mp.log(N - 2) + odds], 0: [mp.log(mp.exp(-odds) - (N - 3))]}[key]
    cuts = sorted([BETA + k * s[B] for k in (-12, -6, -3, 0, 3, 6, 12)] + kink)
    wanted = mp.quad(lambda z: given_b(z) * mp.npdf(z, BETA, s[B]), cuts)
    mp.mp.dps = 50
    found = weight_distribution(Q, LAWS["two"], key).cdf(float(x))
    if key == 0:  # its own logit is fixed, so one of two others is sampled
        assert found.method == "sampled"
        assert abs(found.value - float(wanted)) < tolerances.SIGMAS * found.error
    else:
        assert found.method == "quadrature"
        assert abs(found.value - float(wanted)) <= found.error + tolerances.ROUNDING
    assert found.error < tolerances.WEIGHT_LAW


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_invert_the_distribution_function(name):
    law = weight_distribution(Q, LAWS[name], A)
    p = np.array([0.05, 0.5, 0.95])
    back = law.cdf(law.quantile(p).value)
    assert back.value == pytest.approx(p, abs=tolerances.SIGMAS * back.error + tolerances.PREFIX)


@pytest.mark.parametrize("name", ["one noisy key", "two", "all", "correlated"])
def test_density_integrates_to_the_distribution_function_and_the_exact_mean(name):
    law = weight_distribution(Q, LAWS[name], A, samples=2**13)
    # Substitute x = logistic(y): the density is then smooth on the whole line.
    y = np.linspace(-60, 30, 451)
    x = 1 / (1 + np.exp(-y))
    per_logit = law.density(x[x < 1]).value * (x * (1 - x))[x < 1]
    step = y[1] - y[0]
    assert per_logit.sum() * step == pytest.approx(1.0, abs=tolerances.DENSITY)
    method = "sampled" if name == "correlated" else "exact"
    mean = hw.moments(Q, LAWS[name], K, method=method)
    assert (per_logit * x[x < 1]).sum() * step == pytest.approx(
        mean.weights_mean[A], abs=tolerances.DENSITY
    )


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_distribution_functions_rise_from_zero_to_one(seed):
    rng = np.random.default_rng(seed)
    keys = GaussianKeys(rng.normal(size=(4, 3)), isotropic=rng.choice([0.0, 1.0], size=4))
    law = weight_distribution(3 * rng.normal(size=3), keys, 0, samples=2**8)
    values = law.cdf(np.linspace(0, 1, 50)).value
    assert np.all(np.diff(values) >= 0)
    assert (values[0] >= 0, values[-1]) == (True, 1.0)


def test_bias_scale_and_mask_are_heard():
    keys = GaussianKeys(K, isotropic=0.05)
    seen = np.arange(N) < 8
    law = weight_distribution(Q, keys, A, scale=0.5, bias=0.3 * K[0], mask=seen)
    z = np.where(
        seen, 0.5 * keys.sample(np.random.default_rng(0), 20_000) @ Q + 0.3 * K[0], -np.inf
    )
    e = np.exp(z)
    share = ((e[:, A] / e.sum(axis=1))[:, None] <= X).mean(axis=0)
    assert law.cdf(X).value == pytest.approx(share, abs=tolerances.SIGMAS * 0.5 / np.sqrt(20_000))
    hidden = weight_distribution(Q, keys, 9, mask=seen)
    assert (hidden.cdf(0.0).value, hidden.quantile(0.5).value) == (
        1.0,
        pytest.approx(0.0, abs=1e-300),
    )


def test_a_weight_without_noise_is_a_step():
    law = weight_distribution(Q, K, A)
    sure = float(hw.attend(Q, K, K).weights[A])
    assert (law.cdf(sure - 1e-9).value, law.cdf(sure + 1e-9).value) == (0.0, 1.0)
    assert law.quantile(0.5).value == pytest.approx(sure, abs=tolerances.ROUNDING)
    with pytest.raises(InputError, match="density"):
        law.density(0.5)


def test_the_only_key_has_all_the_weight():
    law = weight_distribution([1.0], GaussianKeys([[1.0]], isotropic=1.0), 0)
    assert (law.cdf(0.999).value, law.cdf(1.0).value) == (0.0, 1.0)


def test_extreme_sharpness_is_a_coin():
    law = weight_distribution(1e4 * (K[A] + K[B]), GaussianKeys(K).radial({A: 0.5}), A)
    assert law.cdf([1e-6, 0.5, 1 - 1e-6]).value == pytest.approx([0.5] * 3, abs=1e-3)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries(library):
    xp = pytest.importorskip(library)
    keys = GaussianKeys(xp.asarray(K.astype(np.float32)), isotropic=0.01)
    ours = weight_distribution(Q, GaussianKeys(K, isotropic=0.01), A, samples=2**10).cdf(X)
    theirs = weight_distribution(xp.asarray(Q.astype(np.float32)), keys, A, samples=2**10).cdf(X)
    assert theirs.value == pytest.approx(ours.value, abs=tolerances.SINGLE)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: weight_distribution(Q, K, N), "key"),
        (lambda: weight_distribution(np.stack([Q, Q]), K, A), "one query"),
        (lambda: weight_distribution(Q, LAWS["all"], A).cdf(np.nan), "finite"),
        (lambda: weight_distribution(Q, LAWS["all"], A).quantile(1.0), "strictly"),
        (lambda: weight_distribution(Q, LAWS["all"], A).density([0.5, 0.0]), "strictly"),
    ],
)
def test_bad_input_is_refused(call, word):
    with pytest.raises(InputError, match=word):
        call()
