"""The certificate encloses the truth (50 digits), is never fooled by the solver, and bounds the
length from below."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from tests import reference
from tests.tolerances import DESIGN_GAP

import headwright as hw
from headwright.design.proofs.certificate import examine


@pytest.mark.parametrize("method", ["float", "ball"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_bounds_enclose_the_truth(method, size, rng):
    K = rng.standard_normal((15, 4)) * size
    d = hw.design.mixture({0: 0.7, 1: 0.3}, K, leak=1e-5, bias=rng.standard_normal(15), scale=0.3)
    c = d.certify(method=method)
    assert c.holds
    alpha = reference.softmax(reference.logits(d.queries[0], K, scale=0.3, bias=d._wanted.bias))
    leak = mp.fsum(alpha[2:])
    assert leak <= c.leak_bound <= float(leak) * (1 + 1e-9)
    errors = [abs(a - s) for a, s in zip(alpha, (mp.mpf(0.7), mp.mpf(0.3)), strict=False)]
    assert max(errors) <= c.weights_error


def test_float_bound_holds_for_huge_logits(rng):
    K = rng.standard_normal((10, 3)) * 1e4
    for q in rng.standard_normal((20, 3)):
        z = reference.logits(q, K)
        winner = max(range(10), key=lambda i: z[i])
        d = hw.design.copy(winner, K, leak=0.4)
        promise = replace(d.promise(), queries=q[None])
        leak = 1 - reference.softmax(z)[winner]
        assert leak <= examine(promise, K).leak_bound


def test_two_routes_agree(rng):
    K = rng.standard_normal((200, 16))
    d = hw.design.average([0, 1], K, leak=1e-4)
    a, b = d.certify(), d.certify(method="ball")
    assert b.leak_bound <= a.leak_bound <= b.leak_bound * (1 + 1e-10)


def test_a_wrong_query_fails(rng):
    K = rng.standard_normal((30, 8))
    d = hw.design.copy(0, K)
    for wrong in (d.queries * 0.9, -d.queries, d.queries + 1.0):
        assert not examine(replace(d.promise(), queries=wrong), K).holds
    assert not examine(replace(d.promise(), mix=np.array([0.5])), K).holds
    assert not examine(replace(d.promise(), storage="bfloat16"), K).holds


def test_no_query_beats_the_lower_bound(rng):
    """Random feasible queries, pulled in until they only just do: all are longer than what the
    certificate proves."""
    K = rng.standard_normal((25, 4))
    d = next(
        x for x in (hw.design.copy(j, K, leak=0.05) for j in range(25)) if x.status == "reached"
    )
    j = d.target.support[0]
    assert 1 - d.certify().norm_lower / d.norm <= 2 * DESIGN_GAP
    for wiggle in rng.standard_normal((200, 4)):
        q = d.queries[0] + 0.3 * d.norm * wiggle / np.linalg.norm(wiggle)
        lengths = np.linspace(0.5, 3.0, 200)[:, None] * q
        weights = hw.attend(lengths, K, np.eye(25)).weights[:, j]
        feasible = np.linalg.norm(lengths, axis=1)[weights >= 0.95]
        assert not feasible.size or feasible.min() >= d.certify().norm_lower


def test_a_loose_query_is_not_called_short(rng):
    K = rng.standard_normal((30, 8))
    d = hw.design.copy(0, K)
    longer = examine(replace(d.promise(), queries=d.queries * 3), K)
    assert longer.holds
    assert longer.norm_lower <= d.norm * (1 + DESIGN_GAP)


def test_rounding_is_in_the_bound_where_it_is_visible(rng):
    """Coordinates of size 1e8 cancel to logits of size one, which are rounded to 1e-8: a bound that
    leaves this out is below the truth half of the time."""
    visible = 0
    for _ in range(40):
        large = rng.standard_normal((10, 2)) * 1e8
        K = np.column_stack([large, -large + rng.standard_normal((10, 2))])
        q = np.tile(rng.standard_normal(2), 2)
        promise = replace(hw.design.copy(0, np.eye(10)).promise(), queries=q[None])
        leak = 1 - reference.softmax(reference.logits(q, K))[0]
        assert leak <= examine(promise, K).leak_bound
        visible += abs(float(leak) - hw.attend(q, K, np.eye(10)).weights[1:].sum()) > 1e-10
    assert visible > 20


def test_a_leak_too_small_for_a_double_is_not_called_zero():
    K = np.array([[1.0], [0.0]])
    d = replace(hw.design.copy(0, K).promise(), queries=np.array([[2000.0]]))
    assert 0.0 < examine(d, K).leak_bound < 1e-300


@pytest.mark.parametrize("mix", [[1.5, -0.5], [2.0, -1.0], [1.0 + 1e-9, -1e-9]])
def test_a_negative_mix_is_refused(mix):
    """Both heads do the same, so the mix reaches the target whatever its weights; a share of -1 is
    no head."""
    K = np.eye(4)
    one = hw.design.copy(0, K, leak=0.2)
    promise = replace(
        one.promise(), queries=np.vstack([one.queries, one.queries]), mix=np.array(mix), faces=()
    )
    found = examine(promise, K)
    assert not found.holds
    assert "a mixing weight is negative" in found.failures
    assert examine(replace(promise, mix=np.array([0.5, 0.5])), K).holds


def test_ball_and_float_accept_the_same_ratio(rng):
    K = rng.standard_normal((40, 8))
    for d in (hw.design.mixture({1: 0.7, 2: 0.3}, K), hw.design.average([1, 2], K, heads=2)):
        for method in ("float", "ball"):
            found = d.certify(method=method)
            assert found.holds
            assert 0 < found.ratio_error <= found.ratio_allowed < 1e-10
