"""The bits of every unit (a channel, a key head or a layer): least damage at a given total.

The damage of a unit falls with its bits as 1 / (2^bits - 1)^2, so every further bit gains less than the
one before. The best plan at a total of T bits is then the T largest gains of all, whichever unit
they belong to: a unit's gains come in the right order by themselves. That is exact where all units
have one size and the widths are consecutive. Where they are not (2, 4, 8), gains per bit are taken in the same
order and what no longer fits is left out: the plan is then the best one at the total it reaches, and
no plan within the stated total is better by more than the first gain left out.
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
    steps = np.diff(np.asarray(widths))
    # Gain per bit of going from one width to the next, negative because a heap gives its smallest.
    gains = np.diff(damage, axis=1) / (steps * sizes[:, None])
    level = np.zeros(len(sizes), dtype=int)
    heap = [(gains[u, 0], u) for u in range(len(sizes))] if len(steps) else []
    heapq.heapify(heap)

    left = total - least
    while heap and left > 0:
        _, u = heapq.heappop(heap)
        cost = int(steps[level[u]] * sizes[u])
        if cost > left:
            continue
        left -= cost
        level[u] += 1
        if level[u] < len(steps):
            heapq.heappush(heap, (gains[u, level[u]], u))
    return np.asarray(widths)[level]


def evenly(mean: float, units: int) -> Int[np.ndarray, "u"]:
    """`units` whole numbers of bits as equal as can be, with the stated mean rounded down: 2.5 is 2
    and 3 in turn."""
    edges = np.floor(np.arange(units + 1) * mean + 1e-9).astype(int)
    return np.diff(edges)
