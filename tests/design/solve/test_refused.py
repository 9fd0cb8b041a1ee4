"""Impossible comes with a proof that survives exact arithmetic; a solver that fails proves
nothing."""

from fractions import Fraction

import numpy as np
import pytest
from tests.awkward import awkward
from tests.tolerances import CEILING

import headwright as hw
from headwright.design.proofs.proof import Combination, Contradiction, in_rationals
from headwright.design.solve import one_head
from headwright.design.solve.cheapest import Cheapest

KEYS = awkward()
# Geometries whose keys are exact, with a key known to be impossible.
EXACT = {
    "twins": 3,
    "midpoint": 0,
    "lattice": 12,
    "on a line": 4,
    "plain": None,
    "far away": None,
    "uneven": None,
}


def check_in_fractions(K, proof):
    """An independent checker: Python fractions, the definition, nothing else."""
    exact = in_rationals(K, proof)
    assert exact is not None
    outside, inside = exact
    assert min(outside) >= 0
    assert sum(outside) == sum(inside) == 1
    for j in range(K.shape[1]):
        left = sum(
            c * Fraction(float(K[i, j])) for c, i in zip(outside, proof.outside, strict=True)
        )
        right = sum(c * Fraction(float(K[a, j])) for c, a in zip(inside, proof.inside, strict=True))
        assert left == right


@pytest.mark.parametrize("name", EXACT)
def test_every_impossible_copy_is_proved_again_in_fractions(name):
    K, known = KEYS[name], EXACT[name]
    impossible = set()
    for j in sorted({*range(0, len(K), 2), known or 0}):
        d = hw.design.copy(j, K, leak=1e-3)
        if d.status != "impossible":
            continue
        impossible.add(j)
        assert isinstance(d.proof, Combination)
        assert j not in d.proof.outside
        check_in_fractions(K, d.proof)
        assert d.ceiling <= 0.5 + CEILING
        assert d.certify().method == "proof (rationals)"
    assert known is None or known in impossible


def test_a_midpoint_gets_what_the_formula_says():
    K = np.array([[0.0], [1.0], [2.0]])
    d = hw.design.copy(1, K)
    assert d.status == "impossible"
    assert set(d.proof.outside) == {0, 2}
    assert d.ceiling == pytest.approx(1 / 3, abs=CEILING)  # q = 0 is best


def test_twins_share_their_weight():
    K = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    d = hw.design.copy(0, K)
    assert d.status == "impossible"
    assert "equal and always share" in d.message
    assert d.ceiling == pytest.approx(0.5, abs=CEILING)
    assert hw.design.average([0, 1], K).status == "reached"
    unfair = hw.design.mixture({0: 0.4, 1: 0.6}, K)
    assert unfair.status == "impossible"
    assert isinstance(unfair.proof, Contradiction)
    assert unfair.certify().holds
    # A bias tells twins apart.
    assert (
        hw.design.mixture({0: 0.4, 1: 0.6}, K, bias=[np.log(0.4), np.log(0.6), 0.0]).status
        == "reached"
    )


def test_a_whole_edge_can_be_averaged_but_not_its_middle():
    K = KEYS["lattice"]
    assert hw.design.average([0, 1, 2, 3, 4], K).status == "reached"
    assert hw.design.copy(2, K).status == "impossible"
    uneven = hw.design.mixture({0: 0.5, 1: 0.2, 2: 0.3}, K)
    assert uneven.status == "impossible"
    assert uneven.certify().holds
    fitting = np.exp(np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    assert hw.design.mixture(dict(enumerate(fitting / fitting.sum())), K).status == "reached"


def test_ceiling_is_attained(rng):
    K = np.vstack([0.05 * rng.standard_normal(3), rng.standard_normal((30, 3))])
    d = hw.design.copy(0, K)
    assert d.status == "impossible"
    assert d.weights[0] == pytest.approx(d.ceiling, abs=CEILING)
    # No other query of any length does better.
    for q in rng.standard_normal((300, 3)) * rng.uniform(0, 30, (300, 1)):
        assert hw.attend(q, K, np.eye(31)).weights[0] <= d.ceiling + CEILING


def test_a_failed_solver_is_never_impossible(monkeypatch, rng):
    K = rng.standard_normal((20, 8))
    stuck = Cheapest("stuck", np.zeros(8), 0.0, 0.0, 3.0)
    monkeypatch.setattr(one_head, "cheapest", lambda *_, **__: stuck)
    monkeypatch.setattr(one_head, "precise", lambda *_: None)
    d = hw.design.copy(0, K)
    assert d.status == "undecided"
    assert d.proof is None


def test_a_large_leak_may_be_possible_where_a_small_one_is_not():
    K = np.array([[-1.0], [1.0], [0.0]])
    assert hw.design.average([0, 1], K, leak=0.34).status == "reached"
    assert hw.design.average([0, 1], K, leak=0.3).status == "impossible"


def test_nearest_mixture_when_all_keys_are_wanted(rng):
    K, q = rng.standard_normal((9, 3)), rng.standard_normal(3)
    reachable = hw.attend(q, K, np.eye(9)).weights
    exact = hw.design.mixture(reachable, K)
    assert exact.status == "reached"
    assert np.allclose(exact.weights, reachable, atol=1e-9)
    p = rng.dirichlet(np.ones(9))
    near = hw.design.mixture(p, K)
    assert near.status == "nearest"
    # Kullback-Leibler nearest = moments match: sum p k = sum alpha k.
    assert np.allclose(near.weights @ K, p @ K, atol=1e-7)
