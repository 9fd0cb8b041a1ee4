"""One meaning of "reached": the solver, the certificate, the bounds and the proofs speak of the
same queries."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import adversary_design
from scipy.optimize import minimize

import headwright as hw
from headwright.design.effect import measured
from headwright.design.proofs.certificate import examine
from headwright.design.proofs.reached import MOST, enclosure, spilled

CROWD = np.array([[-1.0], [1.0], [0.0], [0.0], [0.0]])


def test_a_heavy_pair_out_of_ratio_is_not_reached():
    """0.87 on the pair, but nearly all of it on one key: that is not the average, and "at most 0.4"
    stands."""
    d = hw.design.average([0, 1], CROWD, leak=0.45)
    assert d.status == "impossible"
    assert d.ceiling == pytest.approx(0.4, abs=MOST["float64"])
    heavy = examine(replace(d.promise(), queries=np.array([[3.0]])), CROWD)
    assert hw.attend(np.array([3.0]), CROWD, np.eye(5)).weights[:2].sum() > 0.87
    assert heavy.leak_bound < 0.45
    assert not heavy.holds
    assert heavy.ratio_error == pytest.approx(6.0)


def test_weights_near_their_shares_are_another_problem():
    """On the keys of the guide a shorter query comes within the leak of the shares; it is not in
    their ratio."""
    K = np.random.default_rng(0).standard_normal((40, 8))
    leak = 0.1
    d = hw.design.average([1, 2], K, leak=leak)
    assert d.status == "reached"

    def room(q):
        weights = hw.attend(q, K, np.eye(40)).weights[[1, 2]]
        return np.array([weights.sum() - (1 - leak) - 1e-6, leak - 1e-6 - abs(weights - 0.5).max()])

    near = minimize(
        lambda q: q @ q, d.queries[0], constraints={"type": "ineq", "fun": room}, method="SLSQP"
    ).x
    assert np.linalg.norm(near) < d.lower_bound * 0.999
    refused = examine(replace(d.promise(), queries=near[None]), K)
    assert [text[:11] for text in refused.failures] == ["the weights"]


@pytest.mark.parametrize("storage", ["float64", "float32", "bfloat16"])
def test_honest_rounding_is_accepted_and_nothing_looser(storage, rng):
    K = rng.standard_normal((60, 32))
    d = hw.design.mixture({0: 0.5, 1: 0.3, 2: 0.2}, K, storage=storage, leak=0.01)
    assert d.status == "reached"
    c = d.certify()
    assert c.ratio_error <= c.ratio_allowed <= MOST[storage]
    ratio = np.log(d.weights[[0, 1, 2]] / d.target.shares)
    assert np.ptp(ratio) <= c.ratio_error
    direction = np.linalg.lstsq(K[[1, 2]] - K[0], np.array([1.0, 1.0]), rcond=None)[0]
    bent = examine(
        replace(d.promise(), storage="float64", queries=d.queries + 2 * MOST[storage] * direction),
        K,
    )
    assert not bent.holds
    assert bent.ratio_error > MOST[storage]


def test_every_query_rounded_in_its_last_digit_is_accepted(rng):
    K = rng.standard_normal((30, 12))
    d = hw.design.average([0, 1], K, leak=0.2)
    assert d.status == "reached"
    inside = replace(d.promise(), leak=0.2 * (1 + 1e-9))
    for _ in range(50):
        shaken = d.queries * (1 + rng.integers(-1, 2, d.queries.shape) * 2.0**-53)
        assert examine(replace(inside, queries=shaken), K).holds


def test_a_query_too_long_for_its_ratio_is_refused():
    """The last digit of such a query decides who gets the weight: 2^-52 times 2^40 is no rounding
    any more."""
    K = np.array([[1.0, 0.0], [1.0 + 2.0**-20, 1.0], [0.0, 0.5]])
    d = hw.design.average([0, 1], K)
    for length in (1e3, 1e13):
        q = length * np.array([1.0, -(2.0**-20)])
        promise = replace(d.promise(), queries=q[None])
        assert examine(promise, K).holds == (length < 1e9)
        assert enclosure(promise, K).allowed(length) <= MOST["float64"]


@pytest.mark.parametrize("family", adversary_design.FAMILIES)
def test_no_accepted_query_contradicts_a_design(family):
    rng = np.random.default_rng(3)
    accepted = 0
    for _ in range(3):
        answer = adversary_design.question(adversary_design.FAMILIES[family](rng), rng)
        for promise in adversary_design.attempts(answer, rng):
            found = examine(promise, answer._wanted.keys)
            if found.holds:
                accepted += 1
                assert not adversary_design.contradictions(answer, promise, found)
    assert accepted > 0


@pytest.mark.parametrize("uniform", [False, True])
def test_several_heads_mix_to_exact_shares(uniform, rng):
    """Each head spills onto the keys of the others; the mix has the ratio of the shares all the
    same."""
    K = rng.standard_normal((30, 12))
    corners = np.flatnonzero(hw.design.reach(K).reachable)[:3]
    shares = np.array([0.5, 0.3, 0.2])
    asked = dict(zip(corners.tolist(), shares, strict=True))
    d = hw.design.mixture(asked, K, heads=3, uniform=uniform, leak=0.1, seconds=2)
    assert d.status == "reached"
    assert np.ptp(np.log(d.weights[corners] / shares)) <= d.certify().ratio_allowed < 1e-10
    assert not uniform or np.array_equal(d.mix, np.full(3, 1 / 3))
    # Every head leaves at most the leak outside its own keys, or there is no such split.
    other = replace(d.promise(), faces=d.faces[1:] + d.faces[:1])
    assert any("outside its own keys" in text for text in examine(other, K).failures)


def test_heads_of_one_split_are_not_beaten_by_heads_that_spill_more(rng):
    """The bound for a head of several allows for spill: without it, this design would be below its
    own bound."""
    K = rng.standard_normal((25, 4))
    corners = np.flatnonzero(hw.design.reach(K).reachable)
    pair = next(
        [a, b]
        for a in corners.tolist()
        for b in corners.tolist()
        if a < b and hw.design.selectable(K, [a, b]).status == "selectable"
    )
    third = next(c for c in corners.tolist() if c not in pair)
    d = hw.design.mixture({pair[0]: 0.4, pair[1]: 0.3, third: 0.3}, K, heads=2, leak=0.05)
    assert d.status == "reached"
    assert d.lower_bound <= d.norm
    wide = next(face for face in d.faces if len(face.support) > 1)
    # ln(0.4 / 0.3), but only up to the spill
    inside = np.log(wide.shares / [d.target.dense(25)[a] for a in wide.support])
    assert 0 < np.ptp(inside) <= spilled(d.promise(), wide)


def test_the_leak_is_known_to_its_error(rng):
    """Against 60 digits, where rounding is visible: logits of size 1e9."""
    K = rng.standard_normal((12, 3)) * 1e3
    for q in rng.standard_normal((20, 3)) * 1e6:
        d = hw.design.copy(int(np.argmax(K @ q)), K, leak=0.4)
        found = measured(d._wanted, q[None], np.ones(1), ())
        leak, _ = adversary_design.truth(replace(d.promise(), queries=q[None]), K)
        assert abs(found["leak"] - leak) <= found["leak_error"]
    assert d.leak_error < 1e-9
