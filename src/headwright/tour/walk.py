"""The stations in order. Each is made by one function from a seed; making one never looks at
another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headwright.tour import averaging, copying, heads, order, random_keys, recovering
from headwright.tour.station import Station

STATIONS: dict[str, Callable[[int], Station]] = {
    "01": copying.distribution,
    "02": copying.sharpness_table,
    "03": copying.larger_is_not_enough,
    "04": recovering.one_of_a_sum,
    "05": averaging.two_values,
    "06": random_keys.order_of_limits,
    "07": random_keys.one_length,
    "08": random_keys.two_lengths,
    "09": heads.two_hold,
    "10": heads.sum_and_difference,
    "11": heads.equal_heads,
    "12": heads.letting_go,
    "13": order.equivariance,
    "14": order.positions,
}


def walk(seed: int = 0) -> Iterator[Station]:
    """All stations, one at a time; the same seed gives the same numbers."""
    for make in STATIONS.values():
        yield make(seed)
