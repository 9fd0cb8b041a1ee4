"""The stations in order. The evidence of each is made by one function from a seed; making one never
looks at another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headwright.exercise.stations import station_texts
from headwright.tour import (
    averaging,
    copying,
    heads,
    negative_length,
    order,
    positions,
    random_keys,
    recovering,
)
from headwright.tour.station import Evidence, Station

# By the station's slug in the exercise
STATIONS: dict[str, Callable[[int], Evidence]] = {
    "weights": copying.distribution,
    "copy": copying.sharpness_table,
    "larger": copying.larger_is_not_enough,
    "extract": recovering.one_of_a_sum,
    "average": averaging.two_values,
    "tiny-noise": random_keys.order_of_limits,
    "coin": random_keys.one_length,
    "both": random_keys.two_lengths,
    "two-heads": heads.two_hold,
    "wrong-pair": heads.sum_and_difference,
    "equal-heads": heads.equal_heads,
    "seven-percent": negative_length.letting_go,
    "order": order.equivariance,
    "positions": positions.never_coincide,
}


def walk(seed: int = 0) -> Iterator[Station]:
    """All stations, one at a time; the same seed gives the same numbers."""
    for text in station_texts():
        make = STATIONS[text.slug]
        yield Station(text, make(seed))
