"""The classic exercise as a walk of verified stations: claim, numbers by several routes, verdict,
one picture.

Reading order: `station` (what a station is), `walk` (which there are, in order), then the stations
themselves: `copying`, `recovering`, `averaging` without noise; `classic` (the noisy setting),
`random_keys`, `heads`, `negative_length` in it; `order`, `positions`. `page/` writes the
report.
"""

from headwright.tour.station import Comparison, Evidence, Station
from headwright.tour.walk import STATIONS, walk

__all__ = ["STATIONS", "Comparison", "Evidence", "Station", "walk"]
