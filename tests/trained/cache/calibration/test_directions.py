"""Directions from texts: what they gain on correlated numbers is what theory says, and what is
known of an error's cost is not trusted to the last digit."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch

from headwright.trained.cache.calibration.directions import in_directions
from headwright.trained.cache.calibration.ranges import measured
from headwright.trained.cache.calibration.sensitivity import Sensitivity

# Between a sample of 4,000 tokens and the law that it was drawn from; ranges come in steps, too.
_SAMPLE = 0.15


@pytest.fixture(scope="module")
def root():
    return np.random.default_rng(3).normal(size=(6, 6))


@pytest.fixture(scope="module")
def texts(root):
    numbers = np.random.default_rng(4).normal(size=(2, 1, 2000, 6)) @ root.T
    return list(torch.as_tensor(numbers, dtype=torch.float32))


def _even(size):
    return Sensitivity(np.zeros((1, size, size)), np.eye(size)[None])


def test_the_gain_is_that_of_uncorrelated_numbers(root, texts):
    """A mean of b bits, spread as is best, does (prod of variances)^(1/d) 4^-b times a constant
    that both codings share: their ratio is the determinant's to the product's root. At more bits
    the few numbers outside their range count for more than the step."""
    bits = 4
    damage = {}
    for name, look in (("channels", measured), ("directions", in_directions)):
        every = look(texts, _even(6), 1).damage[bits, 0]
        damage[name] = np.exp(np.log(every).mean())
    covariance = root @ root.T
    gain = np.linalg.det(covariance) / np.prod(np.diag(covariance))
    assert damage["directions"] / damage["channels"] == pytest.approx(gain ** (1 / 6), rel=_SAMPLE)


def test_damage_is_that_of_the_errors_as_they_come_back(texts):
    """Round fresh coordinates on the plan's own grid, go back, and count squares there."""
    known = in_directions(texts, _even(6), 1)
    for bits in (0, 2, 4):
        grid = known.grid(np.full((1, 6), bits))
        numbers = grid.basis.coordinates(texts[0]).double().numpy()
        codes = np.rint((numbers - grid.low[:, None]) / grid.step[:, None]).clip(0, 2**bits - 1)
        read = (grid.base[:, None] + grid.step[:, None] * codes) @ grid.basis.inverse
        squares = ((read - texts[0].double().numpy()) ** 2).sum(axis=-1).mean()
        assert grid.damage.sum() == pytest.approx(squares, rel=_SAMPLE)


def test_a_cost_known_from_few_gradients_is_not_taken_for_nothing_elsewhere():
    """A form of rank one would leave all other directions without bits."""
    one = np.zeros((1, 6, 6))
    one[0, 0, 0] = 6.0
    shrunken = Sensitivity(one, one).shrunken()
    np.testing.assert_array_equal(np.diag(shrunken.rest[0]), [3.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(shrunken.first, one)


def test_forms_in_another_basis_say_the_same(root):
    rng = np.random.default_rng(5)
    square = rng.normal(size=(6, 6))
    sensitivity = Sensitivity(np.zeros((1, 6, 6)), (square @ square.T)[None])
    basis = in_directions([torch.randn(1, 50, 6, generator=torch.Generator().manual_seed(0))],
                          sensitivity, 1).basis  # fmt: skip
    y = rng.normal(size=6)
    e = y @ basis.inverse[0]
    there = sensitivity.within(basis).rest[0]
    assert y @ there @ y == pytest.approx(e @ sensitivity.rest[0] @ e)
