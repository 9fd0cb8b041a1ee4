"""What the lab adds to the stations, computed by the package: a goal or a thing to try may not say
what the engine does not. (The texts that tour and lab share: tests/exercise/test_stations.py.)"""

import math
import re

import numpy as np
import pytest
from tests import tolerances
from tests.cases import weight_error

from headwright.design import closed_form
from headwright.exercise.stations import station_texts
from headwright.lab.presets import presets
from headwright.lab.stations import fragment, lab_stations

A, B = np.eye(20)[:2]


def of(slug):
    """What the lab says at a station: its goal, and its text without formulas."""
    number = next(text.number for text in station_texts() if text.slug == slug)
    return lab_stations()[number - 1]["goal"], fragment(number)


def test_both_remedies_reach_the_goal_and_sharpness_alone_does_not():
    goal, _ = of("seven-percent")
    start, wanted = (float(x) for x in re.search(r"from ([\d.]+) below ([\d.]+),", goal).groups())
    textbook = weight_error(30 * A, 30 * B)
    assert textbook == pytest.approx(start, abs=tolerances.SAID)
    assert all(weight_error(beta * A, beta * B) > wanted for beta in (10, 30, 100, 1000))

    others = np.ones(20) - A - B
    assert wanted > weight_error(-7 * others)
    assert wanted > weight_error(10 * (10 * A + B), 10 * (B - 10 * A))


def test_the_table_of_sharpness():
    _, text = of("copy")
    rows = re.findall(r"<td>([\d.]+)%</td>\s*<td>([\d.]+)</td>\s*<td>([\d.]+)</td>", text)
    assert len(rows) == 3
    for percent, ten, thousand in rows:
        leak = float(percent) / 100
        for n, said in ((10, ten), (1000, thousand)):
            beta = closed_form.sharpness(n, leak=leak)
            assert beta == pytest.approx(float(said), abs=tolerances.SAID)


def test_other_numbers():
    scaled = closed_form.sharpness(10, leak=0.01, m=2, scale=1 / math.sqrt(10))
    assert f"grow to {scaled:.1f}." in of("average")[1]
    # Thirteen tokens on the first circle: 6 is a little less than a turn.
    apart = 2 * math.pi - 6
    assert f"{apart:.3f} apart in angle" in of("positions")[1]
    beta = math.log(99) / (1 - math.cos(apart))
    assert f"= {beta:.0f}" in of("positions")[1]
    # Threefold amplification is an angle with sine 1/3.
    assert f"below {math.degrees(math.asin(1 / 3)):.0f}°" in of("extract")[0]
    lengths = np.linalg.norm(presets()["long"]["keys"], axis=1)
    assert "three times as long as the others" in of("larger")[1]
    assert round(lengths[2] / np.delete(lengths, 2).max()) == 3


@pytest.mark.parametrize("number", range(1, 15))
def test_every_station_is_well_formed(number):
    station = lab_stations()[number - 1]
    assert station["number"] == number
    assert station["goal"].endswith(".")
    assert station["conditions"]
    text = fragment(number)
    assert "<svg" in text
    assert "$" not in re.sub(r'aria-label="[^"]*"', "", text)
    assert not re.search(r"style=|<script|onerror|href=\"(?!#)", text)
