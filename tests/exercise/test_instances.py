"""Instances satisfy what the questions assume, and never make a wrong answer pass by their size."""

import numpy as np
from tests.tolerances import ROUNDING

from headwright.exercise.instances import instances


def test_keys_are_orthonormal_and_bases_orthogonal():
    for i in instances():
        assert np.abs(i.K @ i.K.T - np.eye(i.n)).max() < ROUNDING * i.d
        assert np.abs(i.A.T @ i.A - np.eye(i.A.shape[1])).max() < ROUNDING * i.d
        assert np.abs(i.A.T @ i.B).max() < ROUNDING * i.d


def test_values_lie_in_their_subspaces():
    for i in instances():
        a, b = i.place("a"), i.place("b")
        assert np.abs(i.A @ (i.A.T @ i.V[a]) - i.V[a]).max() < ROUNDING * i.d
        assert np.abs(i.B @ (i.B.T @ i.V[b]) - i.V[b]).max() < ROUNDING * i.d


def test_sizes_cannot_flatter():
    for i in instances():
        assert i.n >= 3  # a bare sum of two keys passes at n = 2
        assert i.A.shape[1] < i.d  # A' and A A' have one shape at m = d
    assert len({i.n for i in instances()}) > 1


def test_instances_are_the_same_in_every_run():
    first, second = instances(), instances.__wrapped__()
    assert all(
        np.array_equal(x.K, y.K) and np.array_equal(x.V, y.V)
        for x, y in zip(first, second, strict=True)
    )
