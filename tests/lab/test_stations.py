"""What the stations claim in numbers, computed by the package: the texts may not say what the
engine does not."""

import re

import numpy as np
import pytest
from tests import tolerances

import headwright as hw
from headwright.lab import content

A, B = np.eye(20)[:2]


def weight_error(*heads):
    """E ||weights - (1/2, 1/2, 0, ...)||^2 for key a of random length, exactly: the values are unit
    vectors."""
    keys = hw.GaussianKeys(np.eye(20), isotropic=1e-4).radial({0: 0.5})
    law = hw.moments(np.array(heads), keys, np.eye(20))
    return np.sum((law.mean - (A + B) / 2) ** 2) + np.trace(law.covariance)


def test_two_heads_hold():
    text = content.fragment(9)
    one, two = (
        float(x) for x in re.search(r"falls from ([\d.]+) to about ([\d.]+)\.", text).groups()
    )
    assert weight_error(30 * (A + B)) == pytest.approx(one, abs=tolerances.SAID)
    assert weight_error(30 * A, 30 * B) == pytest.approx(two, abs=tolerances.SAID)


def test_heads_that_swap_roles_beat_the_textbook_and_a_fallback_does_not():
    textbook = weight_error(30 * A, 30 * B)
    assert weight_error(30 * (A + 0.3 * B), 30 * B) > textbook

    def swapped(tau):
        return weight_error(10 * (tau * A + B), 10 * (B - tau * A))

    assert textbook > 0.02 > swapped(10)


def test_the_table_of_sharpness():
    rows = re.findall(
        r"<td>([\d.]+) %</td>\s*<td>([\d.]+)</td>\s*<td>([\d.]+)</td>", content.fragment(2)
    )
    assert len(rows) == 3
    for leak, ten, thousand in rows:
        for n, said in ((10, ten), (1000, thousand)):
            beta = np.log((n - 1) * (1 - float(leak) / 100) / (float(leak) / 100))
            assert beta == pytest.approx(float(said), abs=tolerances.SAID)


@pytest.mark.parametrize("number", range(1, 15))
def test_every_station_is_well_formed(number):
    station = content.stations()[number - 1]
    assert station["number"] == number
    assert station["goal"].endswith(".")
    assert station["conditions"]
    text = content.fragment(number)
    assert "<svg" in text
    assert "$" not in re.sub(r'aria-label="[^"]*"', "", text)
    assert not re.search(r"style=|<script|onerror|href=\"(?!#)", text)
