"""Squared gradients of a text become sensitivities: the first token's apart from the others'."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch

from headwright.trained.cache.calibration.fisher import _per_channel


def test_the_first_token_is_apart_and_both_are_halves_per_token():
    square = torch.tensor([[[[12.0, 0.0], [3.0, 6.0], [3.0, 0.0]]]])
    found = _per_channel(square)
    np.testing.assert_array_equal(found.first, [[2.0, 0.0]])
    np.testing.assert_array_equal(found.rest, [[1.0, 1.0]])
