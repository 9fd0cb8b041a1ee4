"""The classic exercise as a walk of verified stations: claim, numbers by several routes, verdict,
one picture."""

from headwright.tour.station import Comparison, Station
from headwright.tour.walk import STATIONS, walk

__all__ = ["STATIONS", "Comparison", "Station", "walk"]
