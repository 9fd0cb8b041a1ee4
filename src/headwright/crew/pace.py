"""How many points make a batch: as many as take about two thirds of a second, found out while
running.

Shorter batches spend their time on being handed over (5 ms each on a Dask cluster); longer ones
cost more when a worker dies, and leave the others waiting at the end.
"""

from __future__ import annotations

GOAL = 0.7  # seconds of one batch; mostly it is less, since what is slower is believed at once
MOST_POINTS = 10_000
_FASTEST_GROWTH = 4  # a few quick points say little about the next thousand
_MEMORY = 0.5  # weight of what was known before


class Pace:
    """The size of the next batch."""

    def __init__(self) -> None:
        self.size = 1
        self._cost = 0.0  # seconds per point

    def saw(self, points: int, seconds: float) -> None:
        """A batch of so many points took so long."""
        cost = max(seconds, 1e-9) / points
        # Slower than thought is believed at once; faster only by and by.
        slower = cost > self._cost
        self._cost = cost if slower else _MEMORY * self._cost + (1 - _MEMORY) * cost
        fitting = int(GOAL / self._cost)
        largest = min(MOST_POINTS, _FASTEST_GROWTH * self.size)
        self.size = max(1, min(fitting, largest))
