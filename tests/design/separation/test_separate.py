"""One set at a time: every verdict of `selectable` against brute force and exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog
from tests.rational_check import exact_margin, is_combination
from tests.tolerances import COMBINATION, MARGIN, PROGRAMME, ROUNDING

from headwright.design.proofs.proof import in_rationals
from headwright.design.separation.reachability import reach
from headwright.design.separation.separate import selectable
from headwright.errors import InputError


def programme(K, S):
    """Is max t with E q = 0, (k_0 - k_i) q >= t, |q| <= 1 positive? HiGHS, on data of integer
    size."""
    rest = [i for i in range(len(K)) if i not in S]
    d = K.shape[1]
    E = K[S[1:]] - K[S[0]]
    lp = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([K[rest] - K[S[0]], np.ones(len(rest))]),
        b_ub=np.zeros(len(rest)),
        A_eq=np.column_stack([E, np.zeros(len(E))]) if len(E) else None,
        b_eq=np.zeros(len(E)) if len(E) else None,
        bounds=[(-1, 1)] * d + [(0, 10)],
    )
    return -lp.fun > PROGRAMME


integers = hnp.arrays(
    float, st.tuples(st.integers(3, 12), st.integers(1, 3)), elements=st.integers(-2, 2).map(float)
)


@settings(max_examples=60)
@given(integers, st.data())
def test_sets_of_integer_keys_agree_with_linear_programmes(K, data):
    m = data.draw(st.integers(1, len(K) - 1))
    S = data.draw(st.permutations(range(len(K))))[:m]
    found = selectable(K, S)
    assert found.status == ("selectable" if programme(K, S) else "unselectable")
    if found.proof is not None and found.proof.rational is not None:
        fractions = [Fraction(x) for x in found.proof.rational]
        r = len(found.proof.outside)
        assert is_combination(
            K, found.proof.outside, fractions[:r], found.proof.inside, fractions[r:]
        )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_random_sets_have_checkable_evidence(rng, scale, m):
    K = scale * rng.standard_normal((400, 16))
    K[:40] *= 0.3
    for start in (0, 100, 200):
        S = list(range(start, start + m))
        found = selectable(K, S)
        assert found.status != "undecided"
        if found.status == "selectable":
            scores = K @ found.query
            inside, outside = scores[S], np.delete(scores, S)
            assert np.ptp(inside) <= COMBINATION * np.abs(K).max()
            assert inside.min() - outside.max() == pytest.approx(
                found.margin, rel=MARGIN, abs=COMBINATION * scale
            )
            assert np.linalg.norm(found.query) == pytest.approx(1.0, abs=ROUNDING)
            assert found.ceiling == 1.0
        else:
            assert found.proof.exact
            assert (
                found.proof.with_residual(K).residual
                < COMBINATION * np.linalg.norm(K, axis=1).max()
            )
            assert found.ceiling < m / (m + 1)


def test_proofs_of_floats_have_rational_solutions(rng):
    K = rng.standard_normal((60, 4))
    K[:3] *= 0.1
    for S in ([0], [1, 2], [0, 1, 2]):
        found = selectable(K, S)
        assert found.status == "unselectable"
        outside, inside = in_rationals(K, found.proof)
        assert is_combination(K, found.proof.outside, outside, found.proof.inside, inside)


def test_the_margin_is_a_bound_that_exact_arithmetic_confirms(rng):
    K = rng.standard_normal((50, 5))
    found = selectable(K, 7)
    if found.status == "selectable":
        assert exact_margin(K, (7,), found.query) >= Fraction(found.margin)
    near = selectable(np.vstack([np.eye(3), [[0.0, 0.0, 1.0 - 2.0**-45]]]), 2)
    assert near.status == "selectable"
    K = np.vstack([np.eye(3), [[0.0, 0.0, 1.0 - 2.0**-45]]])
    assert 0 < Fraction(near.margin) <= exact_margin(K, (2,), near.query)


def test_affinely_dependent_sets_and_copies():
    K = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [3, 3], [3, 3], [0, 0]])
    assert selectable(K, [0]).status == "unselectable"  # its copy 6 has the same score
    assert selectable(K, [0, 6]).status == "selectable"
    assert selectable(K, [4, 5]).status == "selectable"
    assert selectable(K, [0, 1, 2, 3]).status == "unselectable"
    assert selectable(K[:4], [0, 1, 2, 3]).status == "selectable"
    assert selectable(K[:5], [0, 3, 4]).status == "unselectable"  # a diagonal through the square


def test_near_copies_inside_the_set(rng):
    K = rng.standard_normal((300, 24))
    K[1] = K[0] + 1e-9 * rng.standard_normal(24)
    found = selectable(K, [0, 1])
    assert found.status == "selectable"
    assert np.ptp(K[[0, 1]] @ found.query) < ROUNDING


def test_low_rank_keys_agree_with_reach(rng):
    K = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 6))
    r = reach(K)
    for j in range(12):
        assert (selectable(K, j).status == "selectable") == r.reachable[j]


def test_without_the_exact_stage_the_boundary_stays_undecided():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert selectable(K, 1, exact=False).status == "undecided"
    assert selectable(K, 1).status == "unselectable"
    assert selectable(K, 0, exact=False).status == "selectable"


def test_a_start_is_used_and_changes_no_verdict(rng):
    K = rng.standard_normal((100, 4))
    for j in range(10):
        assert selectable(K, j).status == selectable(K, j, start=rng.standard_normal(4)).status


def test_all_keys_and_one_key():
    assert selectable(np.ones((1, 2)), 0).margin == np.inf
    everything = selectable(np.eye(3), [0, 1, 2])
    assert everything.status == "selectable"
    np.testing.assert_array_equal(everything.query, 0.0)


@pytest.mark.parametrize("S", [[], [0, 0], [3], [-1], 1.5, [None]])
def test_bad_sets(S):
    with pytest.raises(InputError, match="wanted"):
        selectable(np.eye(3), S)


@pytest.mark.parametrize("start", [[1.0], [np.nan, 0, 0]])
def test_bad_starts(start):
    with pytest.raises(InputError, match="wanted"):
        selectable(np.eye(3), 0, start=start)


@pytest.mark.parametrize("tolerance", [1e-12, 1e-3])
def test_a_set_wins_by_more_than_the_tolerance_or_not_at_all(rng, tolerance):
    """Keys at a distance of 0.5 and of 2 tolerances from the middle of two others, outside."""
    corners = np.vstack([np.eye(9), -np.eye(9)])
    outward = (corners[0] + corners[1]) / np.sqrt(2)
    for share, status in ((0.5, "unselectable"), (2.0, "selectable")):
        beside = (corners[0] + corners[1]) / 2 + share * tolerance * outward
        K = np.vstack([corners, beside])
        assert selectable(K, 18, tolerance=tolerance).status == status
        assert selectable(K, [18, 2], tolerance=tolerance).status == status
