"""Earlier places of the same token, against the pairs that are searched for in a t x n mask."""

import numpy as np
import pytest

from headwright.trained.rows.fused.repeats import Repeats, partners
from headwright.trained.rows.tokens import Tokens


def _tokens(rng, ids, real):
    return Tokens(real, np.ones(ids.size, dtype=bool), np.zeros(ids.size, dtype=bool), ids)


@pytest.mark.parametrize("kinds", [1, 4, 1000])
def test_earlier_places_are_the_pairs(rng, kinds):
    ids = rng.integers(0, kinds, 50)
    real = rng.random(50) < 0.8
    repeats = Repeats.of(ids)
    found = set()
    for i, row in enumerate(repeats.order):
        if real[row]:
            found |= {(int(row), int(j)) for j in repeats.order[repeats.begins[i] : i]}

    _, duplicates, _ = _tokens(rng, ids, real).pairs(0, 50)
    assert found == set(zip(*(x.tolist() for x in duplicates), strict=True))


def test_partners_are_the_first_token_and_the_previous(rng):
    ids = np.arange(6)
    tokens = _tokens(rng, ids, np.asarray([False, False, True, True, False, True]))
    tokens.real_keys = tokens.real_queries
    first, before = partners(tokens)
    assert first.tolist() == [2] * 6
    assert before.tolist() == [-1, -1, -1, 2, -1, -1]
    assert partners(Tokens.unknown(3, 5))[1].tolist() == [-1] * 3
