"""The cheapest query against closed forms, a conic solver, brute force in high precision, and its
own certificate."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reference
from tests.awkward import awkward
from tests.tolerances import CLOSED_FORM, CONIC, DESIGN_GAP, ROUNDING

import headwright as hw

LEAKS = (0.4, 1e-3, 1e-12)
KEYS = awkward()


@pytest.mark.parametrize(("m", "beta"), [(1, 6.7923444), (2, 5.9814142)])
def test_orthonormal_keys_have_the_sharpness_of_the_formula(m, beta):
    d = hw.design.average(range(m), np.eye(10), leak=0.01)
    assert d.status == "reached"
    assert d.sharpness == pytest.approx(beta, abs=1e-6)
    assert d.sharpness == pytest.approx(
        hw.design.closed_form.sharpness(10, leak=0.01, m=m), rel=10 * DESIGN_GAP
    )
    # Shorter than beta times the sum of keys: a little of every other key is taken away.
    assert d.norm == pytest.approx(d.sharpness * np.sqrt(m - m * m / 10), rel=DESIGN_GAP)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("name", KEYS)
def test_every_geometry_is_certified_or_proved(name, leak):
    K = KEYS[name]
    for S in ([3], [0], [2, 5], [1, 4, 6]):
        d = hw.design.average(S, K, leak=leak)
        certificate = d.certify()
        assert d.status in ("reached", "impossible", "undecided")
        assert certificate.holds == (d.status != "undecided"), (S, d.message, certificate)
        if d.status == "reached":
            assert certificate.leak_bound <= leak
            assert d.lower_bound <= d.norm * (1 + ROUNDING)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("name", ["plain", "tiny", "huge", "midpoint", "lattice", "on a line"])
def test_plain_geometry_is_decided_to_the_promised_gap(name, leak):
    K = KEYS[name]
    for j in range(min(len(K), 12)):
        d = hw.design.copy(j, K, leak=leak)
        assert d.status in ("reached", "impossible")
        if d.status == "reached":
            assert 1 - d.lower_bound / d.norm <= DESIGN_GAP


@given(
    n=st.integers(2, 30),
    d=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    leak=st.sampled_from([0.3, 1e-2, 1e-6]),
    size=st.floats(1e-6, 1e6),
)
@settings(max_examples=60)
def test_scaling_the_keys_scales_the_query(n, d, seed, leak, size):
    rng = np.random.default_rng(seed)
    K, bias = rng.standard_normal((n, d)), rng.standard_normal(n)
    one = hw.design.copy(0, K, leak=leak, bias=bias)
    other = hw.design.copy(0, K * size, leak=leak, bias=bias, scale=-1.0)
    assert one.status == other.status
    if one.status == "reached":
        assert other.norm * size == pytest.approx(one.norm, rel=2 * DESIGN_GAP)
        assert np.allclose(-other.queries * size, one.queries, rtol=0, atol=1e-3 * one.norm)


@pytest.mark.parametrize("seed", range(4))
def test_a_conic_solver_agrees(seed):
    cp = pytest.importorskip("cvxpy", reason="the peer solver is not installed")
    rng = np.random.default_rng(seed)
    K, S, p, leak = rng.standard_normal((60, 8)), [0, 1], np.array([0.7, 0.3]), 1e-3
    bias = rng.standard_normal(60) * 0.3
    mine = hw.design.mixture(dict(zip(S, p, strict=True)), K, leak=leak, bias=bias)
    q, rest = cp.Variable(8), list(range(2, 60))
    tau = K[0] @ q + bias[0] - np.log(p[0])
    odds = np.log(leak / (1 - leak))
    rules = [
        cp.log_sum_exp(K[rest] @ q + bias[rest] - tau) <= odds,
        tau == K[1] @ q + bias[1] - np.log(p[1]),
    ]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(q)), rules)
    try:
        problem.solve(solver="CLARABEL")
    except cp.error.SolverError:
        pytest.skip("the peer solver did not converge")
    if mine.status == "impossible":
        assert problem.status in ("infeasible", "infeasible_inaccurate")
        return
    assert mine.norm == pytest.approx(float(np.linalg.norm(q.value)), rel=CONIC)


@pytest.mark.parametrize("leak", [0.2, 1e-4])
def test_brute_force_over_directions_in_the_plane(leak):
    """Every direction of a fine circle, its length by bisection in 50 digits: none is shorter."""
    K = np.array([[1.0, 0.3], [0.2, 1.1], [-0.8, 0.1], [0.1, -0.9]])
    mine = hw.design.copy(0, K, leak=leak)
    best = mp.inf
    for angle in np.linspace(0, 2 * np.pi, 361):
        direction = np.array([np.cos(angle), np.sin(angle)])
        if ((K[0] - K[1:]) @ direction).min() <= 0.05:
            continue
        low, high = mp.mpf(0), mp.mpf(1000)
        for _ in range(30):
            middle = (low + high) / 2
            alpha = reference.softmax([middle * z for z in reference.logits(direction, K)])
            low, high = (middle, high) if 1 - alpha[0] > leak else (low, middle)
        best = min(best, high)
    assert mine.norm <= float(best)
    assert mine.norm == pytest.approx(float(best), rel=1e-3)  # the circle's step, squared


@pytest.mark.parametrize("leak", LEAKS)
def test_weights_and_leak_in_fifty_digits(leak, rng):
    K = rng.standard_normal((12, 5))
    d = hw.design.mixture({0: 0.6, 1: 0.4}, K, leak=leak, scale=0.5)
    assert d.status == "reached"
    alpha = reference.softmax(reference.logits(d.queries[0], K, scale=0.5))
    true_leak = mp.fsum(alpha[2:])
    assert true_leak <= leak
    assert float(true_leak) == pytest.approx(d.leak, rel=CLOSED_FORM)
    assert d.certify().leak_bound >= true_leak


def test_a_leak_that_costs_nothing():
    assert hw.design.average([0, 1, 2], np.eye(4), leak=0.3).norm == 0.0
    assert hw.design.copy(0, np.eye(2), leak=0.6).norm == 0.0


def test_one_key_all_keys_and_single_precision():
    one = hw.design.copy(0, [[3.0, 4.0]])
    assert (one.status, one.leak, one.norm) == ("reached", 0.0, 0.0)
    everything = hw.design.mixture([0.2, 0.3, 0.5], np.eye(3))
    assert everything.status == "reached"
    assert np.allclose(everything.weights, [0.2, 0.3, 0.5], atol=ROUNDING)
    single = np.eye(5, dtype=np.float32)
    assert hw.design.copy(1, single).queries.dtype == np.float64


def test_keys_that_are_all_zero():
    nothing = np.zeros((5, 3))
    assert hw.design.copy(0, nothing).ceiling == pytest.approx(0.2)
    assert hw.design.average(range(5), nothing).status == "reached"
    assert hw.design.average([0, 1], nothing, leak=0.61).status == "reached"


def test_torch_keys_are_welcome(rng):
    torch = pytest.importorskip("torch", reason="another array library")
    K = rng.standard_normal((20, 6))
    assert np.array_equal(hw.design.copy(2, torch.tensor(K)).queries, hw.design.copy(2, K).queries)


def test_a_hundred_keys_and_near_twins_inside(rng):
    K = rng.standard_normal((400, 256))
    hundred = hw.design.average(range(100), K, leak=1e-3)
    assert hundred.certify().holds
    K[1] = K[0] + 1e-9 * rng.standard_normal(256)
    near = hw.design.average([0, 1, 2], K, leak=1e-6)
    assert near.status == "reached"
    assert near.certify().holds
    assert near.norm < 100.0


@pytest.mark.parametrize("push", [-1e5, -50.0, 0.0, 50.0, 1e5])
def test_a_bias_that_helps_or_hinders(push):
    K, bias = np.eye(4), np.array([push, 0.0, 0.0, 0.0])
    d = hw.design.copy(0, K, bias=bias, leak=1e-3)
    assert d.status == "reached"
    assert d.certify().holds
    assert (d.norm == 0.0) == (push >= 50.0)
