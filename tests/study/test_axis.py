"""The values of one parameter, against their definition in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.study.axis import axis_of


def values(written):
    made = axis_of("x", written)
    found = list(made)
    assert len(found) == made.count
    return found


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ([3, 1, 2], [3, 1, 2]),
        (["random", "cyclic"], ["random", "cyclic"]),
        ([True, False], [True, False]),
        (0.5, [0.5]),
        (np.arange(3), [0, 1, 2]),
        (range(2), [0, 1]),
        (
            {"from": 0, "to": 1, "step": 0.1},
            [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        ),
        ({"from": 0.1, "to": 0.3, "step": 0.1}, [0.1, 0.2, 0.3]),
        ({"from": 1, "to": 10, "step": 3}, [1, 4, 7, 10]),
        ({"from": 1, "to": 9, "step": 3}, [1, 4, 7]),
        ({"from": 1, "to": 0, "step": -0.25}, [1.0, 0.75, 0.5, 0.25, 0.0]),
        ({"from": 5, "to": 5, "step": 1}, [5]),
        ({"from": 0, "to": 1, "points": 5}, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ({"from": 0, "to": 9, "points": 4}, [0, 3, 6, 9]),
        ({"from": 1e-4, "to": 1, "points": 5, "log": True}, [0.0001, 0.001, 0.01, 0.1, 1.0]),
        ({"from": 1000, "to": 1, "points": 4, "log": True}, [1000, 100, 10, 1]),
        ({"from": 4, "to": 9, "points": 3, "log": True}, [4, 6, 9]),
        ({"from": 0.1, "to": 0.3, "points": 2, "log": True}, [0.1, 0.3]),
    ],
    ids=str,
)
def test_values_are_those_that_were_meant(written, wanted):
    found = values(written)

    assert found == wanted
    assert [type(value) for value in found] == [type(value) for value in wanted]


@given(st.integers(-500, 500), st.integers(1, 99), st.integers(0, 60), st.integers(0, 4))
def test_steps_are_the_nearest_doubles_to_the_decimals(start, step, count, digits):
    scale = 10**digits
    found = values(
        {"from": start / scale, "to": (start + count * step) / scale, "step": step / scale}
    )

    assert found == [float(Fraction(start + i * step, scale)) for i in range(count + 1)]


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e6), st.integers(2, 30))
def test_logarithms_are_even_and_both_ends_are_there(low, ratio, count):
    high = low * ratio
    found = values({"from": low, "to": high, "points": count, "log": True})

    assert found[0] == low
    assert found[-1] == high
    wanted = np.linspace(math.log(low), math.log(high), count)
    # Each logarithm and each step is rounded once or twice
    assert np.abs(np.log(found) - wanted).max() <= 8 * np.spacing(np.abs(wanted).max())


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], "an empty list"),
        ([1, 2, 1], "1 more than once"),
        ([1, 1.0], "1.0 more than once"),
        ([1, math.nan], "nan"),
        ([math.inf], "inf"),
        ([[1], [2]], "list"),
        ([None], "NoneType"),
        ([2**63], "64 bits"),
        ({"from": 0, "to": 1, "step": 0}, "step = 0; try: step = 1"),
        ({"from": 0, "to": 1, "step": -0.1}, "step = -0.1; try: step = 0.1"),
        ({"from": 1, "to": 0, "step": 0.1}, "step = 0.1"),
        ({"from": 0, "to": math.nan, "step": 0.1}, "to = nan"),
        ({"from": 0, "to": "1", "step": 0.1}, "to = '1'"),
        ({"from": True, "to": 2, "step": 1}, "from = True"),
        ({"from": 0, "to": 10**400, "step": 1}, "64 bits"),
        ({"from": 1.0, "to": 2.0, "step": 1e-17}, "steps of 1e-17"),
        ({"from": 0, "to": 1}, "{from, to}"),
        ({"from": 0, "to": 1, "step": 0.1, "points": 3}, "{from, to, step, points}"),
        ({"from": 0, "to": 1, "points": 1}, "1"),
        ({"from": 0, "to": 1, "points": 2.5}, "2.5"),
        ({"from": 0, "to": 1, "points": True}, "True"),
        ({"from": 1, "to": 1, "points": 3}, "1 twice"),
        ({"from": 0, "to": 1, "points": 3, "log": True}, "0 to 1"),
        ({"from": -1, "to": -8, "points": 3, "log": True}, "-1 to -8"),
        ({"from": 1, "to": 2, "points": 3, "log": "yes"}, "'yes'"),
        ({"from": 1.0, "to": 2.0, "points": 10**17, "log": True}, "steps of"),
    ],
    ids=str,
)
def test_what_is_no_list_of_values_is_said_in_one_line(written, said):
    with pytest.raises(InputError) as refused:
        axis_of("x", written)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_long_axis_is_counted_and_begun_without_being_made():
    made = axis_of("x", {"from": 0, "to": 10**15, "step": 1})

    assert made.count == 10**15 + 1
    assert made.first(3) == [0, 1, 2]
    assert made.value(10**15) == 10**15
