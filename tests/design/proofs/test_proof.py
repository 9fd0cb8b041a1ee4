"""A combination is believed only where it holds, and excludes only what it excludes."""

from dataclasses import replace

import numpy as np
import pytest

import headwright as hw
from headwright.design.proofs.certificate import examine_proof
from headwright.design.proofs.exclusion import Demand, contradicts, excludes, most_mass
from headwright.design.proofs.proof import Combination, Contradiction, verified
from headwright.design.proofs.reached import KEY_ROUNDING, most_bent

LINE = np.array([[-1.0], [1.0], [0.0]])


def combination(outside, lam, inside, nu):
    return Combination(tuple(outside), np.array(lam), tuple(inside), np.array(nu), 0.0, exact=False)


def pair(leak, *, one_head=True, bent=0.0):
    return Demand({0: 0.5, 1: 0.5}, leak, None, bent, one_head)


# The middle key lies between the two of the target
MIDDLE = combination([2], [1.0], [0, 1], [0.5, 0.5])


def test_a_true_combination_excludes_small_leaks_only():
    """Two opposite keys with one between them can have 2/3 of the weight: a leak of 0.34 is
    possible."""
    assert verified(LINE, MIDDLE).exact
    assert most_mass(MIDDLE, pair(0.1)) == pytest.approx(2 / 3)
    assert excludes(MIDDLE, pair(0.33))
    assert not excludes(MIDDLE, pair(0.34))
    promise = hw.design.average([0, 1], LINE, leak=0.34).promise()
    assert examine_proof(replace(promise, leak=0.33), LINE, MIDDLE).holds
    refused = examine_proof(promise, LINE, MIDDLE)
    assert refused.failures == ("the proof does not exclude the leak that was asked for",)


def test_the_ratio_error_of_accepted_queries_is_part_of_the_proof():
    ceilings = [most_mass(MIDDLE, pair(0.1, bent=bent)) for bent in (0.0, 0.01, 0.1)]
    assert ceilings == sorted(ceilings)
    # A ratio bent by 0.1 really is worth that much: cosh(0.05) times the mass of the exact ratio,
    # and more is allowed.
    q = np.array([0.05])
    bent = hw.attend(q, LINE, np.eye(3)).weights[:2].sum()
    assert ceilings[0] < bent <= ceilings[2]


def test_one_head_proofs_do_not_exclude_several_heads():
    assert not excludes(MIDDLE, pair(1e-3, one_head=False))
    assert hw.design.average([0, 1], LINE, heads=2).status == "reached"


def test_a_key_written_through_others_excludes_any_number_of_heads():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.25, 0.25]])
    inner = combination([0, 1, 2], [0.5, 0.25, 0.25], [3], [1.0])
    assert verified(K, inner).exact
    demand = Demand({0: 0.5, 3: 0.5}, 1e-3, None, 0.0, one_head=False)
    assert excludes(inner, demand)
    # w_3 <= w_0^(1/2) (leak / 2)^(1/2): with equal shares the leak must reach (1 - leak) / 2 twice
    # over.
    for leak in (0.3, 0.45, 0.49, 0.51, 0.6):
        share = (1 - leak) / 2
        possible = share <= share**0.5 * (leak / 2) ** 0.5
        assert excludes(inner, replace(demand, leak=leak)) == (not possible)


def test_a_key_counts_once():
    """Named twice, one key would pass for two and its entropy for ln 2."""
    K = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    twice = combination([1, 1], [0.5, 0.5], [0], [1.0])
    assert verified(K, twice) is None
    assert verified(K, combination([1], [1.0], [0], [1.0])).exact


@pytest.mark.parametrize("bad", [[1.1, -0.1], [0.6, 0.6], [0.3, 0.3], [0.5 + 1e-6, 0.5 - 1e-6]])
def test_false_coefficients_are_refused(bad):
    assert verified(LINE, combination([0, 1], bad, [2], [1.0])) is None


@pytest.mark.parametrize("units", [0, 4, 64, 1000])
def test_a_rounded_combination_counts_up_to_the_rounding_of_the_keys(units, rng):
    K = rng.standard_normal((6, 3))
    K[0] = (K[1] + K[2]) / 2 + units * 2.0**-53
    proof = verified(K, combination([1, 2], [0.5, 0.5], [0], [1.0]))
    room = KEY_ROUNDING * (np.linalg.norm(K[[1, 2]], axis=1).mean() + np.linalg.norm(K[0]))
    off = np.linalg.norm((K[1] + K[2]) / 2 - K[0])
    assert (proof is not None) == (off <= room)


def test_a_contradiction_must_exceed_what_is_accepted():
    twins = np.array([[1.0], [1.0], [0.0]])
    dependence = Contradiction((0, 1), np.array([1.0, -1.0]), 0.0, 0.0)
    bent = most_bent("float64", 2)
    for off, proved in ((1e-3, True), (1e-5, True), (1e-8, False), (0.0, False)):
        shares = {0: 0.5 + off, 1: 0.5 - off}
        assert contradicts(twins, dependence, Demand(shares, 0.1, None, bent, True)) == proved
    independent = np.array([[1.0], [1.0 + 2.0**-52], [0.0]])
    unequal = Demand({0: 0.6, 1: 0.4}, 0.1, None, bent, one_head=True)
    assert contradicts(twins, dependence, unequal)
    assert not contradicts(independent, dependence, unequal)


def test_a_contradiction_excludes_one_head_only():
    K = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, -1.0]])
    d = hw.design.mixture({0: 0.2, 1: 0.2, 2: 0.6}, K)
    assert isinstance(d.proof, Contradiction)
    assert d.certify().holds
    assert not examine_proof(replace(d.promise(), one_head=False), K, d.proof).holds


def test_a_combination_that_vanishes_exactly_is_a_proof():
    """The ball around a residual of zero reaches below zero: no root may be taken of it."""
    keys = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.0, 0.0]])
    design = hw.design.copy(3, keys, leak=0.01)

    assert design.status == "impossible"
    assert design.proof.exact
