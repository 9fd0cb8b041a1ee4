"""The stations' texts: complete, readable in a terminal, the same in tour and lab, and true: each
number that stands in them is computed here."""

import math
import re

import numpy as np
import pytest
from tests import tolerances
from tests.cases import FLIP, INSIDE_HALF, Averaging, weight_error

import headwright as hw
from headwright.design import closed_form
from headwright.errors import InputError
from headwright.exercise.stations import station_text, station_texts, without_roles
from headwright.report.formula import spelled

A, B = np.eye(20)[:2]
AWAY = -(np.ones(20) - A - B) / math.sqrt(18)


# What each text says in numbers, in its order, and how each of them is computed.
NUMBERS = {
    "copy": [
        ("23%", lambda: Averaging(10, 1, 1).weight),
        ("6.79", lambda: closed_form.sharpness(10, leak=0.01)),
        ("18.41", lambda: closed_form.sharpness(10**6, leak=0.01)),
    ],
    "larger": [
        ("0.1", lambda: 0.1),
        ("0.109", lambda: Averaging(10, 1, 0.1).weight),
    ],
    "average": [
        ("0.146", lambda: Averaging(10, 2, 0.5).weight),
        ("71%", lambda: 1 - 2 * Averaging(10, 2, 0.5).weight),
        ("0.202", lambda: Averaging(10, 2, 1).weight),
        ("5.98", lambda: closed_form.sharpness(10, leak=0.01, m=2)),
    ],
    "tiny-noise": [
        ("1000", lambda: 1000),
        ("20", lambda: 2 * 1000 * math.sqrt(1e-4)),
    ],
    "coin": [
        ("0.5", lambda: 1 - 0.5),
        ("1.5", lambda: 1 + 0.5),
        ("0.71", lambda: math.sqrt(0.5)),
        ("52%", lambda: INSIDE_HALF),
    ],
    "two-heads": [
        ("30", lambda: 30),
        ("0.46", lambda: weight_error(30 * (A + B))),
        ("0.025", lambda: weight_error(30 * A, 30 * B)),
        ("12", lambda: station_text("seven-percent").number),
    ],
    "seven-percent": [
        ("7.86%", lambda: FLIP),
        ("7.86%", lambda: FLIP),
        ("30", lambda: np.linalg.norm(30 * AWAY)),
        ("0.025", lambda: weight_error(30 * A, 30 * B)),
        ("0.00003", lambda: weight_error(30 * AWAY)),
    ],
    "equal-heads": [("9", lambda: station_text("two-heads").number)],
}
# A number of two digits or more, or one that is said of nothing but a station; 0, 1, 2 in formulas
# are not results.
SAID = re.compile(r"\d+\.\d+%?|\d{2,}%?|(?<=station )\d+")


def numbers(text):
    whole = "\n".join([text.title, text.idea, text.formula, text.notice, *text.remedies])
    # Exponents, small fractions and indices are notation.
    bare = whole.replace(r"\%", "%")
    bare = re.sub(r"\\frac\d\d|10\^\{-?\d+\}|_\d", "", bare)
    return SAID.findall(bare)


@pytest.mark.parametrize("text", station_texts(), ids=lambda text: text.slug)
def test_every_number_is_computed(text):
    expected = NUMBERS.get(text.slug, [])
    assert numbers(text) == [said for said, _ in expected]

    for said, compute in expected:
        digits = said.removesuffix("%")
        step = 10.0 ** -len(digits.partition(".")[2])
        value = compute() * (100 if said.endswith("%") else 1)
        assert abs(float(digits) - value) <= 0.5001 * step, (said, value)


def test_there_are_fourteen_in_order():
    texts = station_texts()
    assert [text.number for text in texts] == list(range(1, 15))
    assert len({text.slug for text in texts}) == 14
    assert len({text.title for text in texts}) == 14


@pytest.mark.parametrize("text", station_texts(), ids=lambda text: text.slug)
def test_a_terminal_can_spell_it(text):
    for part in (text.claim, text.notice, *text.remedies):
        shown = spelled(without_roles(part))
        assert not re.search(r"[\\${}]|\]\{", shown), shown


def test_tour_and_lab_show_the_same_titles():
    from headwright.lab.stations import lab_stations
    from headwright.tour import STATIONS

    titles = [text.title for text in station_texts()]
    slugs = [text.slug for text in station_texts()]
    assert [card["title"] for card in lab_stations()] == titles
    assert list(STATIONS) == slugs


def test_a_station_that_is_not_there_is_bad_input():
    with pytest.raises(InputError, match="one of weights, copy"):
        station_text("coffee")


def test_a_little_of_the_other_key_makes_it_worse():
    textbook = weight_error(30 * A, 30 * B)
    assert weight_error(30 * (A + 0.1 * B), 30 * B) > textbook
    assert weight_error(30 * (A + 0.3 * B), 30 * B) > textbook


@pytest.mark.parametrize("gamma", [2.0, 0.3, 0.15, -0.15, -0.3, -2.0])
def test_heads_that_swap_roles_lose_only_short_keys(gamma):
    """Station 12: with r = 5, lengths beyond 1/5 on either side leave one head on a, one on b."""
    r, sharp = 5.0, 200.0
    K = np.eye(20)
    K[0] *= gamma
    queries = sharp * np.array([r * A + B, B - r * A])
    output = hw.multihead(queries, K, np.eye(20)).output

    held = np.allclose(output, (A + B) / 2, rtol=0, atol=tolerances.SAID)
    assert held == (abs(gamma) > 1 / r)
