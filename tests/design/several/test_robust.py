"""Robust design on the classic example: n = 20 orthonormal keys, the length of k_a random with
variance 1/2."""

import numpy as np
import pytest
from tests.tolerances import EXACT_COVARIANCE, ROBUST_GAIN, SIGMAS, SIMULATED

import headwright as hw
from headwright.design.several.descent import Ball
from headwright.noise.gradient.squared_error import squared_error

N, A, B, BUDGET = 20, 0, 1, 30.0
KEYS = np.eye(N)
LAW = hw.GaussianKeys(KEYS, isotropic=1e-6).radial({A: 0.5})


@pytest.fixture(scope="module")
def two_heads():
    return hw.design.average([A, B], KEYS, law=LAW, heads=2, budget=BUDGET, seconds=3.0)


def test_it_beats_the_textbook_by_far(two_heads):
    r = two_heads.robust
    assert r.gain > ROBUST_GAIN
    # The textbook number is known: 0.0247 by simulation, n = 20, beta = 30.
    assert r.textbook == pytest.approx(0.0246, abs=SIMULATED)
    assert np.linalg.norm(two_heads.queries, axis=1).max() <= BUDGET


def test_exact_and_sampled_numbers_agree(two_heads):
    r = two_heads.robust
    assert abs(r.error - r.sampled) < SIGMAS * r.sampled_error
    assert abs(r.textbook - r.textbook_sampled) < SIGMAS * r.textbook_sampled_error


def test_moments_are_a_third_route(two_heads):
    m = hw.moments(two_heads.queries, LAW, np.eye(N), mix=two_heads.mix)
    wanted = np.zeros(N)
    wanted[[A, B]] = 0.5
    error = float(np.sum((m.mean - wanted) ** 2) + np.trace(m.covariance))
    assert error == pytest.approx(two_heads.robust.error, abs=EXACT_COVARIANCE)


def test_the_head_that_reads_the_noisy_key_says_no_to_the_others(two_heads):
    """It leans on k_a little, so that its random length matters little, and if k_a flips, v_b is
    next in line."""
    reader = min(two_heads.queries, key=lambda q: abs(q[A]) / np.linalg.norm(q))
    others = np.delete(reader, [A, B])
    assert others.max() < reader[B] < reader[A]


def test_a_fallback_on_the_other_value_alone_does_not_pay():
    """`beta (mu_a + tau mu_b)`: in weights, falling back on v_b costs more than spreading over all
    keys."""
    wanted = np.zeros(N)
    wanted[[A, B]] = 0.5
    errors = []
    for tau in (0.0, 0.1):
        q = KEYS[A] + tau * KEYS[B]
        heads = BUDGET * np.stack([q / np.linalg.norm(q), KEYS[B]])
        errors.append(squared_error(heads, LAW, np.eye(N), wanted)[0])
    assert errors[0] < errors[1]


@pytest.mark.parametrize("uniform", [True, False])
def test_the_chain_rule_of_the_ball(uniform, rng):
    ball, h, d = Ball(3.0, uniform=uniform), 2, 4
    goal, weight = rng.standard_normal((h, d)), rng.standard_normal(h)

    def value(x):
        queries, mix = ball.heads(x, h)
        return float(np.sum(goal * queries) + weight @ mix)

    x = ball.coordinates(rng.standard_normal((h, d)) * 0.5, np.array([0.3, 0.7]))
    slope = ball.pull(x, goal, weight)
    step = 1e-6
    for i in range(x.size):
        e = np.eye(x.size)[i] * step
        assert slope[i] == pytest.approx((value(x + e) - value(x - e)) / (2 * step), abs=1e-7)
