"""Keys of one law are transformed once, also where rounding makes their laws differ."""

import numpy as np
import pytest

import headwright as hw
from headwright.noise import budget
from headwright.noise.head.integral import head_moments
from headwright.noise.head.laws import distinct


def test_orthonormal_keys_have_three_laws_whatever_their_axes(rng):
    """The classic example: the noisy key, the other one asked for, and eighteen more."""
    for mu in (np.eye(20), np.linalg.qr(rng.normal(size=(20, 20)))[0]):
        keys = hw.GaussianKeys(mu, isotropic=1e-4).radial({0: 0.5})
        law = keys.logits_law(30.0 * (mu[0] + mu[1]))
        found = distinct(law.means[None], np.sqrt(law.variances)[None])
        assert sorted(found.logits.count[0]) == [1, 1, 18]
        assert found.moved[0] <= 2 * budget.SAME_LAW


def test_laws_further_apart_stay_apart(rng):
    m = np.array([0.0, 1e-12, -np.inf, -np.inf, 1e300, 2e300, 5.0, 5.0])
    s = np.array([1.0, 1.0, 0.0, 0.0, 1e200, 1e200, 40.0, np.nextafter(40.0, 41.0)])
    found = distinct(m[None], s[None])
    assert sorted(found.logits.count[0]) == [1, 1, 1, 1, 1, 1, 2]
    assert found.moved[0] == 0.0


def test_queries_with_few_laws_beside_one_with_many(rng):
    """Each query keeps the laws of its own keys, whatever others have."""
    m = np.array([[1.0, 1.0, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0], [5.0, 5.0, 5.0, 5.0]])
    s = np.ones((3, 4))
    found = distinct(m, s)
    np.testing.assert_array_equal(found.to_keys(found.logits.m), m)
    rows = rng.normal(size=(3, 4, 2))
    added = found.added(rows)
    assert (found.logits.count > 0).sum(axis=1).tolist() == [2, 4, 1]
    np.testing.assert_allclose(added[0, :2], [rows[0, :3].sum(axis=0), rows[0, 3]])
    np.testing.assert_allclose(added[2, 0], rows[2].sum(axis=0))
    assert not added[2, 1:].any()


@pytest.mark.parametrize("by", ["means", "variances"])
def test_laws_taken_as_one_are_in_the_error(by, rng, monkeypatch):
    """With grains so large that many laws fall together the error is seen, and stated."""
    n = 12
    m = rng.normal(size=n)
    s = rng.uniform(0.5, 1.5, n)
    if by == "means":
        s[:] = 1.0
    else:
        m[:] = 0.0
    V = rng.uniform(-1, 1, (n, 2))
    true = head_moments(m, s, V)
    monkeypatch.setattr(budget, "SAME_LAW", 0.1)
    found = head_moments(m, s, V)
    first = np.abs(found.mean - true.mean).max()
    second = np.abs(found.covariance - true.covariance).max()
    assert max(first, second) >= 1e-4
    assert first <= found.first
    assert second <= found.second
