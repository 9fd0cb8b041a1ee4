"""The gradient of the expected squared error against differences of the value, and the value
against the moments."""

import numpy as np
import pytest
from tests.tolerances import DIFFERENCES, EXACT_COVARIANCE

import headwright as hw
from headwright.noise.gradient.squared_error import squared_error


def differences(f, x, step=1e-4):
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = step
        out[i] = (f(x + d) - f(x - d)) / (2 * step)
    return out


def law(rng, n=4, d=3):
    keys = hw.GaussianKeys(
        rng.normal(size=(n, d)), isotropic=0.05, diagonal=rng.uniform(0, 0.2, (n, d))
    )
    return keys.radial({0: 0.5}), rng.normal(size=(n, 2)), rng.normal(size=2)


@pytest.mark.parametrize(
    ("heads", "size"), [(1, 2.0), (1, 30.0), (2, 1.0)], ids=["one", "sharp", "correlated"]
)
def test_gradient_against_differences(heads, size, rng):
    keys, V, t = law(rng)
    Q, mix = size * rng.normal(size=(heads, 3)) / np.sqrt(3), rng.uniform(0.3, 1, heads)
    value, by_query, by_mix = squared_error(Q, keys, V, t, mix=mix, scale=0.8)
    m = hw.moments(Q, keys, V, mix=mix, scale=0.8)
    assert value == pytest.approx(
        np.trace(m.covariance) + ((m.mean - t) ** 2).sum(), abs=EXACT_COVARIANCE
    )
    np.testing.assert_allclose(
        by_query,
        differences(lambda x: squared_error(x, keys, V, t, mix=mix, scale=0.8)[0], Q),
        atol=DIFFERENCES,
    )
    np.testing.assert_allclose(
        by_mix,
        differences(lambda x: squared_error(Q, keys, V, t, mix=x, scale=0.8)[0], mix),
        atol=DIFFERENCES,
    )


def test_independent_heads_feel_the_covariance_they_do_not_have_yet():
    """Two orthogonal queries: the derivative with respect to their overlap is not zero."""
    keys, V, t = hw.GaussianKeys(np.eye(3), isotropic=0.3), np.eye(3), np.array([0.5, 0.5, 0.0])
    Q = 2 * np.eye(3)[:2]
    _, by_query, _ = squared_error(Q, keys, V, t)
    d = np.zeros_like(Q)
    d[0, 1] = 1e-4
    slope = (squared_error(Q + d, keys, V, t)[0] - squared_error(Q - d, keys, V, t)[0]) / 2e-4
    assert by_query[0, 1] == pytest.approx(slope, abs=DIFFERENCES)


def test_no_noise_is_plain_calculus():
    keys, V, t = hw.GaussianKeys(np.eye(3)), np.eye(3), np.array([1.0, 0.0, 0.0])
    q = np.array([[1.0, 0.5, 0.0]])
    value, by_query, _ = squared_error(q, keys, V, t)
    alpha = hw.attend(q[0], np.eye(3), V).weights
    assert value == pytest.approx(((alpha - t) ** 2).sum(), abs=EXACT_COVARIANCE)
    jacobian = np.diag(alpha) - np.outer(alpha, alpha)
    np.testing.assert_allclose(by_query[0], 2 * jacobian @ (alpha - t), atol=EXACT_COVARIANCE)
