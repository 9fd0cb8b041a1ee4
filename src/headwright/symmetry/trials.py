"""One claim `f(P X) = P f(X)`, tried on one permutation after the other.

One swap of two tokens is the smallest counterexample there is. A permutation that fails is a chain
of swaps, and one link of the chain must fail: that one is the witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from headwright.symmetry.orders import is_swap, swapped


@dataclass(frozen=True)
class Counterexample:
    """One swap that breaks the claim: reorder the input by `order`, swap tokens `swap`, and rows
    `rows` differ."""

    swap: tuple[int, int]
    rows: tuple[int, ...]
    error: float
    # The tokens before the swap; 0, 1, 2, ... unless no plain swap breaks it
    order: tuple[int, ...]


@runtime_checkable
class Claim(Protocol):
    """A layer at one input, and what rounding explains there."""

    @property
    def rounding(self) -> float: ...

    def mismatch(self, before: np.ndarray, order: np.ndarray) -> tuple[float, tuple[int, ...]]:
        """`|f(P Y) - P f(Y)|` for Y = X reordered by `before` and P given by `order`; and the rows
        that differ."""
        ...


class BudgetSpent(Exception):
    """No more permutations may be tried."""


@dataclass
class Trials:
    """What came out so far; at most `budget` permutations."""

    claim: Claim
    budget: float = float("inf")
    tried: int = 0
    worst: float = 0.0
    broken: Counterexample | None = None
    _known: dict[bytes, bool] = field(default_factory=dict, repr=False)

    def holds(self, order: np.ndarray) -> bool:
        """Whether the claim holds for this permutation, up to rounding."""
        key = order.tobytes()
        if key not in self._known:
            self._known[key] = self.once_more(order)
        return self._known[key]

    def once_more(self, order: np.ndarray) -> bool:
        if self.tried >= self.budget:
            raise BudgetSpent
        error, rows = self.claim.mismatch(np.arange(len(order)), order)
        self.worst = max(self.worst, error)
        self.tried += 1
        if error <= self.claim.rounding:
            return True
        if self.broken is None or is_swap(order):
            found = _smallest(self.claim, order, error, rows)
            if self.broken is None or len(found.rows) < len(self.broken.rows):
                self.broken = found
        return False


def _smallest(
    claim: Claim, order: np.ndarray, error: float, rows: tuple[int, ...]
) -> Counterexample:
    """The worst link of the chain of swaps."""
    n = len(order)
    first, second = np.flatnonzero(order != np.arange(n))[:2].tolist()
    if is_swap(order):
        return Counterexample((first, second), rows, error, tuple(range(n)))
    before = np.arange(n)
    worst = Counterexample((0, 0), rows, 0.0, tuple(range(n)))
    for i in range(n):
        j = int(np.flatnonzero(before == order[i])[0])
        if i == j:
            continue
        step, differ = claim.mismatch(before, swapped(n, i, j))
        if step > claim.rounding and step > worst.error:
            worst = Counterexample((i, j), differ, step, tuple(before.tolist()))
        before[[i, j]] = before[[j, i]]
    if worst.error:
        return worst
    return Counterexample((first, second), rows, error, tuple(order.tolist()))
