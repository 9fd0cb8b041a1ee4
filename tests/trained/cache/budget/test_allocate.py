"""Bits by largest gain against every plan there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tolerances import ROUNDING

from headwright.errors import InputError
from headwright.trained.cache.budget.allocate import allocate, evenly

_WIDTHS = (1, 2, 3, 4)


def _best_by_trying(damage, sizes, widths, total):
    rows = np.arange(len(sizes))
    fitting = []
    for levels in product(range(len(widths)), repeat=len(sizes)):
        bits = np.asarray(widths)[list(levels)]
        if (bits * sizes).sum() <= total:
            fitting.append(damage[rows, list(levels)].sum())
    return min(fitting)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(4, 16))
def test_no_plan_is_better_where_gains_fall(seed, total):
    rng = np.random.default_rng(seed)
    damage = rng.exponential(size=(4, 1)) / (2.0 ** np.asarray(_WIDTHS) - 1.0) ** 2
    sizes = np.ones(4, dtype=int)

    bits = allocate(damage, sizes, _WIDTHS, total)

    reached = damage[np.arange(4), bits - 1].sum()
    assert bits.sum() <= total
    assert reached == pytest.approx(_best_by_trying(damage, sizes, _WIDTHS, total), rel=ROUNDING)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(8, 32))
def test_uneven_gains_and_widths_give_the_best_plan_at_the_total_reached(seed, total):
    """Damage that does not fall evenly, units of two sizes, widths with a gap."""
    rng = np.random.default_rng(seed)
    widths = (1, 2, 4)
    damage = np.sort(rng.exponential(size=(4, 3)), axis=1)[:, ::-1]
    sizes = np.asarray([1, 1, 3, 3])

    bits = allocate(damage, sizes, widths, total)

    levels = np.searchsorted(widths, bits)
    reached = damage[np.arange(4), levels].sum()
    spent = int((bits * sizes).sum())
    assert spent <= total
    # What did not fit is passed over, so bits may be left; at what was spent up to the first such
    # step the plan lies on the convex hull, which no plan is below.
    assert reached <= damage[:, 0].sum()
    if spent == total:
        hull = _hull_bound(damage, sizes, widths, total)
        assert reached >= hull - ROUNDING


def _hull_bound(damage, sizes, widths, total):
    """Lagrange's lower bound: max over prices of sum min(damage + price * bits) - price * total."""
    cost = np.asarray(widths) * sizes[:, None]
    prices = np.geomspace(1e-4, 1e2, 400)
    return max(np.min(damage + p * cost, axis=1).sum() - p * total for p in prices)


def test_too_few_bits_are_refused():
    with pytest.raises(InputError, match="at least 2 bits"):
        allocate(np.ones((3, 2)), np.ones(3, dtype=int), (2, 4), 5)


@pytest.mark.parametrize("mean", [1.0, 2.5, 3.0, 3.1])
def test_evenly_is_as_even_as_can_be(mean):
    bits = evenly(mean, 40)
    assert bits.sum() == int(mean * 40 + ROUNDING)
    assert np.ptp(bits) <= 1
