"""phi, gap and a_k of one Gaussian logit against 25 digits."""

import numpy as np
import pytest
from tests.noise import twin
from tests.tolerances import TRANSFORM, TRANSFORM_ABSOLUTE

from headwright.noise.head.lattice import lattice_transform
from headwright.noise.head.series import anywhere
from headwright.noise.head.transform import expectations, transform
from headwright.noise.head.uniform import on_equal_nodes

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


def laws_of_every_kind(rng):
    """Deviations of every band, at its edges too, and logits out of reach."""
    edges = np.array([0.05, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0, 16.0])
    near_edges = np.concatenate([edges, np.nextafter(edges, 0.0)])
    s = np.concatenate([np.exp(rng.uniform(-4, 4, 300)), near_edges, [0.0, 1e-3, 1e3, 1e100]])
    return s, rng.uniform(-8, 8, s.size) * (1 + s)


def agree(found, x, s):
    """With phi, a_1 and a_2 point by point; a wide logit's a_k are of size 1 / s."""
    _, true = expectations(x, s[:, None])
    size = 1 / np.maximum(s, 1.0)
    np.testing.assert_allclose(found[:, 0], true[0], atol=TRANSFORM)
    for k in (1, 2):
        off = np.abs(found[:, k] - true[k]).max(axis=1)
        assert np.all(off <= TRANSFORM * size)


def test_points_at_equal_distances_equal_pointwise(rng):
    s, m = laws_of_every_kind(rng)
    x = m - 40.0
    found = on_equal_nodes(x, s, step=1 / 3, size=130)
    agree(found, x[:, None] + np.arange(130) / 3, s)


def test_series_equal_pointwise(rng):
    s, m = laws_of_every_kind(rng)
    x = np.sort(m[:, None] + (1 + s[:, None]) * rng.uniform(-40, 10, (s.size, 70)), axis=1)
    agree(anywhere(x, s), x, s)


@pytest.mark.parametrize("s", [0.0, 0.03, 0.4, 1.9])
def test_far_to_the_left_small_numbers_keep_their_digits(s):
    """Keys with next to no weight: a_k = e^{kx + k^2 s^2 / 2}"""
    x = np.array([-700.0, -300.0, -100.0])
    points = x[:, None] + np.arange(60) / 3
    deviations = np.full(3, s)
    for found in (on_equal_nodes(x, deviations, step=1 / 3, size=60), anywhere(points, deviations)):
        np.testing.assert_allclose(found[:, 1], np.exp(points + s * s / 2), rtol=TRANSFORM)


def test_no_mean_no_weight():
    nothing = np.array([-np.inf])
    for found in (
        on_equal_nodes(nothing, np.zeros(1), step=1 / 3, size=5),
        anywhere(np.full((1, 5), -np.inf), np.zeros(1)),
    ):
        np.testing.assert_array_equal(found[0].T, np.tile([1.0, 0.0, 0.0], (5, 1)))


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
