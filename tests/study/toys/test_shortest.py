"""The bound is a bound: no query that solves a pair is shorter, whoever made it."""

import numpy as np
import pytest
from tests.tolerances import ROUNDING

import headwright as hw
from headwright.study.toys.shortest import Solver, bound_for_pair, own_bound
from headwright.study.toys.task import all_pairs, mixed_weights, solved


def _keys(rng, n, d):
    keys = rng.standard_normal((n, d))
    return keys / np.linalg.norm(keys, axis=1, keepdims=True)


def _solves(q, keys, a, b):
    alpha = hw.attend(q, keys, np.eye(len(keys))).weights
    return min(alpha[a], alpha[b]) >= 0.45


def test_solved_is_what_attend_says(rng):
    keys = _keys(rng, 7, 4)
    pairs = all_pairs(7)
    queries = np.stack([12 * (keys[a] + keys[b]) for a, b in pairs])
    said = solved(mixed_weights(queries[None], keys), pairs)
    assert said.any()
    assert not said.all()
    for q, pair, one in zip(queries, pairs, said, strict=True):
        assert one == _solves(q, keys, *pair)


def test_no_query_that_solves_is_shorter(rng):
    keys = _keys(rng, 6, 4)
    solver = Solver(keys)
    met = 0
    for a, b in all_pairs(6).tolist():
        answer = solver.one_head(a, b)
        if not answer.possible:
            continue
        design = hw.design.average([a, b], keys, leak=0.1).queries[0]
        assert answer.length <= np.linalg.norm(design) * (1 + 1e-7)
        assert answer.bound >= (1 - 1e-6) * answer.length
        for _ in range(60):
            other = design + 0.3 * np.linalg.norm(design) * rng.standard_normal(4)
            if _solves(other, keys, a, b):
                met += 1
                length = np.linalg.norm(other)
                assert length >= answer.bound
                assert length >= own_bound(other, keys, a, b) * (1 - 1e-7)
                assert length >= bound_for_pair(other, keys, a, b) - ROUNDING
    assert met > 5


def test_two_heads_are_bounded_by_a_copy(rng):
    keys = _keys(rng, 8, 3)
    solver = Solver(keys)
    for a, b in all_pairs(8)[:3].tolist():
        answer = solver.two_heads(a, b)
        design = hw.design.average([a, b], keys, leak=0.1, heads=2)
        assert answer.possible
        assert answer.bound <= answer.length <= design.norm * (1 + 1e-7)


def test_a_key_between_two_others_cannot_be_solved():
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    answer = Solver(keys).one_head(0, 2)
    assert answer.impossible
    assert not answer.possible
    assert Solver(keys).one_head(0, 1).possible


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_any_query_gives_a_bound(rng, scale):
    keys = _keys(rng, 6, 4)
    answer = Solver(keys).one_head(0, 1)
    for _ in range(20):
        q = scale * rng.standard_normal(4)
        assert bound_for_pair(q, keys, 0, 1) <= answer.length * (1 + 1e-7)
