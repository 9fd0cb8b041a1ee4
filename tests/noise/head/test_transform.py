"""phi, gap and a_k of one Gaussian logit against 25 digits."""

import numpy as np
import pytest
from tests.noise import twin
from tests.tolerances import TRANSFORM, TRANSFORM_ABSOLUTE

from headwright.noise.head.lattice import lattice_transform, transform_on_nodes
from headwright.noise.head.transform import expectations, transform

DEVIATIONS = [0.0, 1e-6, 0.5, 0.9, 3.0, 3.01, 40.0, 1e3]


@pytest.mark.parametrize("s", DEVIATIONS)
def test_expectations_agree_with_the_twin(s):
    x = np.array([-30.0 - 3 * s, -1.0, 2.0 + 2 * s])
    gap, a = expectations(x[:, None], np.array([s]), top=4)
    for row, point in enumerate(x):
        true = [float(twin.laplace(point, s, k)) for k in (-1, 0, 1, 2, 4)]
        found = [gap[row, 0], *a[[0, 1, 2, 4], row, 0]]
        np.testing.assert_allclose(found, true, rtol=TRANSFORM, atol=TRANSFORM_ABSOLUTE)


def test_small_gaps_keep_their_relative_accuracy():
    """1 - phi of 1e-16 summed over a million keys decides where Psi leaves zero."""
    x = np.array([[-36.0]])
    gap, _ = expectations(x, np.array([1.0]))
    assert gap[0, 0] == pytest.approx(float(twin.laplace(-36.0, 1.0, -1)), rel=TRANSFORM)


@pytest.mark.parametrize("s", [0.0, 0.04, 0.06, 0.5, 1.7, 5.0, 9.0])
def test_lattice_equals_pointwise(s):
    x = -40.0 + np.arange(140) / 3
    a = transform(x[:, None], np.array([s]))
    b = lattice_transform(-40.0, 1 / 3, 140, s=np.array([s]))
    weight = np.exp(a.psi)
    np.testing.assert_allclose(
        b.psi * weight, a.psi * weight, rtol=1e3 * TRANSFORM, atol=TRANSFORM_ABSOLUTE
    )
    for one, two in zip(a.ratios, b.ratios, strict=True):
        np.testing.assert_allclose(
            two * weight, one * weight, rtol=1e3 * TRANSFORM, atol=TRANSFORM_ABSOLUTE
        )


@pytest.mark.parametrize("top", [1, 2])
def test_keys_on_uniform_nodes_equal_pointwise(top, rng):
    """Means anywhere between the nodes, near and far; deviations that share a lattice, and some
    that do not."""
    u = -40.0 + np.arange(130) / 3
    m = np.concatenate([rng.normal(size=300), [-200.0, -1e5, -np.inf, 3.0, 2.0, 1.0]])
    s = np.concatenate([np.exp(rng.uniform(-3, 2, 300)), [1.0, 2.0, 0.0, 0.0, 1e-3, 30.0]])
    a = transform(u[:, None] + m, s, top=top)
    b = transform_on_nodes(u, 1 / 3, m, s, top=top)
    weight = np.exp(a.psi)
    np.testing.assert_allclose(b.psi * weight, a.psi * weight, atol=TRANSFORM)
    for one, two in zip(a.ratios, b.ratios, strict=True):
        np.testing.assert_allclose(two * weight, one * weight, atol=TRANSFORM)


def test_fixed_logit_is_closed_form():
    x = np.linspace(-20, 5, 9)[:, None]
    t = transform(x, np.zeros(1))
    np.testing.assert_allclose(t.psi, -np.exp(x), rtol=TRANSFORM)
    np.testing.assert_allclose(t.r, np.exp(x), rtol=TRANSFORM)
    np.testing.assert_allclose(t.w, np.exp(2 * x), rtol=TRANSFORM)


def test_w_never_falls_below_r_squared():
    """Cauchy-Schwarz: this is why D >= 0 and the scatter of the values can be taken with square
    roots."""
    x = np.linspace(-30, 6, 60)[:, None]
    t = transform(np.repeat(x, 5, axis=1), np.array([0.0, 0.3, 1.0, 4.0, 50.0]))
    assert np.all(t.w - t.r**2 >= -TRANSFORM * t.w)
