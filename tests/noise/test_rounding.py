"""Rounding of the logits: the stated errors against exact rational logits, whatever the keys have
in common.

The reference takes the stored numbers as fractions, so its logits have no error at all; every key
goes through the integrals by itself (`head_moments`, which other tests confront with mpmath)."""

import mpmath as mp
import numpy as np
import pytest
from tests.noise import twin
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, SIGMAS

import headwright as hw
from headwright.attention import Scores
from headwright.errors import InputError
from headwright.keys import CentredLaw, centred, centred_law
from headwright.noise import exceedance, rounding, weight_distribution, winners
from headwright.noise.gradient.squared_error import squared_error
from headwright.noise.head.integral import head_moments


def reference(q, K, V, covariances, **options):
    m, s = twin.rational_law(q, K, covariances, **options)
    return head_moments(m, s, np.asarray(V, dtype=float))


def holds(found, true):
    """The stated errors cover the distance to the reference, whose own error counts as well."""
    for name, own in (
        ("mean", true.first * true.farthest),
        ("covariance", true.second * true.farthest**2),
    ):
        off = np.abs(getattr(found, name).astype(float) - getattr(true, name)).max()
        assert off <= getattr(found, f"{name}_error") + own, name
    assert (
        np.abs(found.weights_mean.astype(float) - true.weights_mean).max()
        <= found.error + true.first
    )


@pytest.mark.parametrize("power", [0, 10, 24, 40, 60])
@pytest.mark.parametrize("through", ["keys", "bias"])
def test_a_shift_common_to_all_logits_changes_nothing(power, through, rng):
    """Means on a coarse lattice, so that the shifted ones are numbers, too."""
    m = np.round(rng.normal(size=60) * 2.0 ** min(20, 52 - power - 3)) / 2.0 ** min(
        20, 52 - power - 3
    )
    V, shift = rng.uniform(-1, 1, (60, 3)), 2.0**power
    m = m if power < 60 else 1024.0 * np.round(rng.normal(size=60))
    K, bias = (m[:, None] + shift, None) if through == "keys" else (m[:, None], np.full(60, shift))
    found = hw.moments(np.ones(1), hw.GaussianKeys(K, isotropic=0.5), V, bias=bias)
    plain = hw.moments(np.ones(1), hw.GaussianKeys(m[:, None], isotropic=0.5), V)
    assert found.status == "done"
    np.testing.assert_allclose(found.mean, plain.mean, rtol=0, atol=found.mean_error)
    holds(found, reference(np.ones(1), K, V, np.full((60, 1), 0.5), bias=bias))


@pytest.mark.parametrize("size", [1e3, 1e7, 1e10, 1e15])
def test_a_component_common_to_all_keys_and_orthogonal_to_the_query(size, rng):
    K, V = rng.normal(size=(3, 2)) + size, rng.uniform(-1, 1, (3, 2))
    q = np.array([0.7, -0.7])
    found = hw.moments(q, hw.GaussianKeys(K, isotropic=0.1), V)
    assert found.status == "done"
    holds(found, reference(q, K, V, np.full((3, 2), 0.1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_large_channel(dtype, rng):
    K, V = rng.normal(size=(100, 64)).astype(dtype), rng.uniform(-1, 1, (100, 2)).astype(dtype)
    K[:, 3] += dtype(1000)
    q, variance = (rng.normal(size=64) / 8).astype(dtype), np.full(100, 0.1, dtype=dtype)
    found = hw.moments(q, hw.GaussianKeys(K, isotropic=variance), V)
    assert found.status == "done"
    assert found.mean.dtype == dtype
    holds(found, reference(q, K, V, variance[:, None] * np.ones((1, 64), dtype=dtype)))


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
@pytest.mark.parametrize("n", [20, 5000])
def test_other_libraries_get_the_same_digits(library, n, rng):
    """Compensated on the host, few keys or many: torch has double precision, JAX as it comes has
    not."""
    xp = pytest.importorskip(library)
    K, q, V = (rng.normal(size=s).astype(np.float32) for s in ((n, 3), (3,), (n, 2)))
    K += np.float32(3e5)
    q -= q.mean()
    variance = np.full(n, 0.3, dtype=np.float32)
    host = hw.moments(q, hw.GaussianKeys(K, isotropic=variance), V)
    keys = hw.GaussianKeys(xp.asarray(K), isotropic=xp.asarray(variance))
    for method in ("exact", "sampled", "limit"):
        options = {"samples": 2**7} if method == "sampled" else {}
        found = hw.moments(xp.asarray(q), keys, xp.asarray(V), method=method, **options)
        assert type(found.mean) is type(xp.asarray(V))
        assert found.mean.dtype == xp.asarray(V).dtype
        if method == "exact":
            assert (
                np.abs(np.asarray(found.mean) - host.mean).max()
                <= found.mean_error + host.mean_error
            )


def test_keys_that_are_large_and_nearly_orthogonal_to_the_query(rng):
    """Nothing is common to them: only a product with more digits helps."""
    q = rng.normal(size=5)
    K = 1e9 * rng.normal(size=(8, 5))
    K -= np.outer(K @ q, q) / (q @ q)
    V = rng.uniform(-1, 1, (8, 2))
    found = hw.moments(q, hw.GaussianKeys(K, isotropic=0.1), V)
    assert found.status == "done"
    holds(found, reference(q, K, V, np.full((8, 5), 0.1)))


@pytest.mark.parametrize("seed", range(8))
def test_every_part_of_the_covariance(seed):
    """Factors and full covariances whose variance along the query is the rest of a cancellation."""
    rng = np.random.default_rng(seed)
    n, d, size = 4, 3, 10.0 ** rng.uniform(0, 7)
    K, q, V = rng.normal(size=(n, d)), rng.normal(size=d), rng.uniform(-1, 1, (n, 2))
    along = size * rng.normal(size=(n, d, 1))
    along -= (np.einsum("ndr,d->nr", along, q) / (q @ q))[:, None, :] * q[:, None]
    F = along + 0.5 * rng.normal(size=(n, d, 1)) / size
    by_factors = hw.moments(q, hw.GaussianKeys(K, factors=F), V)
    holds(by_factors, _of_factors(q, K, V, F))
    C = np.stack([f @ f.T for f in rng.normal(size=(n, d, d))])
    holds(hw.moments(q, hw.GaussianKeys(K, covariance=C), V), reference(q, K, V, C))


def _of_factors(q, K, V, F):
    """`(F' q)^2` in fractions, for factors of one column."""
    m, _ = twin.rational_law(q, K, np.zeros((len(K), len(q))))
    seen = twin.rational_logits(q, F[:, :, 0])
    return head_moments(m, np.array([abs(float(x)) for x in seen]), V)


def test_radial_noise_of_keys_with_a_common_channel(rng):
    """Its variance is rho (q . mu)^2: the overlap itself, not a difference of two."""
    K, V, q = rng.normal(size=(5, 2)) + 1e9, rng.uniform(-1, 1, (5, 2)), np.array([0.7, -0.7])
    found = hw.moments(q, hw.GaussianKeys(K).radial(np.full(5, 0.25)), V)
    m, _ = twin.rational_law(q, K, np.zeros((5, 2)))
    s = 0.5 * np.abs([float(x) for x in twin.rational_logits(q, K)])
    assert found.status == "done"
    holds(found, head_moments(m, s, V))


def test_two_keys_against_mpmath(rng):
    K, V, q = rng.normal(size=(2, 2)) + 1e10, np.eye(2), np.array([0.7, -0.7])
    found = hw.moments(q, hw.GaussianKeys(K, isotropic=0.3), V)
    m, s = twin.rational_law(q, K, np.full((2, 2), 0.3))
    first, second = twin.two_keys(m, s)
    assert abs(found.mean[0] - first) <= found.mean_error
    assert abs(found.covariance[0, 0] - (second - first**2)) <= found.covariance_error


def test_rounding_that_cannot_be_undone_is_said(rng):
    """Terms of 1e40 in a product of size one: no bound of ours is good for anything, and the status
    says so."""
    q = np.array([1.0, 1.0, 1.0])
    K = np.array([[1e40, -1e40, 1.0], [1e40, -1e40, 0.0], [2e40, -2e40, -1.0]])
    found = hw.moments(q, hw.GaussianKeys(K, isotropic=0.1), np.eye(3))
    assert found.status == "inaccurate mean and covariance"
    holds(found, reference(q, K, np.eye(3), np.full((3, 3), 0.1)))


@pytest.mark.parametrize("seed", range(10))
def test_the_law_within_its_own_errors(seed):
    """Plain and compensated alike: means, up to a shift, and variances against fractions."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 12)
    K, Q = rng.normal(size=(6, 4)) + size, rng.normal(size=(1, 4))
    D, bias = rng.uniform(0, 1, (6, 4)), size * rng.normal(size=(1, 6))
    law = centred_law(hw.GaussianKeys(K, diagonal=D), Q, Scores(0.3, bias))
    z = twin.rational_logits(Q[0], K, scale=0.3, bias=bias[0])
    top = z[int(np.argmax(law.means[0]))]
    off = np.array([float(x - top) for x in z]) - law.means[0]
    assert (
        np.abs(off) <= np.broadcast_to(law.means_error[0], 6) + 2e-16 * np.abs(law.means[0])
    ).all()
    _, s = twin.rational_law(Q[0], K, D, scale=0.3)
    assert (np.abs(s**2 - law.variances[0]) <= law.cross_error(0, 0) + 1e-15 * s**2).all()


def perturbed(law, rng, means, variances):
    """A law whose means and variances are off by up to so much, and whose errors say so."""
    e, f = means * rng.random(law.means.shape), variances * rng.random(law.means.shape)
    moved = (
        law.means + e * rng.choice([-1, 1], e.shape),
        law.variances + f * rng.choice([-1, 1], f.shape),
    )
    none = np.zeros((1, 1))
    errors = {"means_error": e, "amplitude_error": none, "root_error": np.sqrt(f)}
    return CentredLaw(*moved, lambda: None, shift=law.shift, **errors)


@pytest.mark.parametrize("which", [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("seed", range(12))
def test_a_law_that_is_off_is_covered(seed, which):
    """Errors made visible: the law is moved by 1e-6 .. 0.01, and the moments by no more than
    stated."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(2, 8)), 10.0 ** rng.uniform(-6, -2)
    K, V = rng.normal(size=(n, 1)) * rng.choice([0.3, 3.0, 30.0]), rng.uniform(-1, 1, (n, 2))
    keys = hw.GaussianKeys(K, isotropic=0.2 + rng.choice([0.0, 10.0, 1e4], n) * rng.random(n))
    law = centred_law(keys, np.ones((1, 1)), Scores())
    other = perturbed(law, rng, *(size * x for x in which))
    true, off = (head_moments(x.means[0], np.sqrt(x.variances[0]), V) for x in (law, other))
    stated = rounding.with_rounding(off, other, 0, m=other.means[0])
    assert stated.first > off.first
    assert np.abs(true.mean - off.mean).max() <= (stated.first + true.first) * off.farthest
    assert (
        np.abs(true.covariance - off.covariance).max()
        <= (stated.second + true.second) * off.farthest**2
    )
    assert np.abs(true.weights_mean - off.weights_mean).sum() <= stated.first + true.first


@pytest.mark.parametrize("which", [(1.0, 0.0), (0.0, 50.0)])
@pytest.mark.parametrize("seed", range(4))
def test_wide_logits_that_are_off_are_covered(seed, which):
    """Deviations of 100, means off by up to 1 and variances by up to 50: only the distance of the
    laws is small."""
    rng = np.random.default_rng(seed)
    keys, V = (
        hw.GaussianKeys(rng.normal(size=(4, 1)), isotropic=rng.uniform(0.5e4, 1e4, 4)),
        rng.uniform(-1, 1, (4, 2)),
    )
    law = centred_law(keys, np.ones((1, 1)), Scores())
    other = perturbed(law, rng, *which)
    true, off = (head_moments(x.means[0], np.sqrt(x.variances[0]), V) for x in (law, other))
    stated = rounding.with_rounding(off, other, 0, m=other.means[0])
    apart = np.abs(true.mean - off.mean).max() / off.farthest
    assert 1e-5 <= apart <= stated.first <= 0.1


def test_a_wide_key_is_told_by_its_distribution_and_a_far_one_not_at_all():
    """Deviation 1e8: a unit in the last place of its variance is 1, and means nothing."""
    keys = hw.GaussianKeys(np.array([[0.0], [1.0], [-1e30]]), isotropic=np.array([1e16, 0.0, 1.0]))
    found = hw.moments(np.ones(1), keys, np.eye(3))
    assert found.status == "done"
    assert found.weights_mean[0] == pytest.approx(0.5, abs=1e-7)


def test_ordinary_keys_take_the_plain_product(rng, monkeypatch):
    monkeypatch.setattr(centred, "_compensated", None)
    K, V = rng.normal(size=(2000, 64)), rng.normal(size=(2000, 8))
    found = hw.moments(rng.normal(size=64), hw.GaussianKeys(K, isotropic=0.1), V)
    assert found.status == "done"


# What is huge, and whether one key then wins for sure.
HUGE = {
    "means of 1e20": ({"means": 1e20}, True),
    "means of 1e300": ({"means": 1e300}, True),
    "deviations of 1e16": ({"isotropic": 1e32}, False),
    "deviations of 1e100": ({"isotropic": 1e200}, False),
    "bias of 1e308": ({"bias": np.full(3, 1e308)}, False),
    "one bias of 1e308": ({"bias": np.array([0.0, 1e308, 0.0])}, True),
    "biases 2e308 apart": ({"bias": np.array([-1e308, 1e308, -1e308])}, True),
    "all of it": ({"means": 1e20, "isotropic": 1e40}, False),
}


def huge(name, rng):
    change, sure = HUGE[name]
    means = rng.normal(size=(3, 2)) * change.get("means", 1.0)
    keys = hw.GaussianKeys(means, isotropic=change.get("isotropic", 0.1))
    return np.array([0.7, -0.7]), keys, rng.uniform(-1, 1, (3, 2)), change.get("bias"), sure


@pytest.mark.parametrize("name", HUGE)
def test_huge_logits_have_a_right_answer(name, rng):
    q, keys, V, bias, sure = huge(name, rng)
    exact = hw.moments(q, keys, V, bias=bias)
    drawn = hw.moments(q, keys, V, bias=bias, method="sampled", samples=2**12)
    assert exact.status == "done"
    assert np.abs(exact.mean - drawn.mean).max() <= SIGMAS * drawn.mean_error + exact.mean_error
    if sure:
        z = twin.rational_logits(q, keys.means, bias=bias)
        np.testing.assert_allclose(exact.mean, V[z.index(max(z))], atol=EXACT_MEAN)
        np.testing.assert_allclose(exact.covariance, 0.0, atol=EXACT_COVARIANCE)


@pytest.mark.parametrize("name", HUGE)
def test_huge_logits_everywhere_else(name, rng):
    q, keys, V, bias, _ = huge(name, rng)
    numbers = [
        hw.moments(q, keys, V, bias=bias, method="limit").covariance,
        weight_distribution(q, keys, 0, bias=bias, samples=2**8).cdf([0.1, 0.5]).value,
        weight_distribution(q, keys, 0, bias=bias, samples=2**8).quantile([0.1, 0.5]).value,
        exceedance(q, keys, V, np.zeros(2), 0.5, bias=bias, samples=2**8).value,
        winners(q, keys, bias=bias).probabilities,
        *squared_error(q[None], keys, V, np.zeros(2), bias=bias),
    ]
    assert all(np.isfinite(x).all() for x in numbers)


def test_logits_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="mean logits"):
        hw.moments(np.full(2, 1e200), np.full((3, 2), 1e200), np.eye(3))
    with pytest.raises(InputError, match="covariance of the logits"):
        hw.moments(np.full(2, 1e200), hw.GaussianKeys(np.eye(2), isotropic=1.0), np.eye(2))


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("method", ["exact", "sampled", "limit"])
def test_a_covariance_beyond_single_precision_is_refused(method, n, rng):
    keys = hw.GaussianKeys(
        rng.normal(size=(n, 2)).astype(np.float32), isotropic=np.full(n, 4.0, dtype=np.float32)
    )
    q, V = np.ones(2, dtype=np.float32), rng.normal(size=(n, 2)).astype(np.float32)
    with pytest.raises(InputError, match="double precision"):
        hw.moments(q, keys, V * np.float32(1e21), method=method)
    fine = hw.moments(q, keys, V.astype(float) * 1e21, method=method)
    assert np.isfinite(fine.covariance).all()


def test_values_out_of_reach_count_in_the_error(rng):
    """A key 50 below the others has a weight of 1e-22, and a value of 1e30: what is lost of it must
    be stated."""
    n = 60
    K, V = rng.normal(size=(n, 1)) * 0.1, rng.uniform(-1, 1, (n, 1))
    K[1:] -= 50.0
    V[5] = 1e30
    found = hw.moments(np.ones(1), hw.GaussianKeys(K, isotropic=1e-4), V)
    m, s = twin.rational_law(np.ones(1), K, np.full((n, 1), 1e-4))
    true = mp.exp(mp.mpf(m[5]) + mp.mpf(s[5]) ** 2 / 2) * mp.mpf(10) ** 30
    assert abs(found.mean[0] - true) <= found.mean_error
