"""Floors and ceilings of the price: the pilot's numbers, all sets, explicit queries."""

import math
from itertools import combinations

import numpy as np
import pytest
from tests.tolerances import ATTAINED, LARGE_N, ROUNDING

from headwright.study.price import bounds
from headwright.study.price.job import job
from headwright.study.price.keys import FAMILIES, unit_keys

LEAK = 0.1


def test_the_floor_of_the_pilot():
    assert round(bounds.floor(128, 4, LEAK), 1) == 11.0
    assert round(bounds.floor(512, 4, LEAK), 1) == 14.0


def test_the_margin_behind_the_floor_is_the_mean_square_over_all_sets():
    N, q = 9, 3
    K = unit_keys("random", N, 4, 0)
    squares = []
    for chosen in combinations(range(N), q):
        inside = np.isin(np.arange(N), chosen)
        squares.append(np.sum((K[inside].mean(0) - K[~inside].mean(0)) ** 2))
    total = K.sum(0)
    expected = (N**2 - total @ total) / (q * (N - 1) * (N - q))
    assert np.mean(squares) == pytest.approx(expected, rel=ROUNDING)


def test_a_regular_simplex_attains_the_floor():
    row = job(family="cyclic", N=33, d=32, seed=0, q=3, draw=0)
    assert row["norm"] == pytest.approx(row["floor"], rel=ATTAINED)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_price_is_between_its_floor_and_its_sure_ceiling(family):
    found = 0
    for d in (8, 32, 64):
        for draw in range(6):
            row = job(family=family, N=40, d=d, seed=1, q=2, draw=draw)
            if row["selectable"] == 1:
                assert row["near_floor"] <= row["norm"]
                sure = family != "random" and row["ceiling"] is not None
                assert not sure or row["norm"] <= row["ceiling"]
                found += 1
    assert found >= 12


def test_the_ceiling_of_random_keys_holds_for_half_of_them():
    rows = [job(family="random", N=64, d=64, seed=s, q=2, draw=0) for s in range(20)]
    assert sum(row["norm"] <= row["ceiling"] for row in rows) >= 10


def test_cyclic_floor_is_the_nearest_keys_and_grows_with_the_square():
    row = job(family="cyclic", N=256, d=8, seed=0, q=1, draw=0)
    low = bounds.cyclic_floor(256, 1, 8, LEAK)
    assert low <= row["near_floor"] * (1 + 1e-9) <= row["norm"] * (1 + 1e-9)
    assert bounds.cyclic_floor(4096, 1, 8, LEAK) / bounds.cyclic_floor(1024, 1, 8, LEAK) == (
        pytest.approx(16, rel=LARGE_N)
    )


def test_half_of_all_sets_pay_the_packing_floor():
    rows = [job(family="optimised", N=64, d=4, seed=0, q=1, draw=i) for i in range(20)]
    paid = sorted(row["norm"] for row in rows)
    assert 0 < bounds.packing_floor(64, 1, 4, LEAK) <= paid[10]


@pytest.mark.parametrize("d", [4, 6, 8])
def test_cyclic_keys_select_every_set_of_half_the_dimension(d):
    """The polynomial of the proof, as a query on the keys themselves."""
    N = 10
    K = unit_keys("cyclic", N, d, 0)
    assert np.allclose(np.linalg.norm(K, axis=1), 1)
    t = 2 * np.pi * np.arange(N) / N
    for chosen in combinations(range(N), d // 2):
        logits = -np.prod(1 - np.cos(t[:, None] - t[list(chosen)]), axis=1)
        centred = logits - logits.mean()
        query = np.linalg.lstsq(K, centred, rcond=None)[0]
        assert np.allclose(K @ query, centred, atol=ROUNDING)
        assert np.delete(logits, chosen).max() < -1e-6
        assert math.isfinite(bounds.cyclic_ceiling(N, d, list(chosen), LEAK))
