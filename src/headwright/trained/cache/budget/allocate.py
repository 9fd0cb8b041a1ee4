"""The bits of every unit (a channel, a key head or a layer): least damage at a given total.

Where every further bit gains less than the one before, the best plan at a total of T bits is the T
largest gains of all, whichever unit they belong to. Measured damage need not fall so evenly, so a
unit goes on to the width with the largest mean gain per bit: the corners of the convex hull of its
damage. The plan is the best one at the total it reaches, and no plan within the stated total is
better by more than the last gain per bit times the bits left over, fewer than one unit's step.
"""

from __future__ import annotations

import heapq

import numpy as np

from headwright.errors import InputError
from headwright.types import Float, Int

Widths = tuple[int, ...]


def allocate(
    damage: Float[np.ndarray, "u w"], sizes: Int[np.ndarray, "u"], widths: Widths, total: int
) -> Int[np.ndarray, "u"]:
    """Bits per unit out of `widths` (rising) with `sum(sizes * bits) <= total` and the least sum of
    damage; `damage[u, w]` is that of unit u at `widths[w]`, and `sizes` counts its numbers."""
    least = int(sizes.sum()) * widths[0]
    if total < least:
        raise InputError(
            wanted=f"at least {widths[0]} bits on average",
            got=f"{total / sizes.sum():.3g} bits for what is not kept exact",
            attempt="a larger --cache-budget, or a smaller --keep-first",
        )
    level = np.zeros(len(sizes), dtype=int)
    corners = [_next_corner(damage[u], widths, 0) for u in range(len(sizes))]
    # Largest gain per bit first: a heap gives its smallest.
    heap = [(-gain / sizes[u], u, to) for u, (gain, to) in enumerate(corners) if gain > 0]
    heapq.heapify(heap)

    left = total - least
    while heap and left > 0:
        _, u, to = heapq.heappop(heap)
        cost = (widths[to] - widths[level[u]]) * int(sizes[u])
        if cost > left:
            continue
        left -= cost
        level[u] = to
        gain, further = _next_corner(damage[u], widths, to)
        if gain > 0:
            heapq.heappush(heap, (-gain / sizes[u], u, further))
    return np.asarray(widths)[level]


def _next_corner(damage: Float[np.ndarray, "w"], widths: Widths, level: int) -> tuple[float, int]:
    """The largest mean gain per bit from here on, and the width it leads to; 0 at the last."""
    if level + 1 == len(widths):
        return 0.0, level
    further = np.asarray(widths[level + 1 :]) - widths[level]
    gains = (damage[level] - damage[level + 1 :]) / further
    best = int(np.argmax(gains))
    return float(gains[best]), level + 1 + best


def evenly(mean: float, units: int) -> Int[np.ndarray, "u"]:
    """`units` whole numbers of bits as equal as can be, with the stated mean rounded down: 2.5 is 2
    and 3 in turn."""
    edges = np.floor(np.arange(units + 1) * mean + 1e-9).astype(int)
    return np.diff(edges)
