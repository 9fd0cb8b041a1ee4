"""Many queries in one call: each answer is that of the query alone, in its own place, to the stated
error, whatever the others are."""

import tracemalloc

import numpy as np
import pytest
from tests.tolerances import ROUNDING, SINGLE

import headwright as hw
from headwright.errors import InputError
from headwright.noise.few import moments as engine

OPTIONS = {
    "plain": {},
    "mix": {"mix": np.array([-0.7])},
    "mask": {"mask": np.arange(7) != 2},
    "bias and scale": {"bias": np.linspace(-3, 3, 7), "scale": 0.4},
    "one variance of the values": {"value_noise": 0.3},
    "a variance for each value": {"value_noise": np.arange(7.0)},
    "a variance for each coordinate": {"value_noise": np.ones((7, 2)) * [0.2, 0.5]},
    "covariances of the values": {"value_noise": np.tile([[1.0, 0.3], [0.3, 0.5]], (7, 1, 1))},
}


def keys_of_every_kind(rng):
    """Seven keys: fixed, narrow, wide, one with radial noise, two of them the same."""
    means = rng.normal(size=(7, 3))
    means[4] = means[3]
    variances = np.array([0.0, 1e-4, 0.01, 0.2, 0.2, 3.0, 30.0])
    return hw.GaussianKeys(means, isotropic=variances).radial({0: 0.5})


def queries_of_every_kind(rng, count):
    """Lengths of all orders of magnitude, in no order, and no query at all among them."""
    lengths = 10.0 ** rng.uniform(-4, 4, (count, 1))
    Q = lengths * rng.normal(size=(count, 3))
    Q[3] = 0.0
    Q[5] = Q[4]
    return Q


def same(batch, i, one):
    """Query i of a batch, and the same query alone."""
    stated = one.mean_error + batch.mean_error
    assert np.abs(batch.mean[i] - one.mean).max() <= stated
    stated = one.covariance_error + batch.covariance_error
    assert np.abs(batch.covariance[i] - one.covariance).max() <= stated
    for name in ("weights_mean", "weights_variance", "heads_mean", "heads_weights_mean"):
        apart = np.abs(getattr(batch, name)[i] - getattr(one, name)).max()
        assert apart <= one.error + batch.error


@pytest.mark.parametrize("name", OPTIONS)
def test_a_batch_is_a_loop(name, rng):
    keys = keys_of_every_kind(rng)
    V = rng.normal(size=(7, 2))
    Q = queries_of_every_kind(rng, 60)
    batch = hw.moments(Q[:, None, :], keys, V, **OPTIONS[name])
    alone = [hw.moments(q, keys, V, **OPTIONS[name]) for q in Q]
    assert batch.mean.shape == (60, 2)
    assert batch.covariance.shape == (60, 2, 2)
    assert batch.heads_weights_mean.shape == (60, 1, 7)
    for i, one in enumerate(alone):
        same(batch, i, one)
    # No error is better than the worst that a query has alone, nor much worse.
    worst = max(one.error for one in alone)
    assert 0.5 * worst <= batch.error <= 2 * worst


def test_queries_of_one_kind_agree_to_rounding(rng):
    """The same nodes or some more, the same arithmetic: far better than any stated error."""
    keys = hw.GaussianKeys(rng.normal(size=(9, 4)), isotropic=rng.uniform(0.05, 1, 9))
    V = rng.normal(size=(9, 3))
    Q = rng.normal(size=(40, 4))
    batch = hw.moments(Q[:, None, :], keys, V)
    for i, q in enumerate(Q):
        one = hw.moments(q, keys, V)
        np.testing.assert_allclose(batch.mean[i], one.mean, atol=ROUNDING)
        np.testing.assert_allclose(batch.covariance[i], one.covariance, atol=ROUNDING)


def test_it_does_not_matter_how_many_are_taken_together(rng, monkeypatch):
    keys = keys_of_every_kind(rng)
    V = rng.normal(size=(7, 2))
    Q = queries_of_every_kind(rng, 50)[:, None, :]
    together = hw.moments(Q, keys, V)
    monkeypatch.setattr(engine, "_TOGETHER", 7)
    in_parts = hw.moments(Q, keys, V)
    stated = together.error + in_parts.error
    assert np.abs(together.mean - in_parts.mean).max() <= stated
    assert np.abs(together.covariance - in_parts.covariance).max() <= stated
    assert in_parts.status == together.status


@pytest.mark.parametrize("case", ["one key", "no noise"])
def test_queries_without_an_integral(case, rng):
    n = 1 if case == "one key" else 6
    keys = hw.GaussianKeys(rng.normal(size=(n, 3)), isotropic=0.1 if n == 1 else 0.0)
    V = rng.normal(size=(n, 2))
    Q = rng.normal(size=(5, 3))
    batch = hw.moments(Q[:, None, :], keys, V)
    np.testing.assert_allclose(batch.mean, hw.attend(Q, keys.means, V).output, atol=ROUNDING)
    assert not batch.covariance.any()


def test_the_first_query_that_is_not_done_speaks_for_all(rng):
    """Noise that is large and nearly orthogonal to one of the queries: its variance is rounded."""
    Q = rng.normal(size=(3, 3))
    F = 1e8 * np.cross(rng.normal(size=(4, 3)), Q[1]) + 0.3 * rng.normal(size=(4, 3))
    keys = hw.GaussianKeys(rng.normal(size=(4, 3)), factors=F[:, :, None])
    alone = [hw.moments(q, keys, np.eye(4)) for q in Q]
    batch = hw.moments(Q[:, None, :], keys, np.eye(4))
    assert [one.status == "done" for one in alone] == [True, False, True]
    assert (batch.status, batch.message) == (alone[1].status, alone[1].message)
    assert batch.error == pytest.approx(alone[1].error, rel=SINGLE)


def test_single_precision_is_kept(rng):
    keys = hw.GaussianKeys(rng.normal(size=(5, 3)).astype(np.float32), isotropic=np.float32(0.2))
    V = rng.normal(size=(5, 2)).astype(np.float32)
    Q = rng.normal(size=(6, 1, 3)).astype(np.float32)
    batch = hw.moments(Q, keys, V)
    assert {batch.mean.dtype, batch.covariance.dtype} == {np.dtype(np.float32)}
    assert 0 < batch.mean_error <= SINGLE
    for i, q in enumerate(Q):
        same(batch, i, hw.moments(q, keys, V))


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_another_library_gets_its_own_arrays_back(library, rng):
    xp = pytest.importorskip(library)
    K, V, Q = (rng.normal(size=s).astype(np.float32) for s in ((6, 3), (6, 2), (9, 1, 3)))
    host = hw.moments(Q, hw.GaussianKeys(K, isotropic=0.3), V)
    there = hw.moments(xp.asarray(Q), hw.GaussianKeys(xp.asarray(K), isotropic=0.3), xp.asarray(V))
    assert type(there.mean) is type(xp.asarray(V))
    assert type(there.heads_weights_mean) is type(xp.asarray(V))
    np.testing.assert_allclose(np.asarray(there.covariance), host.covariance, atol=SINGLE)


def test_values_too_far_apart_for_one_query_are_refused(rng):
    keys = hw.GaussianKeys(rng.normal(size=(4, 3)), isotropic=0.1)
    V = np.array([[0.0], [1.0], [2.0], [1e200]])
    with pytest.raises(InputError, match="divide V by a power of ten"):
        hw.moments(rng.normal(size=(5, 1, 3)), keys, V)


def test_memory_does_not_grow_with_the_number_of_queries(rng):
    """Beyond the answers themselves, which do."""
    keys = hw.GaussianKeys(rng.normal(size=(20, 4)), isotropic=0.1)
    V = rng.normal(size=(20, 3))
    extra = []
    for count in (2000, 8000):
        Q = rng.normal(size=(count, 1, 4))
        tracemalloc.start()
        found = hw.moments(Q, keys, V)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        arrays = (found.mean, found.covariance, found.weights_mean, found.weights_variance)
        stored = sum(x.nbytes for x in (*arrays, found.heads_mean, found.heads_weights_mean))
        extra.append(peak - stored)
    assert extra[1] <= 1.5 * extra[0]
