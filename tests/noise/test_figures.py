"""What the figures of noise show is the law: all of it, with its own peaks, and no empty plane."""

import numpy as np
import pytest

import headwright as hw
from headwright.noise.figures import draw_density, draw_distribution
from headwright.noise.stress import NoisyHeads, stress
from headwright.report import style


def _lines(draw, length, variance):
    """The curve that is drawn for one head on three keys, and the limits across."""
    keys = hw.GaussianKeys(np.eye(3), isotropic=variance)
    heads = NoisyHeads(length * np.array([[1.0, 1.0, 0.0]]), keys, np.eye(3), np.ones(1))
    found = stress(heads, tau=0.1)
    with style.figure(4.0, 3.0) as (_, axes):
        draw(axes, found.weights)
        curve = axes.get_lines()[0]
        return curve.get_xdata(), curve.get_ydata(), axes.get_xlim()


@pytest.mark.parametrize(
    ("length", "variance"), [(6.0, 1e-4), (4.0, 0.02), (1.0, 1e-6), (4.0, 1e-12)]
)
def test_the_density_has_one_peak_and_all_of_the_mass(length, variance):
    x, density, limits = _lines(draw_density, length, variance)
    steps = np.sign(np.diff(density))
    assert np.count_nonzero(np.diff(steps[steps != 0])) == 1
    # A thousandth is left out on either side, and drawn a little beyond.
    middles = (density[1:] + density[:-1]) / 2
    assert 0.998 < middles @ np.diff(x) < 1.001
    across = x[-1] - x[0]
    assert across > 0.8 * (limits[1] - limits[0])


def test_the_distribution_goes_from_nothing_to_all():
    _, below, _ = _lines(draw_distribution, 6.0, 1e-4)
    assert below[0] < 0.002
    assert below[-1] > 0.998
    assert (np.diff(below) >= 0).all()


@pytest.mark.parametrize(("length", "variance"), [(6.0, 0.0), (400.0, 1e-4)])
def test_a_weight_without_spread_is_a_step_and_says_so(length, variance):
    keys = hw.GaussianKeys(np.eye(3), isotropic=variance)
    query = length * np.array([[1.0, 0.0, 0.0]])
    found = stress(NoisyHeads(query, keys, np.eye(3), np.ones(1)), tau=0.1)
    with style.figure(8.0, 3.0, columns=2) as (_, (left, right)):
        draw_density(left, found.weights)
        draw_distribution(right, found.weights)

    assert [text.get_text() for text in left.texts] == ["no spread"]
    assert right.get_lines()[0].get_ydata().tolist() == [0.0, 0.0, 1.0, 1.0]
