"""Keys on a cyclic polytope, where queries are too long for float64: leak and lower bound are
computed again in 60 digits, from the query and the weights that the solver suggests."""

import mpmath as mp
import numpy as np
import pytest

import headwright as hw
from headwright.design.digits.frame import many_digits
from headwright.design.solve.precise import exact_length, precise
from headwright.design.solve.stored import Task
from headwright.design.target import average_target, wanted

LEAK = 0.1
# Promised relative gap between the proven bounds on the shortest length.
CYCLIC_GAP = 1e-6
# keys, dimension, set; lengths from 1e6 to 2e12
CASES = [
    (512, 8, [278, 323, 372, 494]),
    (512, 8, [2, 4, 63, 343]),
    (512, 8, [158, 191, 216, 248]),
    (4096, 16, [1135, 2223, 2291, 2585, 2747, 2982, 3340, 3827]),
]


def cyclic(n, d):
    turns = np.outer(2 * np.pi * np.arange(n) / n, np.arange(1, d // 2 + 1))
    return np.concatenate([np.cos(turns), np.sin(turns)], axis=1) / np.sqrt(d / 2)


def exactly(x):
    """An exact number of the many digits, for the other library."""
    mantissa, exponent = x.mid().man_exp()
    return mp.mpf(int(mantissa)) * mp.mpf(2) ** int(exponent)


def product(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("n", "d", "S"), CASES)
def test_both_bounds_again_in_sixty_digits(n, d, S):
    K = cyclic(n, d)
    task = Task(wanted(lambda n: average_target(S, n), K, leak=LEAK), average_target(S, n))
    ell = float(np.log(LEAK * (1 - 1e-9) / (1 - LEAK * (1 - 1e-9))))
    solution = precise(task, ell)
    lower, upper = exact_length(task, solution)
    assert 0.0 <= 1 - lower / upper <= CYCLIC_GAP
    with many_digits(), mp.workdps(60):
        point = solution.found.point
        column = solution.frame.q0 + point.y
        query = [exactly(x) for x in column.entries()]
        x = [exactly(v) for v in solution.found.multipliers.entries()]
    with mp.workdps(60):
        keys = [[mp.mpf(v) for v in row] for row in K.tolist()]
        scores = [product(row, query) for row in keys]
        inside = [scores[a] for a in S]
        assert max(inside) - min(inside) < mp.mpf(10) ** -30
        odds = mp.fsum(mp.exp(z - inside[0]) for i, z in enumerate(scores) if i not in S) / len(S)
        assert odds / (1 + odds) <= mp.mpf(LEAK)
        assert mp.sqrt(product(query, query)) <= mp.mpf(upper)

        lam = [mp.mpf(w) for w in point.lam.tolist()]
        total = mp.fsum(lam)
        lam = [w / total for w in lam]
        height = -mp.fsum(w * mp.log(w) for w in lam) - mp.log(len(S))
        height -= mp.log(mp.mpf(LEAK) / (1 - mp.mpf(LEAK)))
        chosen = [keys[i] for i in solution.found.which.tolist()]
        pull = []
        for j in range(d):
            base = keys[S[0]][j]
            mean = mp.fsum(w * row[j] for w, row in zip(lam, chosen, strict=True))
            shift = mp.fsum(v * (keys[a][j] - base) for v, a in zip(x, S[1:], strict=True))
            pull.append(base - mean + shift)
        assert mp.mpf(lower) <= height / mp.sqrt(product(pull, pull))


@pytest.mark.parametrize(("n", "d", "S"), CASES[:3])
def test_the_public_answer_has_a_closed_gap(n, d, S):
    design = hw.design.average(S, cyclic(n, d), leak=LEAK)
    low, high = design.shortest
    assert 1e6 < low <= high
    assert design.gap <= CYCLIC_GAP
    # A query too long for float64 is not called reached.
    assert design.certify().holds == (design.status == "reached")
    if design.status == "reached":
        assert 1 - design.lower_bound / design.norm <= CYCLIC_GAP
    else:
        assert "in exact arithmetic" in design.message
