"""Three routes to the error under a random length, and who looks away."""

import numpy as np
import pytest
from tests.tolerances import EXACT_COVARIANCE, QUOTED_FOUR, SIGMAS

from headwright.attention import weights
from headwright.study.toys.away import AwaySolver
from headwright.study.toys.columns import wilson
from headwright.study.toys.random_length import (
    dependence,
    engine_error,
    looks_away,
    squared_errors,
    textbook_errors,
)

N = 20
KEYS = np.eye(N)
PAIR = np.array([[0, 1]])
HEADS = {
    "one": 30 * (KEYS[0] + KEYS[1])[None],
    "two": 30 * KEYS[:2],
    "away": -30 / np.sqrt(N - 2) * KEYS[2:].sum(axis=0)[None],
}


@pytest.mark.parametrize(("name", "quoted"), [("one", 0.4625), ("two", 0.0246), ("away", 3.2e-5)])
def test_three_routes(name, quoted, rng):
    heads = HEADS[name]
    integral = squared_errors(heads[:, None], KEYS, PAIR)[0]
    assert integral == pytest.approx(quoted, abs=QUOTED_FOUR)
    assert (integral < 4e-5) == (name == "away")
    assert abs(integral - engine_error(heads, KEYS, 0, 1)) < EXACT_COVARIANCE

    logits = np.repeat((heads @ KEYS.T)[None], 20_000, axis=0)
    logits[:, :, 0] *= 1 + np.sqrt(0.5) * rng.standard_normal((20_000, 1))
    alpha = weights(logits).mean(axis=1)
    alpha[:, :2] -= 0.5
    drawn = (alpha**2).sum(axis=1)
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - integral) < SIGMAS * error + EXACT_COVARIANCE


def test_the_detector_knows_the_design_from_the_textbook():
    for name, heads in HEADS.items():
        queries = heads[:, None]
        assert dependence(queries, KEYS, PAIR)[0] == pytest.approx(
            float(name != "away"), abs=QUOTED_FOUR
        )
        assert looks_away(queries, KEYS, PAIR)[0] == (name == "away")


def test_the_textbook_at_its_best_length_is_no_worse():
    best = textbook_errors(KEYS, PAIR, heads=2, limit=30.0)[0]
    assert best <= squared_errors(HEADS["two"][:, None], KEYS, PAIR)[0] * (1 + 1e-9)


def test_designs_that_look_away_do():
    for heads in (1, 2):
        found = AwaySolver(KEYS, heads).answer(0, 1)
        assert found.queries is not None
        queries = found.queries[:, None]
        assert squared_errors(queries, KEYS, PAIR)[0] < 2e-4
        assert dependence(queries, KEYS, PAIR)[0] < 1e-6


def test_keys_around_the_origin_leave_no_way_to_look_away():
    around = np.concatenate([np.eye(3), -np.eye(3)])
    found = AwaySolver(around, 1).answer(0, 1)
    assert found.queries is None
    assert found.impossible


def test_wilson():
    # Brown, Cai and DasGupta's formula at 5 of 10, and its ends
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=QUOTED_FOUR)
    assert wilson(0, 5)[0] == 0.0
    assert wilson(5, 5)[1] == 1.0
