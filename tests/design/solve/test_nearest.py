"""The nearest mixture against scipy, and the margin query against its own definition."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.awkward import awkward
from tests.tolerances import DESIGN_GAP, ROUNDING

from headwright.design.digits.ray import level
from headwright.design.solve.cheapest import cheapest
from headwright.design.solve.coordinates import head_problem, within_hull
from headwright.design.solve.margin import margin_query
from headwright.design.solve.nearest import nearest
from headwright.design.target import Target

KEYS = awkward()


@pytest.mark.parametrize("seed", range(5))
def test_nearest_mixture_by_another_minimiser(seed):
    rng = np.random.default_rng(seed)
    K, bias, p = rng.standard_normal((15, 4)), rng.standard_normal(15), rng.dirichlet(np.ones(15))

    def divergence(q):
        z = K @ q + bias
        return float(np.logaddexp.reduce(z) - p @ z + p @ np.log(p))

    mine = nearest(K, p, bias)
    theirs = minimize(divergence, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    assert mine.converged
    assert mine.divergence == pytest.approx(theirs.fun, abs=1e-9)
    assert divergence(mine.query) == pytest.approx(mine.divergence, abs=ROUNDING)


def test_nearest_is_zero_exactly_for_reachable_mixtures(rng):
    K = rng.standard_normal((15, 4))
    z = K @ rng.standard_normal(4)
    p = np.exp(z) / np.exp(z).sum()
    assert nearest(K, p).divergence < 1e-14


def test_the_margin_query_is_feasible_and_of_the_right_size():
    K, ell, compared = KEYS["near twins"], np.log(1e-6), 0
    for j in range(12):
        problem = head_problem(K, Target((j,), np.ones(1)), None)
        y, best = margin_query(problem, ell), cheapest(problem, ell)
        if best.status != "solved" or best.norm < 1e5:
            continue
        compared += 1
        assert level(problem.c - problem.along(y)) <= ell + 0.1
        # Keys without a multiplier stay 30 logits aside where 14 were needed: at most (30 + 14) /
        # 14 too long.
        assert 0.99 * best.norm <= np.linalg.norm(y) <= 4 * best.norm
    assert compared >= 3


def test_keys_of_low_rank_are_seen_in_their_own_hull():
    K = KEYS["low rank"]
    j = int(np.argmax(np.linalg.norm(K, axis=1)))
    problem = head_problem(K, Target((j,), np.ones(1)), None)
    inside = within_hull(problem)
    assert inside is not None
    assert inside.basis.shape == (6, 3)  # the three directions that hold nothing but rounding
    assert within_hull(head_problem(KEYS["plain"], Target((0,), np.ones(1)), None)) is None
    found = cheapest(inside, np.log(1e-3))
    assert found.status == "solved"
    assert 1 - found.lower / found.norm <= DESIGN_GAP
