"""At tolerance 0 the stored numbers are judged exactly; the judge is a linear programme in
Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from benchmarks.adversary_reach import FAMILIES, feasible, judge, meets

from headwright.design import reach

# The family that found wrong verdicts (14 of 457), and its relatives; the benchmark runs them all,
# and longer.
CASES = 12


@pytest.mark.parametrize("family", FAMILIES)
def test_every_verdict_is_that_of_exact_rationals(family, rng):
    for _ in range(CASES):
        K = FAMILIES[family](rng)
        verdict = judge(K, rng)
        assert verdict["wrong"] == 0, K.tolist()
        assert verdict["unproven"] == 0, K.tolist()


def test_the_judge_knows_the_textbook_cases():
    square = [
        [Fraction(x), Fraction(y)] for x, y in [(0, 0), (2, 0), (0, 2), (2, 2), (1, 1), (3, 3)]
    ]
    assert meets(square, [4], [0, 3])
    assert not meets(square, [5], [0, 1, 2, 3, 4])
    assert meets(square, [0, 3], [1, 2])
    assert not meets(square, [0, 1], [2, 3])
    assert feasible([[Fraction(1)], [Fraction(-1)]], [Fraction(3)])
    assert not feasible([[Fraction(-1)]], [Fraction(3)])


def test_a_witness_beyond_float64_is_given_in_whole_numbers(rng):
    """Some midpoints round to a corner so flat that no rounding of its query wins."""
    beyond = 0
    for _ in range(60):
        K = FAMILIES["low rank, rounded"](rng)
        found = reach(K, tolerance=0)
        for j in np.flatnonzero(found.reachable):
            witness = found.witness(int(j))
            assert witness.margin > 0 or witness.rational is not None
            if witness.rational is not None:
                beyond += witness.margin <= 0
                scores = [
                    sum(Fraction(x) * Fraction(w) for x, w in zip(k, witness.rational, strict=True))
                    for k in K
                ]
                assert all(scores[j] > s for i, s in enumerate(scores) if i != j)
    assert beyond > 0


@pytest.mark.parametrize("tolerance", [None, 0])
def test_sets_of_keys_that_are_all_equal(tolerance):
    found = reach(np.ones((3, 2)), sets=[[0, 1], [0, 1, 2]], tolerance=tolerance)
    assert found.status == ("unreachable", "reachable")
    assert found.proof(0).outside == (2,)


def test_the_dimension_of_stored_numbers_is_exact(rng):
    flat = rng.integers(-4, 5, (9, 3)).astype(float)
    assert reach(np.column_stack([flat, flat @ [1.0, 2.0, -1.0]]), tolerance=0).dimension == 3
    rounded = flat / 3
    bent = np.column_stack([rounded, rounded @ [0.1, 0.2, 0.3]])
    assert reach(bent).dimension == 3
    assert reach(bent, tolerance=0).dimension == 4
