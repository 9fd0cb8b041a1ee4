"""The shortest y with X y >= h, in many digits: the dual method of Goldfarb and Idnani.

It starts at y = 0 and takes up the most violated row at a time. The rows it holds (`active`) are
independent, y is always the shortest point that meets them with equality, y = X' w with w >= 0, and
a row whose multiplier would turn negative is let go. |y| only grows, so it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flint import arb, arb_mat

from headwright.design.digits.frame import column, dot

# Squared sine of the angle between a row and the span of the active ones below which it is in it.
_DEPENDENT = arb(1e-50)


@dataclass
class LeastDistance:
    """`names` of the active rows, the rows themselves (columns of d), and their multipliers."""

    d: int
    y: Any = None
    names: list[int] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.y = column([0.0] * self.d)

    def take(self, name: int, row: Any, need: Any) -> bool:
        """Meet row.y >= need as well; False where no y meets all."""
        weight = arb(0)
        while True:
            short = (need - dot(row, self.y)).mid()
            back, away = self._directions(row)
            blocked, full = self._blocking(back)
            square = dot(away, away).mid()
            dependent = bool(square <= _DEPENDENT * dot(row, row))
            if dependent and blocked is None:
                return False

            step = full if dependent else short / square
            whole = not dependent and (blocked is None or bool(step <= full))
            if not whole:
                step = full
            if not dependent:
                self.y = (self.y + away * step).mid()
            pairs = zip(self.weights, back, strict=True)
            self.weights = [(w - step * r).mid() for w, r in pairs]
            weight = (weight + step).mid()
            if whole:
                self.names.append(name)
                self.rows.append(row)
                self.weights.append(weight)
                return True
            assert blocked is not None
            for held in (self.names, self.rows, self.weights):
                held.pop(blocked)

    def _directions(self, row: Any) -> tuple[list[Any], Any]:
        """The row in terms of the active ones, and what of it is orthogonal to them."""
        if not self.rows:
            return [], row
        count = len(self.rows)
        flat = [x for held in self.rows for x in held.entries()]
        active = arb_mat(count, self.d, flat)
        back = (active * active.transpose()).solve(active * row).mid()
        away = row - active.transpose() * back
        return back.entries(), away.mid()

    def _blocking(self, back: list[Any]) -> tuple[int | None, Any]:
        """The active row whose multiplier is the first to vanish, and after which step."""
        steps = [
            (w / r, j) for j, (w, r) in enumerate(zip(self.weights, back, strict=True)) if r > 0
        ]
        if not steps:
            return None, None
        step, j = min(steps, key=lambda pair: float(pair[0]))
        return j, step.mid()
