"""What qhull says is a guess: every verdict of the fan against rationals, and qhull that fails or
lies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import QhullError
from tests.rational_check import exact_margin, is_combination, rational_coefficients

from headwright.design.separation import cone, pursuit, rational
from headwright.design.separation.few import facets, fan
from headwright.design.separation.few.facets import Facets
from headwright.design.separation.few.fan import Fan
from headwright.design.separation.few.on_facets import Grid
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
    found = Fan(K, resolution=0.0)
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
