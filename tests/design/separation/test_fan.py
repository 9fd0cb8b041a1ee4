"""What qhull says is a guess: every verdict of the fan against rationals, and qhull that fails or
lies."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import QhullError
from tests.rational_check import exact_margin, is_combination, rational_coefficients
from tests.tolerances import ROUNDING

from headwright.design.separation import cone, pursuit, rational
from headwright.design.separation.few import facets, fan
from headwright.design.separation.few.cover import covering
from headwright.design.separation.few.facets import Facets, hull_of, without_flat
from headwright.design.separation.few.fan import Fan
from headwright.design.separation.few.on_facets import Grid
from headwright.design.separation.few.simplices import Apex
from headwright.design.separation.placed import combination
from headwright.design.separation.reachability import reach

ONE_UNIT = 2.0**-52


def lattice(d, m):
    return np.stack(np.meshgrid(*[np.arange(float(m))] * d), -1).reshape(-1, d)


def on_sphere(rng, n, d):
    K = rng.standard_normal((n, d))
    return K / np.linalg.norm(K, axis=1, keepdims=True)


def thin(rng, n, d):
    K = rng.standard_normal((n, d))
    K[:, -1] *= 1e-7
    return K @ np.linalg.qr(rng.standard_normal((d, d)))[0]


def with_rounded_midpoints(rng, n, d):
    K = rng.standard_normal((n, d))
    pairs = rng.integers(0, n // 2, (n - n // 2, 2))
    K[n // 2 :] = K[pairs].mean(axis=1)
    return np.unique(K, axis=0)


FAMILIES = {
    "Gaussian": lambda rng, d: rng.standard_normal((300, d)),
    "sphere": lambda rng, d: on_sphere(rng, 150, d),
    "lattice": lambda rng, d: lattice(d, max(2, round(300 ** (1 / d)))),
    "thin": lambda rng, d: thin(rng, 200, d),
    "midpoints": lambda rng, d: with_rounded_midpoints(rng, 120, d),
    "far from the origin": lambda rng, d: 1e6 + rng.standard_normal((200, d)),
    "sizes from 1e-6 to 1e6": lambda rng, d: (
        rng.standard_normal((120, d)) * 10.0 ** rng.uniform(-6, 6, (120, 1))
    ),
}


def unfolded(K):
    found = Fan(K, rounding=np.zeros(len(K)))
    found.finish(np.flatnonzero(found.open))
    return found


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_the_fan_settles_is_so_in_rationals(rng, family, d):
    K = FAMILIES[family](rng, d)
    found = unfolded(K)
    inside = np.flatnonzero(~found.open)
    for j in inside[:: max(1, len(inside) // 25)].tolist():
        proof = combination(K, outside=found.combination(j), inside=((j,), np.ones(1)))
        weights = rational_coefficients(K, proof)
        assert weights is not None
        assert is_combination(K, proof.outside, weights, (j,), [Fraction(1)])
    won = found.winners() if found.complete else {}
    for j in list(won)[:: max(1, len(won) // 25)]:
        assert exact_margin(K, (j,), won[j]) > 0


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_gaussian_and_lattice_keys_are_settled_by_the_fan_alone(rng, d):
    for family, least in (("Gaussian", 0.99), ("lattice", 1.0)):
        K = FAMILIES[family](rng, d)
        found = unfolded(K)
        assert found.complete
        settled = (~found.open).sum() + len(found.winners())
        assert settled >= least * len(K)


def test_a_key_within_rounding_of_a_facet_stays_open(rng):
    """One unit inside or outside a facet, floats cannot tell; the verdicts of `reach` are exact."""
    corners = rng.standard_normal((3, 3))
    other = np.vstack([corners, -corners.sum(axis=0), 0.1 * rng.standard_normal((6, 3))])
    middle = corners.mean(axis=0)
    for units in (-2, -1, 0, 1, 2):
        K = np.vstack([other, middle * (1 + units * ONE_UNIT)])
        found = unfolded(K)
        assert found.open[-1]
        assert len(K) - 1 not in found.winners()


def test_whole_numbers_decide_points_on_a_facet():
    K = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4], [1, 1, 0], [3, 1, 0], [1, 1, 2]])
    grid = Grid.of(K)
    corners = np.array([[0, 1, 2], [0, 1, 2], [1, 2, 3]])
    which = np.arange(3)
    points = np.array([4, 5, 6])
    lam = np.array([[0.5, 0.25, 0.25], [0.0, 0.75, 0.25], [0.25, 0.25, 0.5]])
    np.testing.assert_array_equal(grid.combined(points, corners, which, lam + 1e-9), lam)
    # The same claims about other points, and with a coefficient that is negative or wrong.
    assert not grid.combined(np.array([5, 4, 3]), corners, which, lam).any()
    wrong = lam + np.array([-0.75, 0.5, 0.25])
    assert not grid.combined(points, corners, which, wrong).any()


def test_keys_with_many_digits_are_not_on_a_grid(rng):
    assert Grid.of(rng.standard_normal((5, 2))).whole is None
    assert Grid.of(np.array([[0.0, 1e-9], [1.0, 1.0]])).whole is None
    whole = Grid.of(np.array([[0.0, 0.25], [3.0, -0.75], [0.0, 0.0]])).whole
    np.testing.assert_array_equal(whole, [[0, 1], [3, -3], [0, 0]])


def failing(*arguments, **options):
    raise QhullError


@pytest.mark.parametrize("d", [2, 4, 6])
def test_verdicts_are_the_same_without_qhull(rng, monkeypatch, d):
    for family in ("Gaussian", "midpoints", "thin"):
        K = FAMILIES[family](rng, d)
        K = np.vstack([K, K[:5]])
        told = reach(K)
        with monkeypatch.context() as patched:
            patched.setattr(facets, "ConvexHull", failing)
            assert reach(K).status == told.status


def test_facets_that_are_wrong_change_no_verdict(rng, monkeypatch):
    """A hull of half of the keys, with corners by lot and planes turned round."""
    K = rng.standard_normal((120, 3))
    honest = reach(K)
    asked = fan.hull_of

    def lying(X, points, most_corners):
        true = asked(X, points[: len(points) // 2], most_corners)
        lot = np.random.default_rng(1)
        corners = np.where(lot.random(true.corners.shape) < 0.3, points[7], true.corners)
        normals = true.normals * lot.choice([1, -1, 3], (len(corners), 1))
        return Facets(corners, true.neighbours, normals, true.offsets)

    monkeypatch.setattr(fan, "hull_of", lying)
    assert reach(K).status == honest.status


def test_a_hull_with_too_many_facets_is_given_up(monkeypatch):
    """A cyclic polytope has n^3 / 6 facets in six dimensions: 10^9 here."""
    t = np.linspace(-1, 1, 2000)
    K = t[:, None] ** np.arange(1, 7)
    found = unfolded(K)
    assert not found.complete
    assert len(found.facets.corners) < 100_000


@pytest.mark.parametrize("tolerance", [None, 0])
def test_a_promised_proof_is_there_when_every_other_solver_fails(rng, monkeypatch, tolerance):
    K = np.vstack([rng.standard_normal((80, 3)), lattice(3, 3)])
    r = reach(K, tolerance=tolerance)
    lost = [j for j, status in enumerate(r.status) if status == "unreachable"]
    failed = cone.Balance(direction=None, surrounded=False, shares=np.zeros(0), state=np.zeros(4))
    monkeypatch.setattr(pursuit, "balance", lambda A, start=None: failed)
    monkeypatch.setattr(rational, "_MOST_CYCLES", 0)
    assert lost
    for j in lost:
        proof = r.proof(j)
        assert j not in proof.outside
        if proof.exact:
            weights = rational_coefficients(K, proof)
            assert is_combination(K, proof.outside, weights, (j,), [Fraction(1)])
        else:
            assert proof.residual <= r.tolerance * np.linalg.norm(K, axis=1).max()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_keys_in_three_dimensions(rng, n):
    r = reach(rng.standard_normal((n, 3)))
    assert r.count == n or n == 5


def lattice_seen_from_inside():
    """The corners of a cube, in simplices none of which is flat, and an apex."""
    X = lattice(3, 4) - 1.5
    corners = np.flatnonzero((np.abs(X) == 1.5).all(axis=1))
    apex = Apex.within(X, size=3.0, corners=corners)
    return apex, without_flat(X, corners, apex.point)


def test_simplices_over_moved_corners_leave_no_gap():
    apex, facets = lattice_seen_from_inside()
    cover = covering(apex, facets)
    assert cover is not None
    within = np.abs(apex.X).max(axis=1) < 1
    np.testing.assert_array_equal(cover.holds(np.arange(len(apex.X))), within)


def test_a_gap_is_noticed():
    """A missing facet, one that covers another, an apex outside the hull: no cover."""
    apex, facets = lattice_seen_from_inside()
    outside = replace(apex, corners=facets.corners[0, :1], weights=np.array([2.0]))
    assert covering(outside, facets) is None
    missing = facets.neighbours.copy()
    missing[missing == 0] = 1
    folded = facets.corners.copy()
    across = facets.neighbours[0, 0]
    folded[0, 0] = np.setdiff1d(folded[across], folded[0])[0]
    other = facets.corners.copy()
    other[other == facets.corners[0, 0]] = 21  # a point inside, instead of one of the corners
    for corners, neighbours in (
        (facets.corners, missing),
        (folded, facets.neighbours),
        (facets.corners, facets.neighbours[::-1]),
    ):
        assert covering(apex, replace(facets, corners=corners, neighbours=neighbours)) is None
    # Simplices over other points may leave no gap either; what they hold is less.
    smaller = covering(apex, replace(facets, corners=other))
    held = np.zeros(0, int) if smaller is None else np.flatnonzero(smaller.holds(np.arange(64)))
    assert 21 not in held
    assert len(held) <= 8


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_what_a_cover_holds_is_in_one_of_its_simplices(rng, d):
    """Second route: the coordinates of the point in the simplex that is said to hold it."""
    X = rng.standard_normal((400, d))
    facets = hull_of(X, np.arange(400))
    apex = Apex.within(X, size=np.linalg.norm(X, axis=1).max(), corners=np.unique(facets.corners))
    cover = covering(apex, facets)
    assert cover is not None
    inside = np.flatnonzero(cover.holds(np.arange(400)))
    assert len(inside) >= 400 - len(np.unique(facets.corners)) - 10
    for point in inside[:40].tolist():
        corners, lam = cover.simplex(point)
        assert lam.min() >= 0
        assert lam.sum() < 1
        there = apex.point + lam @ (X[corners] - apex.point)
        np.testing.assert_allclose(there, X[point], atol=ROUNDING)


def turned(K, rng):
    return K @ np.linalg.qr(rng.standard_normal((K.shape[1],) * 2))[0]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_keys_that_rounding_moved_off_a_face_are_inside_up_to_the_tolerance(rng, d):
    K = turned(lattice(d, 4), rng)
    at_corners = np.isin(lattice(d, 4), [0.0, 3.0]).all(axis=1)
    found = Fan(K, rounding=8 * ONE_UNIT * np.linalg.norm(K, axis=1))
    found.finish(np.flatnonzero(found.open))
    np.testing.assert_array_equal(found.open, at_corners)
    assert found.rounded.any()
    exact = [[Fraction(x) for x in row] for row in K.tolist()]
    for j in np.flatnonzero(found.rounded).tolist():
        rows, weights = found.combination(j)
        assert j not in rows
        shares = [Fraction(w) / sum(Fraction(x) for x in weights) for w in weights]
        apart = [
            sum(w * (exact[i][c] - exact[j][c]) for w, i in zip(shares, rows, strict=True))
            for c in range(d)
        ]
        largest = max(sum(x * x for x in exact[i]) for i in (*rows, j))
        # The bound is on these weights before they were rounded: one unit more.
        assert sum(x * x for x in apart) <= largest * Fraction(9 * ONE_UNIT) ** 2


def test_keys_beyond_the_tolerance_are_not_rounded_onto_a_face(rng):
    K = turned(lattice(3, 4), rng)
    middle = K.mean(axis=0)
    on_face = np.flatnonzero((lattice(3, 4) == [1.0, 1.0, 3.0]).all(axis=1))[0]
    K[on_face] += (K[on_face] - middle) * 20 * ONE_UNIT
    found = Fan(K, rounding=8 * ONE_UNIT * np.linalg.norm(K, axis=1))
    assert found.open[on_face]
    assert reach(K).reachable[on_face]


@pytest.mark.parametrize("d", [1, 2, 6])
def test_keys_are_left_as_they_were(rng, d):
    K = rng.standard_normal((30, d))
    before = K.copy()
    reach(K)
    np.testing.assert_array_equal(K, before)
