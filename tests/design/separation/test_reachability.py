"""Every verdict of `reach` against an independent route: qhull, linear programmes, and exact
rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from tests.rational_check import exact_margin, is_combination, rational_coefficients
from tests.tolerances import ROUNDING

import headwright.design.separation.reachability as reachability
from headwright.attention import attend
from headwright.design.separation.reachability import reach
from headwright.errors import InputError


def vertices(K):
    found = np.zeros(len(K), bool)
    found[ConvexHull(K).vertices] = True
    return found


def check_all(K, r):
    """Every witness and every exact proof, re-verified in Fractions."""
    for j, status in enumerate(r.status):
        if status in ("reachable", "shared"):
            w = r.witness(j)
            assert (len(w.members) > 1) == (status == "shared")
            assert len(w.members) == len(K) or exact_margin(K, w.members, w.query) > 0
        elif status == "unreachable":
            proof = r.proof(j)
            assert proof.exact, (j, proof)
            if proof.rational is None:
                weights = rational_coefficients(K, proof)
                assert weights is not None
            else:
                weights = [Fraction(x) for x in proof.rational[:-1]]
            assert is_combination(K, proof.outside, weights, (j,), [Fraction(1)])
    assert "undecided" not in r.status


@pytest.mark.parametrize("d", [2, 3, 4, 6, 8])
def test_gaussian_keys_agree_with_qhull(rng, d):
    K = rng.standard_normal((80, d))
    r = reach(K)
    np.testing.assert_array_equal(r.reachable, vertices(K))
    assert r.dimension == d
    check_all(K, r)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_scale_and_offset_do_not_matter(rng, scale, offset):
    K = rng.standard_normal((120, 4))
    np.testing.assert_array_equal(reach(K * scale + offset * scale).reachable, vertices(K))


def test_coordinates_of_very_different_size(rng):
    K = rng.standard_normal((120, 4))
    np.testing.assert_array_equal(reach(K * np.array([1e-6, 1.0, 1e3, 1e6])).reachable, vertices(K))


def test_keys_of_very_different_length(rng):
    K = rng.standard_normal((40, 3)) * 10.0 ** rng.uniform(-6, 6, (40, 1))
    check_all(K, reach(K))


@settings(max_examples=40)
@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(1, 14), st.integers(1, 4)),
        elements=st.integers(-2, 2).map(float),
    )
)
def test_small_integer_keys_are_decided_exactly(K):
    """Lattices, copies, collinear and constant keys: the hard cases, all of them, with exact
    proofs."""
    r = reach(K)
    check_all(K, r)
    for j in range(len(K)):
        twins = [i for i in range(len(K)) if (K[i] == K[j]).all()]
        assert (len(twins) > 1) == any(j in g.keys for g in r.groups)
        assert r.reachable[j] == (len(twins) == 1 and _is_vertex(K, j))


def _is_vertex(K, j):
    """By a linear programme on integer data, where HiGHS' tolerances are far from the smallest
    possible margin."""
    others = np.delete(K, [i for i in range(len(K)) if (K[i] == K[j]).all()], axis=0)
    if len(others) == 0:
        return True
    lp = linprog(
        np.zeros(len(others)),
        A_eq=np.vstack([others.T, np.ones(len(others))]),
        b_eq=np.append(K[j], 1.0),
    )
    return lp.status == 2


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.sampled_from(["gauss", "ball", "clusters", "sphere"]),
)
def test_geometries_agree_with_qhull(seed, d, kind):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((40, d))
    if kind == "ball":
        K *= rng.uniform(0, 1, (40, 1)) / np.linalg.norm(K, axis=1, keepdims=True)
    if kind == "clusters":
        K = rng.standard_normal((4, d))[rng.integers(0, 4, 40)] + 1e-3 * K
    if kind == "sphere":
        K /= np.linalg.norm(K, axis=1, keepdims=True)
    r = reach(K)
    np.testing.assert_array_equal(r.reachable, vertices(K))
    assert all(r.witness(int(j)).margin > 0 for j in np.flatnonzero(r.reachable))


def test_linear_programmes_agree_in_higher_dimension(rng):
    K = rng.standard_normal((600, 24))
    K[:40] *= rng.uniform(0.1, 0.6, (40, 1))
    r = reach(K)
    assert 0 < r.count < len(K)
    for j in range(0, 60, 2):
        assert r.reachable[j] == _is_vertex(K, j)


def test_lattice_points_have_exact_proofs():
    K = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), -1).reshape(-1, 3)
    r = reach(K)
    np.testing.assert_array_equal(r.reachable, np.isin(K, [0.0, 2.0]).all(axis=1))
    check_all(K, r)


def test_a_planted_midpoint_is_unreachable_even_when_rounded(rng):
    K = rng.standard_normal((200, 16))
    K[3] = (K[4] + K[5]) / 2
    K[6] = K[[7, 8, 9]].mean(axis=0)
    K[10] = np.random.default_rng(1).dirichlet(np.ones(8)) @ K[20:28]
    r = reach(K)
    assert r.status[3] == r.status[6] == r.status[10] == "unreachable"
    assert set(r.proof(3).outside) >= {4, 5}
    assert r.proof(3).residual <= r.tolerance * np.linalg.norm(K, axis=1).max()
    # 1/(1 + e^H) with H = ln 2: no query puts more than a third of the mass on a midpoint
    assert r.ceiling(3) == pytest.approx(1 / 3, abs=ROUNDING)


def test_tolerance_zero_judges_the_numbers_as_stored(rng):
    K = rng.standard_normal((40, 6))
    K[3] = (K[4] + K[5]) / 2
    exactly = all(2 * Fraction(K[3, c]) == Fraction(K[4, c]) + Fraction(K[5, c]) for c in range(6))
    assert not exactly, "the seed must give a midpoint that rounding moved"
    r = reach(K, tolerance=0.0)
    assert r.status[3] == "reachable" or r.proof(3).exact
    check_all(K, r)


def test_copies_win_as_a_group_only(rng):
    K = rng.standard_normal((30, 3))
    corner = int(np.flatnonzero(reach(K).reachable)[0])
    inner = int(np.flatnonzero(~reach(K).reachable)[0])
    K = np.vstack([K, K[corner], K[corner], K[inner]])
    r = reach(K)
    group = next(g for g in r.groups if corner in g.keys)
    assert group.keys == (corner, 30, 31)
    assert group.status == "shared"
    assert not r.reachable[[corner, 30, 31]].any()
    assert r.ceiling(31) == pytest.approx(1 / 3, abs=ROUNDING)  # three copies share the weight
    assert r.status[inner] == r.status[32] == "unreachable"
    assert 32 not in r.proof(32).outside
    w = r.witness(30)
    assert w.members == (corner, 30, 31)
    weights = attend(1e4 * w.query, K, np.eye(33)).weights
    np.testing.assert_allclose(weights[list(w.members)], 1 / 3, atol=ROUNDING)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rank_deficient_keys_are_reduced_to_their_hull(rng, dtype):
    A, B = rng.standard_normal((150, 3)), rng.standard_normal((3, 12))
    r = reach((A @ B).astype(dtype))
    assert r.dimension == 3
    np.testing.assert_array_equal(r.reachable, vertices(A))
    j = int(np.flatnonzero(~r.reachable)[0])
    assert r.proof(j).residual <= 10 * r.tolerance * np.abs(A @ B).max()


def test_exactly_low_rank_lattice_keeps_exact_proofs():
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1).reshape(-1, 2)
    K = np.column_stack([grid, grid.sum(axis=1), np.full(16, 7.0)])
    r = reach(K)
    assert r.dimension == 2
    assert r.count == 4
    edge = r.proof(1)
    assert edge.exact
    weights = [Fraction(x) for x in edge.rational[:-1]]
    assert is_combination(K, edge.outside, weights, (1,), [Fraction(1)])


@pytest.mark.parametrize(
    ("K", "reachable"),
    [
        (np.ones((1, 3)), [True]),
        (np.zeros((1, 1)), [True]),
        (np.array([[1.0], [2.0], [5.0]]), [True, False, True]),
        (np.ones((4, 2)), [False] * 4),
        (np.zeros((2, 2)), [False] * 2),
        (np.eye(5), [True] * 5),
        (np.vstack([np.eye(3), -np.eye(3), np.zeros((1, 3))]), [True] * 6 + [False]),
        (np.array([[0.0, 0.0], [-0.0, 0.0], [1.0, 1.0]]), [False, False, True]),
    ],
)
def test_small_and_degenerate_keys(K, reachable):
    r = reach(K)
    assert r.reachable.tolist() == reachable
    check_all(K, r)
    np.testing.assert_array_equal(reach(K.astype(np.float32)).reachable, reachable)


def test_fewer_keys_than_dimensions(rng):
    r = reach(rng.standard_normal((5, 40)))
    assert r.reachable.all()
    assert r.dimension == 4


def test_the_ceiling_bounds_every_query(rng):
    K = rng.standard_normal((60, 3))
    r = reach(K)
    Q = np.concatenate([s * rng.standard_normal((300, 3)) for s in (0.1, 1.0, 10.0)])
    weights = attend(Q, K, np.eye(60)).weights
    for j in np.flatnonzero(~r.reachable):
        assert weights[:, j].max() <= r.ceiling(int(j)) < 0.5


def test_sets_of_keys():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5], [0.5, 0.0]])
    r = reach(K, sets=[[0, 1], [0, 1, 5], [0, 3], [4], [2], range(6)])
    assert r.status == (
        "unreachable",
        "reachable",
        "unreachable",
        "unreachable",
        "reachable",
        "reachable",
    )
    assert r.count == 3
    assert r.witness(1).members == (0, 1, 5)
    assert r.proof(0).outside == (5,)
    assert r.ceiling(0) == pytest.approx(2 / 3, abs=ROUNDING)


def test_seed_draws_working_sets_and_changes_no_verdict(rng):
    K = rng.standard_normal((400, 12))
    K[:100] *= 0.5
    assert reach(K, seed=0).status == reach(K, seed=1).status


def test_progress_runs_from_the_screens_to_the_last_key(rng):
    seen = []
    reach(rng.standard_normal((100, 3)), progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (100, 100)


def test_a_failed_solver_is_never_a_verdict(rng, monkeypatch):
    """With the float solver broken and the exact one out of cycles, hard keys are undecided;
    nothing else changes."""
    from headwright.design.separation import cone, pursuit, rational

    K = rng.standard_normal((80, 7))
    honest = reach(K)
    failed = cone.Balance(direction=None, surrounded=False, shares=np.zeros(0), state=np.zeros(8))
    monkeypatch.setattr(pursuit, "balance", lambda A, start=None: failed)
    monkeypatch.setattr(rational, "_MOST_CYCLES", 0)
    r = reach(K)
    assert set(r.status) <= {"reachable", "undecided"}
    assert "undecided" in r.status
    assert not (r.reachable & ~honest.reachable).any()
    j = r.status.index("undecided")
    assert r.ceiling(j) == 1.0
    with pytest.raises(InputError):
        r.proof(j)


def test_exact_arithmetic_alone_gives_the_same_verdicts(rng, monkeypatch):
    """Second route: with the float solver broken, rationals decide every hard key from a cold
    start."""
    from headwright.design.separation import cone, pursuit

    K = rng.standard_normal((40, 7))
    K[:10] *= 0.1
    honest = reach(K)
    failed = cone.Balance(direction=None, surrounded=False, shares=np.zeros(0), state=np.zeros(8))
    monkeypatch.setattr(pursuit, "balance", lambda A, start=None: failed)
    r = reach(K)
    assert r.status == honest.status
    check_all(K, r)


@pytest.mark.parametrize(
    "K",
    [
        np.array([[np.nan, 1.0]]),
        np.array([[np.inf, 1.0]]),
        np.zeros((0, 3)),
        np.zeros(3),
        [[1, 2], [3]],
        "K",
        np.eye(2) * 1e200,
        np.eye(2) * 1e-200,
    ],
)
def test_bad_keys_are_refused(K):
    with pytest.raises(InputError, match="wanted"):
        reach(K)


@pytest.mark.parametrize("sets", [[[0, 0]], [[]], [[9]], [[-1]], [[True]]])
def test_bad_sets_are_refused(sets):
    with pytest.raises(InputError, match="wanted"):
        reach(np.eye(3), sets=sets)


def test_tensors_of_other_libraries_are_read():
    torch = pytest.importorskip("torch")
    K = torch.tensor([[0.0], [1.0], [2.0]], requires_grad=True)
    r = reach(K)
    assert r.reachable.tolist() == [True, False, True]
    assert r.tolerance == 8 * np.finfo(np.float32).eps


def test_asking_for_the_wrong_evidence_is_an_error():
    r = reach(np.array([[0.0], [1.0], [2.0]]))
    with pytest.raises(InputError, match="proof"):
        r.witness(1)
    with pytest.raises(InputError, match="witness"):
        r.proof(0)
    with pytest.raises(InputError, match="between 0 and 2"):
        r.witness(3)


def test_the_record_names_its_tolerance():
    assert reach(np.eye(2)).tolerance == 8 * np.finfo(float).eps
    assert reach(np.eye(2, dtype=np.float32)).tolerance == 8 * np.finfo(np.float32).eps
    assert reachability.reach(np.eye(2), tolerance=1e-6).tolerance == 1e-6


@pytest.mark.parametrize("tolerance", [None, 1e-9, 1e-3])
@pytest.mark.parametrize("d", [1, 3, 6, 9])
def test_a_near_copy_is_no_rival_that_can_be_beaten(rng, d, tolerance):
    """Keys closer together than the tolerance: neither wins. Winners clear it."""
    K = rng.standard_normal((60, d))
    size = (8 * np.finfo(float).eps if tolerance is None else tolerance) * np.linalg.norm(K, axis=1)
    apart = rng.standard_normal((20, d))
    apart *= (rng.uniform(0.3, 0.8, 20) * size[20:40] / np.linalg.norm(apart, axis=1))[:, None]
    K[40:] = K[20:40] + apart
    found = reach(K, tolerance=tolerance)
    assert {found.status[j] for j in range(20, 60)} <= {"unreachable", "shared"}
    for j in np.flatnonzero(found.reachable):
        assert found.witness(int(j)).margin > found.tolerance * np.linalg.norm(K[j])
