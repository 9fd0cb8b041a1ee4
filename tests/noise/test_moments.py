"""The public function: shapes, batches, array libraries, masks, biases, value noise, bad input."""

import numpy as np
import pytest
from tests.tolerances import EXACT_COVARIANCE, EXACT_MEAN, SIGMAS, SINGLE

import headwright as hw
from headwright.errors import InputError
from headwright.keys import CorrelatedKeys


@pytest.fixture
def case(rng):
    keys = hw.GaussianKeys(rng.normal(size=(5, 3)), isotropic=0.2).radial({0: 0.5})
    return rng.normal(size=3), keys, rng.normal(size=(5, 2))


def test_zero_query_is_uniform(case):
    _, keys, V = case
    m = hw.moments(np.zeros(3), keys, V)
    np.testing.assert_allclose(m.weights_mean, 0.2, atol=EXACT_MEAN)
    assert not m.covariance.any()


def test_no_noise_is_attention(case):
    q, keys, V = case
    m = hw.moments(50 * q, keys.means, V)
    np.testing.assert_allclose(m.mean, hw.attend(50 * q, keys.means, V).output, atol=EXACT_MEAN)
    assert not m.covariance.any()


def test_mask_removes_keys(case):
    q, keys, V = case
    mask = np.array([True, False, True, True, False])
    seen = hw.moments(q, hw.GaussianKeys(keys.means[mask], isotropic=0.2).radial({0: 0.5}), V[mask])
    m = hw.moments(q, keys, V, mask=mask)
    np.testing.assert_allclose(m.mean, seen.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(m.covariance, seen.covariance, atol=EXACT_COVARIANCE)
    assert m.weights_mean[1] == 0 == m.weights_variance[4]


def test_one_visible_key_is_certain(case):
    q, keys, V = case
    m = hw.moments(q, keys, V, mask=np.arange(5) == 3)
    np.testing.assert_allclose(m.mean, V[3], atol=EXACT_MEAN)
    np.testing.assert_allclose(m.covariance, 0.0, atol=EXACT_COVARIANCE)


def test_bias_and_scale_shift_the_logits(case):
    q, keys, V = case
    bias = np.linspace(-2, 2, 5)
    exact = hw.moments(q, keys, V, scale=0.5, bias=bias)
    drawn = hw.moments(q, keys, V, scale=0.5, bias=bias, method="sampled", samples=2**15)
    assert np.abs(exact.mean - drawn.mean).max() <= SIGMAS * drawn.error


@pytest.mark.parametrize("heads", [1, 2])
def test_value_noise_adds_its_share(case, rng, heads):
    _, keys, V = case
    Q = rng.normal(size=(heads, 3))
    plain = hw.moments(Q, keys, V)
    square = plain.weights_variance + plain.weights_mean**2
    full = np.broadcast_to(np.array([[1.0, 0.3], [0.3, 0.5]]), (5, 2, 2))
    for noise, added in (
        (0.7, 0.7 * square.sum() * np.eye(2)),
        (np.arange(5.0), (square * np.arange(5)).sum() * np.eye(2)),
        (np.tile([1.0, 2.0], (5, 1)), square.sum() * np.diag([1.0, 2.0])),
        (full, square.sum() * full[0]),
    ):
        noisy = hw.moments(Q, keys, V, value_noise=noise)
        np.testing.assert_allclose(
            noisy.covariance - plain.covariance, added, atol=EXACT_COVARIANCE
        )


@pytest.mark.parametrize("n", [5, 5000], ids=["host", "device"])
def test_torch_in_torch_out(rng, n):
    torch = pytest.importorskip("torch")
    q, K, V = rng.normal(size=3), rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    host = hw.moments(q, hw.GaussianKeys(K, isotropic=0.3), V)
    one = hw.moments(
        *(torch.asarray(x) for x in (q,)),
        hw.GaussianKeys(torch.asarray(K), isotropic=0.3),
        torch.asarray(V),
    )
    assert isinstance(one.mean, torch.Tensor)
    np.testing.assert_allclose(one.mean.numpy(), host.mean, atol=EXACT_MEAN)
    np.testing.assert_allclose(one.covariance.numpy(), host.covariance, atol=EXACT_COVARIANCE)
    np.testing.assert_allclose(one.weights_mean.numpy(), host.weights_mean, atol=EXACT_MEAN)


@pytest.mark.parametrize("n", [5, 5000])
def test_jax_in_jax_out(rng, n):
    jnp = pytest.importorskip("jax.numpy")
    q, K, V = (rng.normal(size=s).astype(np.float32) for s in ((3,), (n, 3), (n, 2)))
    host = hw.moments(q, hw.GaussianKeys(K, isotropic=0.3), V)
    one = hw.moments(jnp.asarray(q), hw.GaussianKeys(jnp.asarray(K), isotropic=0.3), jnp.asarray(V))
    assert "jax" in type(one.mean).__module__
    np.testing.assert_allclose(np.asarray(one.mean), host.mean, atol=SINGLE)
    np.testing.assert_allclose(np.asarray(one.covariance), host.covariance, atol=SINGLE)


def test_single_precision_says_how_far_it_is_off(case):
    q, keys, V = (x.astype(np.float32) for x in (case[0], case[1].means, case[2]))
    m = hw.moments(q, hw.GaussianKeys(keys, isotropic=np.float32(0.2)), V)
    assert m.mean.dtype == np.float32
    # The same numbers in double precision: the law of the logits is the same, only the result is
    # rounded.
    double = hw.GaussianKeys(keys.astype(float), isotropic=float(np.float32(0.2)))
    wide = hw.moments(q.astype(float), double, V.astype(float))
    assert 0 < np.abs(m.mean - wide.mean).max() <= m.mean_error <= SINGLE
    assert 0 < np.abs(m.covariance - wide.covariance).max() <= m.covariance_error <= SINGLE


def test_a_batch_of_one_keeps_its_axis_in_a_nested_list(case):
    q, keys, V = case
    for given in (q[None, None].tolist(), q[None, None]):
        m = hw.moments(given, keys, V)
        assert m.mean.shape == (1, 2)
        assert m.heads_weights_mean.shape == (1, 1, 5)
    assert hw.moments(q[None].tolist(), keys, V).mean.shape == (2,)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "guess"},
        {"mask": np.zeros(5, dtype=bool)},
        {"mask": np.ones(5)},
        {"bias": np.ones(4)},
        {"value_noise": -1.0},
        {"value_noise": np.ones((2, 2, 2))},
        {"scale": float("nan")},
        {"mix": np.ones(3)},
    ],
    ids=str,
)
def test_bad_options_are_refused(case, change):
    with pytest.raises(InputError, match="try:"):
        hw.moments(*case, **change)


@pytest.mark.parametrize(
    "q", [np.ones(4), np.ones((2, 2, 2, 3)), np.array([np.nan, 0, 0]), np.ones((0, 3))], ids=repr
)
def test_bad_queries_are_refused(case, q):
    with pytest.raises(InputError, match="try:"):
        hw.moments(q, *case[1:])


def test_values_must_match_the_keys(case):
    with pytest.raises(InputError, match="shape"):
        hw.moments(case[0], case[1], np.ones((4, 2)))


@pytest.mark.parametrize("n", [10, 1000])
def test_values_whose_squares_are_no_numbers_are_refused(n, rng):
    keys = hw.GaussianKeys(rng.standard_normal((n, 3)), isotropic=1.0)
    with pytest.raises(InputError, match="divide V by a power of ten"):
        hw.moments(np.ones(3), keys, 1e200 * rng.standard_normal((n, 2)))


def test_dependent_keys_are_refused_by_the_exact_route(case):
    q, keys, V = case
    with pytest.raises(InputError, match="sampled"):
        hw.moments(q, CorrelatedKeys(keys, np.ones((1, 5, 3))), V)


@pytest.mark.parametrize("options", [{"scale": 1e200}, {"scale": -1e308}])
def test_a_scale_whose_square_is_no_number_is_refused(options, rng):
    keys = hw.GaussianKeys(rng.normal(size=(4, 3)), isotropic=0.1)
    with pytest.raises(InputError, match="covariance of the logits"):
        hw.moments(rng.normal(size=3), keys, rng.normal(size=(4, 2)), **options)


@pytest.mark.parametrize("samples", [0, -1, 1e20, 10**400, 1.5, None, "many", float("nan")])
def test_a_number_of_samples_that_never_ends_is_refused(samples, rng):
    keys = hw.GaussianKeys(rng.normal(size=(4, 3)), isotropic=0.1)
    with pytest.raises(InputError, match="samples"):
        hw.moments(
            rng.normal(size=3), keys, rng.normal(size=(4, 2)), method="sampled", samples=samples
        )
