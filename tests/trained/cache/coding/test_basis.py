"""Directions: uncorrelated numbers, errors that cost the same whatever the others are, and no other
basis needs fewer bits."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.tolerances import SINGLE

from headwright.trained.cache.coding.basis import ONE, Basis, fitted

# Columns are rounded to 16 bits, which turns every direction by as much.
ROUNDED = 50 / ONE


@pytest.fixture
def forms(rng):
    """Covariance and cost of two key heads of five channels."""
    roots = rng.normal(size=(2, 2, 5, 5))
    covariance, cost = roots @ np.swapaxes(roots, 2, 3) + 0.1 * np.eye(5)
    return covariance, cost


def _within(basis, covariance, cost):
    a, inverse = basis.columns, basis.inverse
    variance = np.swapaxes(a, 1, 2) @ covariance @ a
    return variance, inverse @ cost @ np.swapaxes(inverse, 1, 2)


def test_numbers_and_costs_are_diagonal(forms):
    for form in _within(fitted(*forms), *forms):
        size = np.sqrt(np.diagonal(form, axis1=1, axis2=2))
        correlation = form / (size[:, :, None] * size[:, None, :])
        np.testing.assert_allclose(correlation, np.broadcast_to(np.eye(5), (2, 5, 5)), atol=ROUNDED)


def test_the_product_is_that_of_the_determinants_and_no_basis_has_less(forms, rng):
    def product(columns):
        inverse = np.linalg.inv(columns)
        variance = np.swapaxes(columns, 1, 2) @ forms[0] @ columns
        cost = inverse @ forms[1] @ np.swapaxes(inverse, 1, 2)
        both = np.diagonal(variance, axis1=1, axis2=2) * np.diagonal(cost, axis1=1, axis2=2)
        return both.prod(axis=1)

    least = product(fitted(*forms).columns)
    np.testing.assert_allclose(
        least, np.linalg.det(forms[0]) * np.linalg.det(forms[1]), rtol=ROUNDED
    )
    for columns in (np.eye(5)[None].repeat(2, axis=0), *rng.normal(size=(200, 2, 5, 5))):
        assert np.all(product(columns) > least)


def test_numbers_come_back(forms, rng):
    basis = fitted(*forms)
    x = torch.as_tensor(rng.normal(size=(3, 2, 7, 5)), dtype=torch.float32)
    there = basis.coordinates(x)
    assert float((there - x).abs().max()) > 1000 * SINGLE
    torch.testing.assert_close(basis.restored(there), x, atol=1000 * SINGLE, rtol=0)
    wanted = np.einsum("bhnc,hcd->bhnd", x.double().numpy(), basis.columns)
    np.testing.assert_allclose(there.numpy(), wanted, atol=100 * SINGLE)


def test_errors_that_cost_nothing_and_numbers_that_never_move_have_a_basis(forms):
    nothing = np.zeros((2, 5, 5))
    for covariance, cost in ((forms[0], nothing), (nothing, forms[1]), (nothing, nothing)):
        basis = fitted(covariance, cost)
        assert np.all(np.isfinite(basis.inverse))
        assert isinstance(basis, Basis)
        assert np.abs(basis.codes).max() == ONE
