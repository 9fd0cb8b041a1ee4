"""Sums of products in single precision are off by no more than is stated, of equal terms too."""

import numpy as np
import pytest

from headwright.noise.many import value_sums
from headwright.noise.many.value_sums import SHORT, SINGLE

_DOUBLE = np.dtype(np.float64)


@pytest.mark.parametrize("rows", [1, SHORT - 1, SHORT, 8192, 8192 + 7])
def test_equal_terms_are_rounded_the_same_way(rng, rows):
    """Every partial sum of equal terms is rounded in the same direction: such errors add up."""
    worst = 0.0
    for _ in range(40):
        left = rng.uniform(0.5, 1, 64).astype(np.float32)
        right = rng.uniform(0.5, 1, 64).astype(np.float32)
        found = value_sums._product(
            np.tile(left[:, None], rows), np.tile(right, (rows, 1)), _DOUBLE
        )
        true = rows * np.outer(left.astype(float), right)
        worst = max(worst, np.abs(found / true - 1).max())
    assert worst <= SINGLE
    if rows >= SHORT:
        assert worst >= SINGLE / 20  # else it would be no test of anything


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [0, 1, 300, 5000])
def test_products_are_those_of_all_rows(rng, dtype, rows):
    left = rng.normal(size=(3, rows)).astype(dtype)
    right = rng.normal(size=(rows, 5)).astype(dtype)
    found = value_sums._product(left, right, _DOUBLE)
    sizes = np.abs(left).astype(float) @ np.abs(right)
    error = SINGLE if dtype == np.float32 else 1e-12
    assert found.dtype == _DOUBLE
    assert (np.abs(found - left.astype(float) @ right) <= error * sizes).all()
