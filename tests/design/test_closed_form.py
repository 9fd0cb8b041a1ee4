"""Closed forms for orthonormal keys against the softmax and the slow twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import reference
from tests.cases import AVERAGING
from tests.tolerances import CLOSED_FORM, ROUNDING

import headwright as hw
from headwright.design import closed_form
from headwright.errors import InputError


def test_numbers_everybody_quotes():
    assert closed_form.sharpness(10, leak=0.01) == pytest.approx(math.log(9 * 99), abs=ROUNDING)
    assert closed_form.sharpness(10, leak=0.01, m=2) == pytest.approx(
        math.log(4 * 99), abs=ROUNDING
    )


@pytest.mark.parametrize("case", AVERAGING, ids=str)
def test_leak_is_the_twins(case):
    twin = float(reference.leak_of_average(case.n, case.m, case.beta))
    assert closed_form.leak(case.n, sharpness=case.beta, m=case.m) == pytest.approx(
        twin, abs=ROUNDING
    )


@given(st.integers(2, 10**6), st.floats(1e-12, 0.4), st.data())
def test_sharpness_and_leak_are_inverse(n, eps, data):
    m = data.draw(st.integers(1, n - 1))
    beta = closed_form.sharpness(n, leak=eps, m=m)
    reached = closed_form.leak(n, sharpness=beta, m=m)
    assert reached <= eps * (1 + 1e-9)
    if beta > 0:
        assert reached == pytest.approx(eps, rel=CLOSED_FORM)


@given(st.floats(0.0, 700.0), st.floats(1e-9, 0.5))
def test_horizon_is_the_n_at_which_the_lead_is_just_enough(lead, eps):
    n = closed_form.horizon(lead, leak=eps)
    weight = 1 / (1 + (n - 1) * math.exp(-lead))
    assert weight == pytest.approx(1 - eps, rel=CLOSED_FORM)


@pytest.mark.parametrize("target", [3, [0, 2], {0: 0.7, 4: 0.3}, {1: 1.0}])
@pytest.mark.parametrize("scale", [1.0, 0.125])
def test_the_query_does_what_it_says(rng, target, scale):
    K = np.linalg.qr(rng.standard_normal((12, 12)))[0][:9]
    made = closed_form.query(target, K, leak=1e-3, scale=scale)
    alpha = hw.attend(made.query, K, K, scale=scale).weights
    shares = (
        target
        if isinstance(target, dict)
        else dict.fromkeys(np.atleast_1d(target).tolist(), 1 / np.size(target))
    )
    assert 1 - sum(alpha[a] for a in shares) == pytest.approx(1e-3, rel=CLOSED_FORM)
    for a, p in shares.items():
        assert alpha[a] / (1 - 1e-3) == pytest.approx(p, rel=CLOSED_FORM)


def test_scores_divided_by_root_d_need_root_d_times_the_sharpness():
    plain, scaled = (closed_form.sharpness(10, leak=0.01, m=2, scale=s) for s in (1.0, 0.125))
    assert scaled == pytest.approx(8 * plain, rel=ROUNDING)


def test_all_keys_and_one_key_need_nothing():
    assert closed_form.sharpness(5, leak=0.1, m=5) == 0.0
    assert closed_form.leak(1, sharpness=0.0) == 0.0
    assert closed_form.horizon(1e4, leak=0.5) == math.inf


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: closed_form.sharpness(0, leak=0.1), "1 <= m <= n"),
        (lambda: closed_form.sharpness(3, leak=0.1, m=4), "1 <= m <= n"),
        (lambda: closed_form.sharpness(3, leak=0.0), "leak in"),
        (lambda: closed_form.sharpness(3, leak=float("nan")), "leak in"),
        (lambda: closed_form.query([0, 0], np.eye(3), leak=0.1), "every key once"),
        (lambda: closed_form.query({0: 0.7, 1: 0.7}, np.eye(3), leak=0.1), "sum to 1"),
        (lambda: closed_form.query(-1, np.eye(3), leak=0.1), "between 0 and 2"),
        (lambda: closed_form.query(0, np.ones((3, 3)), leak=0.1), "orthonormal"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(InputError, match=says):
        call()
