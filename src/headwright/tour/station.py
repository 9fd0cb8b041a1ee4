"""What a station of the tour is: the exercise's text, and the evidence computed for it.

A station holds when all routes to each of its numbers agree and each of its facts is true; nothing
is asserted in prose that is not one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headwright.exercise.stations import StationText

Draw = Callable[[], Any]  # makes the station's matplotlib figure

# How far two routes may be apart: where only rounding separates them, ...
ROUNDING = 1e-12
# ... and where one of them is the exact engine, which promises this much.
EXACT = 1e-8
# The route that samples: its numbers have an interval
DRAWN = "drawn keys"


@dataclass(frozen=True)
class Comparison:
    """One number by several routes. `tolerance` is how far they may be apart: rounding, or five
    standard errors."""

    quantity: str
    routes: dict[str, float]
    tolerance: float

    @property
    def agrees(self) -> bool:
        values = list(self.routes.values())
        return bool(max(values) - min(values) <= self.tolerance)

    def interval(self, route: str) -> float | None:
        """How far the truth may be from a sampled number: five standard errors, or a little more.
        None for a number that was computed."""
        return self.tolerance if route == DRAWN else None


@dataclass(frozen=True)
class Evidence:
    """What was computed for a station."""

    comparisons: tuple[Comparison, ...]
    finding: str  # the verdict in words, with its numbers
    draw: Draw = field(repr=False)
    caption: str
    facts: dict[str, bool] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        agreed = all(comparison.agrees for comparison in self.comparisons)
        return agreed and all(self.facts.values())


@dataclass(frozen=True)
class Station:
    text: StationText
    evidence: Evidence

    @property
    def id(self) -> str:
        return f"{self.text.number:02d}"

    @property
    def holds(self) -> bool:
        return self.evidence.holds

    @property
    def figure(self) -> str:
        """The stem of the figure's file."""
        return f"station-{self.id}"

    def record(self) -> dict[str, Any]:
        """The station for machines: numbers by route, then by quantity."""
        comparisons = self.evidence.comparisons
        routes: dict[str, dict[str, float]] = {}
        for comparison in comparisons:
            for route, value in comparison.routes.items():
                routes.setdefault(route, {})[comparison.quantity] = value

        return {
            "id": self.id,
            "title": self.text.title,
            "claim": self.text.claim,
            "verdict": "holds" if self.holds else "fails",
            "finding": self.evidence.finding,
            "routes": routes,
            "facts": self.evidence.facts,
            "tolerances": {c.quantity: c.tolerance for c in comparisons},
            "figure": f"{self.figure}.svg",
        }
