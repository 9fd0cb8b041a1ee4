"""The rational nearest-point method and the float bounds, each against Fractions written out by
hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.rational_check import dot, exact_margin, row

from headwright.design.proofs.float_bounds import certain_margins, surrounds
from headwright.design.separation.exact_rows import ExactRows, independent, margin
from headwright.design.separation.placed import rational_combination
from headwright.design.separation.rational import nearest_point

finite = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-6 else 0.0)


@settings(max_examples=60)
@given(hnp.arrays(float, (3, 4), elements=finite))
def test_integer_rows_are_the_exact_differences(K):
    exact = ExactRows(K, 0)
    unit = Fraction(2) ** exact.exponent
    for i in range(3):
        x, shift = exact[i]
        wanted = [a - b for a, b in zip(row(K[i]), row(K[0]), strict=True)]
        assert [v * unit / 2**shift for v in x] == wanted


@settings(max_examples=60)
@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(2, 9), st.integers(1, 3)),
        elements=st.integers(-2, 2).map(float),
    )
)
def test_a_cold_start_ends_with_an_identity_or_a_separating_point(K):
    found = nearest_point(K, [0], candidates=[], weights=[])
    assert found.inside is not None
    if found.inside:
        assert sum(found.weights) == 1
        assert min(found.weights) > 0
        for c in range(K.shape[1]):
            assert (
                sum(
                    w * Fraction(K[i, c] - K[0, c])
                    for w, i in zip(found.weights, found.rows, strict=True)
                )
                == 0
            )
    else:
        point = [Fraction(v) for v in found.point]
        assert all(dot(row(K[i] - K[0]), point) > 0 for i in range(1, len(K)))


def test_free_vectors_of_a_set_enter_with_any_sign():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [3.0, 5.0]])
    found = nearest_point(K, [0, 1], candidates=[3], weights=[1.0])
    assert found.inside
    assert found.rows == (2,)
    assert found.free == (0, -4)


def test_dependent_candidates_fall_back_to_a_cold_start():
    K = np.array([[0.0], [1.0], [2.0], [3.0]])
    found = nearest_point(K, [0], candidates=[1, 2, 3], weights=[1.0, 1.0, 1.0])
    assert found.inside is False
    assert found.point[0] > 0


def test_enough_ends_the_search_at_rounding_distance():
    K = np.array([[2.0**-60, 0.0], [-1.0, 2.0**-55], [1.0, 2.0**-55]])
    exactly = nearest_point(K, [0], candidates=[1, 2], weights=[1.0, 1.0])
    assert exactly.inside is False
    near = nearest_point(K, [0], candidates=[1, 2], weights=[1.0, 1.0], enough=1e-15)
    assert near.rows == (1, 2)


def test_independent_rows_are_found_in_integers():
    assert independent([[1, 2], [2, 4], [0, 1]]) == [0, 2]
    assert independent([[0, 0]]) == []
    assert independent([]) == []


def test_margins_below_rounding_are_computed_in_rationals():
    K = np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-53], [0.0, 0.0]])
    q = np.array([2.0**-30, 1.0])
    assert 0 < margin(K, [0], q) <= float(exact_margin(K, (0,), q)) == 2.0**-53
    assert margin(K, [1], q) == float(exact_margin(K, (1,), q)) == -(2.0**-53)


@settings(max_examples=60)
@given(hnp.arrays(float, (5, 3), elements=finite), hnp.arrays(float, 3, elements=finite))
def test_certain_margins_never_exceed_the_truth(K, q):
    bounds = certain_margins(K, K[0], q)
    for i in range(5):
        assert Fraction(bounds[i]) <= dot(row(K[0]), row(q)) - dot(row(K[i]), row(q))


def test_surrounds_accepts_the_inside_and_refuses_the_rest(rng):
    angles = np.arange(5) * 2 * np.pi / 5
    star = np.column_stack([np.cos(angles), np.sin(angles)])
    none = np.zeros((0, 2))
    fifth = np.full(5, 0.2)
    assert surrounds(star, fifth, none)
    # Not zero, but a small correction makes it so
    assert surrounds(star, np.array([0.21, 0.2, 0.2, 0.2, 0.19]), none)
    # Too far from zero to tell
    assert not surrounds(star, np.array([0.96, 0.01, 0.01, 0.01, 0.01]), none)
    line = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert not surrounds(line, np.array([0.5, 0.5]), none)  # balanced, but no room for a correction
    assert surrounds(line, np.array([0.5, 0.5]), np.array([[0.0, 1.0]]))
    assert not surrounds(star, np.array([0.25, 0.25, 0.25, 0.25, 0.0]), none)


@pytest.mark.parametrize("tiny", [1e-3, 1e-9, 1e-13, 1e-16])
def test_surrounds_is_right_about_thin_simplices(tiny):
    """A flat triangle around the origin is accepted until rounding could have made it; one beside
    it never is."""
    wide = np.array([[1.0, tiny], [-1.0, tiny], [0.0, -1.0]])
    units = wide / np.linalg.norm(wide, axis=1)[:, None]
    lam = np.linalg.solve(np.vstack([units.T, np.ones(3)]), [0.0, 0.0, 1.0])
    assert surrounds(units, lam, np.zeros((0, 2))) == (tiny > 1e-15)
    off = np.array([[1.0, tiny], [-1.0, tiny], [0.0, 1.0]])
    assert not surrounds(
        off / np.linalg.norm(off, axis=1)[:, None], np.full(3, 1 / 3), np.zeros((0, 2))
    )


def test_a_proof_with_more_digits_than_python_writes_is_kept_without_them():
    K = np.array([[0.0], [2.0], [1.0]])
    tiny = Fraction(1, 3**10_000)
    halves = [Fraction(1, 2) + tiny, Fraction(1, 2) - tiny]
    long = rational_combination(K, outside=([0, 1], halves), inside=((2,), [Fraction(1)]))
    assert long.exact
    assert long.rational is None
    short = rational_combination(
        K, outside=([0, 1], [Fraction(1, 2)] * 2), inside=((2,), [Fraction(1)])
    )
    assert short.rational == ("1/2", "1/2", "1")
