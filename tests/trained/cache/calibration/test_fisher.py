"""Gradients of a text become sensitivities: the first token's apart from the others'."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch

from headwright.trained.cache.calibration.fisher import _forms


def test_the_first_token_is_apart_and_both_are_halves_per_token():
    gradient = torch.tensor([[[2.0, 1.0], [1.0, 3.0], [3.0, 0.0]]])
    found = _forms(gradient)
    np.testing.assert_allclose(found.first, np.array([[[4.0, 2.0], [2.0, 1.0]]]) / 6)
    np.testing.assert_allclose(found.rest, np.array([[[10.0, 3.0], [3.0, 9.0]]]) / 6)
