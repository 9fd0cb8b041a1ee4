"""Copies among keys, also where the checksums of others agree."""

import numpy as np
import pytest

from headwright.design.separation import hull


def by_comparison(K):
    return [next(i for i in range(len(K)) if (K[i] == K[j]).all()) for j in range(len(K))]


@pytest.mark.parametrize("draws_that_collide", [0, 1, 3])
def test_copies_are_found_whatever_the_checksums_say(rng, monkeypatch, draws_that_collide):
    K = rng.integers(-2, 3, (80, 2)).astype(float)
    K[K == 0] *= rng.choice([-1.0, 1.0], (K == 0).sum())  # both zeros are the same number
    honest = hull._checksums
    calls = []

    def colliding(K, rng):
        calls.append(1)
        return honest(K, rng) % (5 if len(calls) <= draws_that_collide else 2**64 - 1)

    monkeypatch.setattr(hull, "_checksums", colliding)
    assert hull.copies(K).tolist() == by_comparison(K)
    assert len(calls) == draws_that_collide + 1


def test_keys_without_copies_are_their_own_first(rng):
    np.testing.assert_array_equal(hull.copies(rng.standard_normal((50, 3))), np.arange(50))
