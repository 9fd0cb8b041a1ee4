"""Ranges of the quantiser: narrower than what was seen with few bits, never without the first
token, and errors that a plain rounding finds too."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.tolerances import SINGLE

from headwright.trained.cache.calibration.ranges import measured
from headwright.trained.cache.calibration.sensitivity import Sensitivity

# Mean squared error of the best 4 equally spaced values for a normal number of variance 1.
_BEST_OF_FOUR = 0.1188
# Errors of 2,000 numbers against those of 4,000 others.
_OTHERS = 0.1


@pytest.fixture(scope="module")
def normal():
    """Two texts of one head and 8 channels."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(1, 1000, 8, generator=generator) for _ in range(2)]


def _ones(first=0.0):
    return Sensitivity(first * np.eye(8)[None], np.eye(8)[None])


@pytest.mark.parametrize("keep_first", [0, 1])
def test_few_bits_are_rounded_nearly_as_well_as_they_can_be(normal, keep_first):
    """The margins are steps apart; on the whole range, which is what was seen, it would be 0.4."""
    damage = measured(normal, _ones(), keep_first).damage[2].mean()
    assert 0.95 * _BEST_OF_FOUR < damage < 1.25 * _BEST_OF_FOUR


def test_many_bits_get_the_whole_range(normal):
    found = measured(normal, _ones(), 0)
    every = torch.cat(normal, dim=1).numpy()
    assert np.all(found.low[8] <= every.min(axis=1))
    assert np.all(found.high[8] >= every.max(axis=1))
    assert np.all(found.low[2] > found.low[8])


def test_the_first_token_stays_inside(normal):
    texts = [text.clone() for text in normal]
    texts[1][:, 0] = 9.0
    texts[0][:, 0] = -7.0
    found = measured(texts, _ones(first=1.0), 0)
    assert np.all(found.low <= -7.0)
    assert np.all(found.high >= 9.0)
    # Where it stays exact it costs nothing, but a later token may be of its kind.
    exact = measured(texts, _ones(first=1.0), 1)
    assert np.all(exact.high >= 9.0)
    assert np.all(exact.damage[1:9].sum() < found.damage[1:9].sum())


def test_unseen_numbers_are_rounded_as_badly_as_predicted(normal):
    generator = torch.Generator().manual_seed(5)
    unseen = torch.randn(1, 4000, 8, generator=generator).numpy()
    found = measured(normal, _ones(), 1)
    for bits in (0, 1, 2, 3, 5):
        grid = found.grid(np.full((1, 8), bits))
        codes = np.round((unseen - grid.low[:, None]) / grid.step[:, None]).clip(0, 2**bits - 1)
        errors = (grid.base[:, None] + grid.step[:, None] * codes - unseen) ** 2
        assert grid.damage.sum() == pytest.approx(errors.mean(axis=1).sum(), rel=_OTHERS)


def test_a_channel_that_never_moves_has_no_error():
    still = [torch.full((1, 20, 8), 3.0)]
    found = measured(still, _ones(), 1)
    np.testing.assert_allclose(found.damage, 0.0, atol=SINGLE)
    np.testing.assert_allclose(found.base, 3.0, rtol=SINGLE)
