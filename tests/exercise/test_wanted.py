"""What a question about a query may fix, and what it may not."""

import pytest

from headwright.errors import InputError
from headwright.exercise.instances import instances
from headwright.exercise.letters import letters_of
from headwright.exercise.wanted import check_wanted, wanted

HALVES = {"target": {"a": 0.5, "b": 0.5}}


def test_the_classic_question_is_tried_where_it_always_was():
    assert wanted(HALVES).instances is instances()
    assert wanted(HALVES).shown.n == 10
    assert not wanted(HALVES).exact


def test_a_sheet_fixes_sizes_and_scores():
    found = wanted({**HALVES, "n": 12, "d": 64, "scaled": True, "leak": 0.02})

    assert [(one.n, one.d) for one in found.instances] == [(5, 64), (12, 64), (64, 64)]
    assert found.shown.scale == 1 / 8
    assert found.shown.K.shape == (12, 64)
    assert found.exact


@pytest.mark.parametrize(
    ("others", "fault"),
    [(0.02, ""), (0.0209, ""), (0.0185, ""), (0.0215, "too much"), (0.017, "too little")],
)
def test_a_scale_may_be_rounded_to_one_decimal(others, fault):
    assert wanted({**HALVES, "leak": 0.02}).leaves(others) == fault


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"target": {"a": 0.5, "b": 0.6}},
        {"target": {"a": float("nan"), "b": 0.5}},
        {**HALVES, "n": 2},
        {**HALVES, "n": 12.5},
        {**HALVES, "n": 30, "d": 20},
        {**HALVES, "n": 10**9},
        {**HALVES, "n": True},
        {**HALVES, "leak": 0},
        {**HALVES, "leak": float("nan")},
        {**HALVES, "leak": "2 %"},
        {**HALVES, "variance": -1},
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters):
    with pytest.raises(InputError, match="in the question"):
        check_wanted(parameters, "the question")


@pytest.mark.parametrize(
    "letters", [{"a": "p"}, {"a": "p", "b": "p"}, {"a": "k", "b": "w"}, ["p", "w"], {"a": "pp"}]
)
def test_letters_that_mean_something_else_are_refused(letters):
    with pytest.raises(InputError, match="letters for a and b"):
        letters_of(letters, "own.toml")


def test_letters_of_a_sheet():
    assert letters_of({}, "") == {}
    assert letters_of({"a": "p", "b": "w"}, "") == {"a": "p", "b": "w"}
