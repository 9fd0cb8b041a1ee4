"""Sampling in logit space, against sampling d-dimensional keys, quadrature, and its own standard
error."""

import numpy as np
import pytest
from scipy.integrate import quad
from tests import tolerances

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys, GaussianKeys
from headwright.noise.sampling.normals import point_set

N, D, V_DIM = 6, 4, 3


@pytest.fixture
def setting(rng):
    return rng.normal(size=(N, D)), rng.normal(size=(N, V_DIM))


def by_definition(q, keys, V, *, mix=None, scale=1.0, bias=None, mask=None, samples=10_000):
    """Draw keys in d dimensions and run attention on each: what the engine is a shortcut for."""
    Q = np.atleast_2d(q)
    mix = np.full(len(Q), 1 / len(Q)) if mix is None else np.asarray(mix)
    z = scale * np.einsum("snd,hd->shn", keys.sample(np.random.default_rng(17), samples), Q)
    z = z + (0 if bias is None else bias)
    z = z if mask is None else np.where(mask, z, -np.inf)
    alpha = np.exp(z - z.max(axis=-1, keepdims=True))
    alpha /= alpha.sum(axis=-1, keepdims=True)
    return alpha, np.einsum("h,shn,nv->sv", mix, alpha, V)


def assert_agrees(m, alpha, c, mix=None):
    mix = np.full(alpha.shape[1], 1 / alpha.shape[1]) if mix is None else np.asarray(mix)
    mixed = np.einsum("h,shn->sn", mix, alpha)
    off, odd = c - m.mean, mixed - m.weights_mean
    for value, samples, own in [
        (m.mean, c, m.mean_error),
        (m.covariance, off[:, :, None] * off[:, None, :], m.covariance_error),
        (m.weights_mean, mixed, m.error),
        (m.weights_variance, odd**2, m.error),
        (m.heads_weights_mean, alpha, m.error),
    ]:
        error = np.hypot(samples.std(axis=0) / np.sqrt(len(samples)), own) + tolerances.ROUNDING
        assert (np.abs(samples.mean(axis=0) - value) / error).max() < tolerances.SIGMAS


LAWS = {
    "isotropic": lambda mu: GaussianKeys(mu, isotropic=0.5),
    "radial, three keys fixed": lambda mu: GaussianKeys(mu).radial({0: 0.5, 2: 1.0, 5: 0.1}),
    "everything": lambda mu: GaussianKeys(mu, isotropic=0.1, diagonal=np.arange(D) / 4).radial(
        {1: 0.5}
    ),
    "shared shift": lambda mu: CorrelatedKeys(GaussianKeys(mu, isotropic=0.1), np.eye(D)[:2]),
    "shared factors on two keys": lambda mu: CorrelatedKeys(
        GaussianKeys(mu).radial({1: 0.3}),
        np.eye(N)[:, 1:2] * np.ones((1, N, D)) + np.eye(N)[:, :1] * 0.5,
    ),
    "fixed": GaussianKeys,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("kind", ["sobol", "plain"])
def test_agrees_with_drawing_the_keys(law, heads, kind, setting, rng):
    mu, V = setting
    q, keys = rng.normal(size=(heads, D)), LAWS[law](mu)
    m = hw.moments(q, keys, V, method="sampled", kind=kind, samples=2**13)
    assert_agrees(m, *by_definition(q, keys, V))


def test_mix_scale_bias_and_mask(setting, rng):
    mu, V = setting
    q, keys = rng.normal(size=(2, D)), GaussianKeys(mu, isotropic=0.3).radial({1: 0.5})
    options = {
        "mix": [0.8, -0.3],
        "scale": 1.7,
        "bias": rng.normal(size=(2, N)),
        "mask": rng.random((2, N)) < 0.6,
    }
    m = hw.moments(q, keys, V, method="sampled", samples=2**13, **options)
    assert_agrees(m, *by_definition(q, keys, V, **options), mix=options["mix"])
    assert np.all(m.heads_weights_mean[~options["mask"]] == 0)


@pytest.mark.parametrize("law", ["isotropic", "radial, three keys fixed", "everything", "fixed"])
@pytest.mark.parametrize("heads", [1, 2])
def test_agrees_with_the_exact_engine(law, heads, setting, rng):
    mu, V = setting
    q, keys = 2 * rng.normal(size=(heads, D)), LAWS[law](mu)
    options = {
        "mix": rng.random(heads),
        "bias": rng.normal(size=N),
        "mask": np.arange(N) != 4,
        "value_noise": 0.1,
    }
    exact = hw.moments(q, keys, V, **options)
    m = hw.moments(q, keys, V, method="sampled", **options)
    for name in ("mean", "covariance", "weights_mean", "weights_variance"):
        apart = np.abs(getattr(m, name) - getattr(exact, name)).max()
        assert apart < tolerances.SIGMAS * m.error + exact.error


def test_only_sampling_takes_correlated_keys(setting):
    mu, V = setting
    with pytest.raises(InputError, match="sampled"):
        hw.moments(np.ones(D), LAWS["shared shift"](mu), V)


def test_one_noisy_key_agrees_with_quadrature():
    # alpha_0 = logistic(z_0 - R), R = ln sum of the fixed rest: one integral over z_0.
    mu, beta, rho = np.eye(5), 2.0, 0.5
    rest = np.log(np.exp(beta) + 3)
    q = beta * (mu[0] + mu[1])

    def integrand(g, power):
        return (
            (1 / (1 + np.exp(rest - beta - beta * np.sqrt(rho) * g))) ** power
            * np.exp(-g * g / 2)
            / np.sqrt(2 * np.pi)
        )

    first, second = (quad(integrand, -12, 12, args=(power,), epsabs=1e-13)[0] for power in (1, 2))
    m = hw.moments(q, GaussianKeys(mu).radial({0: rho}), mu, method="sampled")
    assert m.weights_mean[0] == pytest.approx(first, abs=tolerances.SIGMAS * m.error)
    assert m.covariance[0, 0] == pytest.approx(
        second - first**2, abs=tolerances.SIGMAS * m.covariance_error
    )
    assert m.error < tolerances.SOBOL_ONE_DIMENSION


def test_the_standard_error_is_honest(setting):
    # Over 24 seeds the deviation from a far longer run, in standard errors, must look like
    # Student's t.
    mu, V = setting
    keys, q = GaussianKeys(mu, isotropic=0.5), np.ones(D)
    for kind in ("sobol", "plain"):
        truth = hw.moments(q, keys, V, method="sampled", samples=2**18, seed=1, kind="sobol").mean[
            0
        ]
        runs = [
            hw.moments(q, keys, V[:, :1], method="sampled", samples=2**9, seed=s, kind=kind)
            for s in range(24)
        ]
        t = np.array([(float(m.mean[0]) - truth) / m.mean_error for m in runs])
        assert tolerances.T_SPREAD[0] < t.std() < tolerances.T_SPREAD[1]


def test_sobol_beats_plain_by_far(setting):
    mu, V = setting
    runs = {
        kind: hw.moments(
            np.ones(D), GaussianKeys(mu, isotropic=0.5), V, method="sampled", kind=kind
        )
        for kind in ("sobol", "plain")
    }
    assert runs["sobol"].mean_error < runs["plain"].mean_error / 10


def test_same_seed_same_numbers_and_memory_changes_nothing_but_rounding(setting):
    mu, V = setting
    keys, q = GaussianKeys(mu, isotropic=0.5), np.ones(D)
    one, same, small, other = (
        hw.moments(q, keys, V, method="sampled", samples=2**12, **options)
        for options in ({}, {}, {"memory": 4e3}, {"seed": 1})
    )
    assert np.array_equal(one.covariance, same.covariance)
    assert small.covariance == pytest.approx(one.covariance, abs=tolerances.ROUNDING)
    assert not np.array_equal(one.covariance, other.covariance)


def test_fixed_keys_cost_no_random_numbers(rng):
    # 200,000 keys, two of them random: the whole run takes two numbers per sample.
    mu = rng.normal(size=(200_000, 4))
    keys = GaussianKeys(mu).radial({5: 0.5, 7: 0.5})
    m = hw.moments(3 * mu[5], keys, mu, method="sampled", samples=2**12)
    few = [5, 7]
    z = 3 * mu @ mu[5]
    rest = np.delete(np.arange(len(mu)), few)
    lump = np.log(np.exp(z[rest] - z.max()).sum()) + z.max()
    average = (np.exp(z[rest] - lump)[:, None] * mu[rest]).sum(axis=0)
    small = GaussianKeys(np.vstack([mu[few], [[0, 0, 0, 0]]])).radial({0: 0.5, 1: 0.5})
    same = hw.moments(
        3 * mu[5],
        small,
        np.vstack([mu[few], average]),
        method="sampled",
        samples=2**12,
        bias=[0, 0, lump],
    )
    assert m.mean == pytest.approx(same.mean, abs=tolerances.PREFIX)
    assert m.covariance == pytest.approx(same.covariance, abs=tolerances.PREFIX)


def test_value_noise_adds_the_weighted_covariances(setting, rng):
    mu, V = setting
    keys, q, options = (
        GaussianKeys(mu, isotropic=0.2),
        rng.normal(size=(2, D)),
        {"method": "sampled", "samples": 2**10},
    )
    bare = hw.moments(q, keys, V, **options)
    squares = bare.weights_variance + bare.weights_mean**2
    variances, roots = rng.random((N, V_DIM)), rng.normal(size=(N, V_DIM, V_DIM))
    full = roots @ roots.transpose(0, 2, 1)
    for noise, wanted in [
        (0.5, 0.5 * squares.sum() * np.eye(V_DIM)),
        (variances[:, 0], squares @ variances[:, 0] * np.eye(V_DIM)),
        (variances, np.diag(squares @ variances)),
        (full, np.einsum("n,nvw->vw", squares, full)),
    ]:
        noisy = hw.moments(q, keys, V, value_noise=noise, **options)
        assert noisy.covariance - bare.covariance == pytest.approx(wanted, abs=tolerances.ROUNDING)


def test_progress_counts_to_the_end(setting):
    mu, V = setting
    seen = []
    hw.moments(
        np.ones(D), GaussianKeys(mu, isotropic=0.1), V, method="sampled", samples=1000, memory=1e4,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen[-1] == (1024, 1024)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(("library", "heads"), [("torch", 1), ("torch", 2), ("jax.numpy", 2)])
def test_other_libraries_see_the_same_points(library, heads, setting, rng):
    xp = pytest.importorskip(library)
    mu, V, q = (x.astype(np.float32) for x in (*setting, rng.normal(size=(heads, D))))
    options = {"method": "sampled", "samples": 2**10}
    ours = hw.moments(q, GaussianKeys(mu, isotropic=0.3), V, **options)
    theirs = hw.moments(
        xp.asarray(q), GaussianKeys(xp.asarray(mu), isotropic=0.3), xp.asarray(V), **options
    )
    assert type(theirs.covariance) is type(xp.asarray(V))
    assert np.asarray(theirs.mean) == pytest.approx(ours.mean, abs=tolerances.SINGLE)
    assert np.asarray(theirs.covariance) == pytest.approx(ours.covariance, abs=tolerances.SINGLE)


def test_huge_sharpness_and_huge_noise_stay_finite(setting):
    mu, V = setting
    for size in (1e-200, 1e4, 1e100):
        m = hw.moments(
            size * np.ones(D), GaussianKeys(mu, isotropic=0.5), V, method="sampled", samples=2**8
        )
        assert np.all(np.isfinite(m.covariance))
        assert m.weights_mean.sum() == pytest.approx(1.0, abs=tolerances.ROUNDING)


def test_more_dimensions_than_sobol_has():
    points = point_set(30_000, samples=64, replicates=2, kind="sobol", seed=0)
    blocks = [block for _, block in points.blocks(32)]
    assert [block.shape for block in blocks] == [(32, 30_000)] * 2
    assert np.all(np.isfinite(blocks[0]))
    assert np.std(blocks[0]) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"samples": 0}, "samples"),
        ({"kind": "halton"}, "kind"),
        ({"replicates": 1}, "replicates"),
        ({"memory": -1.0}, "memory"),
    ],
)
def test_bad_options_are_refused(options, word, setting):
    mu, V = setting
    with pytest.raises(InputError, match=word):
        hw.moments(np.ones(D), GaussianKeys(mu), V, method="sampled", **options)
