"""What a station of the tour is: a claim, the numbers behind it by independent routes, and a
picture.

A station holds when all routes to each of its numbers agree and each of its facts is true; nothing
is asserted in prose that is not one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Draw = Callable[[], Any]  # makes the station's matplotlib figure


@dataclass(frozen=True)
class Comparison:
    """One number by several routes. `tolerance` is the largest allowed spread: rounding, or five
    standard errors."""

    quantity: str
    routes: dict[str, float]
    tolerance: float

    @property
    def agrees(self) -> bool:
        values = list(self.routes.values())
        return bool(max(values) - min(values) <= self.tolerance)


@dataclass(frozen=True)
class Station:
    id: str
    title: str
    claim: str  # one or two sentences, formulas between dollars
    comparisons: tuple[Comparison, ...]
    finding: str  # the verdict in words, with its numbers
    draw: Draw = field(repr=False)
    caption: str
    facts: dict[str, bool] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return all(c.agrees for c in self.comparisons) and all(self.facts.values())

    @property
    def figure(self) -> str:
        """The stem of the figure's file."""
        return f"station-{self.id}"

    def record(self) -> dict[str, Any]:
        """The station for machines: numbers by route, then by quantity."""
        routes: dict[str, dict[str, float]] = {}
        for comparison in self.comparisons:
            for route, value in comparison.routes.items():
                routes.setdefault(route, {})[comparison.quantity] = value
        return {
            "id": self.id,
            "title": self.title,
            "claim": self.claim,
            "verdict": "holds" if self.holds else "fails",
            "finding": self.finding,
            "routes": routes,
            "facts": self.facts,
            "tolerances": {c.quantity: c.tolerance for c in self.comparisons},
            "figure": f"{self.figure}.svg",
        }
