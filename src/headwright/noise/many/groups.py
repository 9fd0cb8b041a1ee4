"""Keys in groups by their weight, so that the few heavy ones pay for precision and the others do
not.

A coarse look at the integrand, all keys in the middle of their cells, says which cells are

    heavy    sums over the values of their keys have to be taken in double precision,
    light    in single precision those of all others together are good enough,
    faint    what their keys do to the covariance is too little to be added up: with all their
             weight W it is at most 4 W, for values at most 1 from the mean.

(E[alpha_N] = W for all faint keys together, so leaving their part y of the output c = x + y out of
E[c c'] costs at most 2 E[|x| |y|] + E[|y|^2] <= 2 W, and as much again because the values of the
others no longer add up to zero.) The look decides only where keys go: what that costs is stated
from the integrals themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import beside, like
from headwright.noise import budget
from headwright.noise.many.cells import Cells
from headwright.noise.many.table.device import AnyTable
from headwright.noise.many.table.host import PSI, R, W
from headwright.noise.many.value_sums import SINGLE
from headwright.result import to_numpy
from headwright.types import Bool, Float, HostPerNode

FAINT_COST = 4.0  # of the covariance, for each unit of weight that is faint
_MARGIN = 0.7  # of an allowance that a coarse look may spend
_SMALLEST = 1 << 16  # keys for which groups pay
_SMALL = 0.03  # a group with less of all keys than this is not worth its own polynomials
_TINY = 1e-300

PerCell = Float[np.ndarray, "c"]


@dataclass(frozen=True)
class Group:
    """Some of the cells; are their keys `faint`?"""

    cells: Cells
    faint: bool


@dataclass(frozen=True)
class Picture:
    """A coarse look at the integrand: `psi` and `r` are sums over all keys, at every second node;
    the others are functions of the cells: E[alpha], E[alpha^2], and the deviation of r / A - sum r
    under e^Psi du."""

    psi: HostPerNode
    r: HostPerNode
    A: PerCell
    B: PerCell
    spread: PerCell


def picture(cells: Cells, table: AnyTable) -> Picture:
    """Every key in the middle of its cell, and every second node."""
    every_second = np.arange(0, cells.nodes.u.size, 2)
    psi, r, w = table.read((PSI, R, W), every_second, cells.middle)
    xp = compat.array_namespace(psi)
    count = like(cells.count, psi)
    psi_sum = to_numpy(psi @ count)
    r_sum = to_numpy(r @ count)
    density = cells.nodes.weight[::2] * np.exp(np.minimum(psi_sum, 0.0))
    density /= max(float(density @ r_sum), _TINY)
    everything = float(density @ (r_sum * r_sum))

    at_nodes = beside(np.stack([density, density * r_sum]), psi)
    A, cross = at_nodes @ r
    A = xp.clip(A, min=_TINY)
    own = at_nodes[0, :] @ (r * r)
    square = own / A / A - 2 * cross / A + everything
    spread = xp.sqrt(xp.clip(square, min=0.0))
    B = at_nodes[0, :] @ w
    return Picture(psi_sum, r_sum, *(to_numpy(x) for x in (A, B, spread)))


def by_weight(cells: Cells, seen: Picture) -> list[Group]:
    """Heavy, light and faint cells, as far as there are any."""
    keys = int(cells.count.sum())
    if keys < _SMALLEST:
        return [Group(cells, False)]
    order = np.argsort(-seen.A)
    count = cells.count[order]

    # The sums of D v v' and, twice |R_j| times, those of A h_j, where sum_j R_j^2 is a variance.
    deviation = np.sqrt(seen.B @ cells.count)
    each = seen.B + 2 * deviation * seen.A * seen.spread
    in_single = SINGLE * _from_last(count * each[order])
    heavy = int(np.count_nonzero(in_single > _MARGIN * budget.SINGLE_SUMS))
    left_out = FAINT_COST * _from_last(count * seen.A[order])
    summed = int(np.count_nonzero(left_out > _MARGIN * budget.FAINT))

    if count[summed:].sum() < _SMALL * keys:
        summed = order.size
    if count[heavy:summed].sum() < _SMALL * keys or heavy > summed:
        heavy = summed
    groups = []
    for start, stop in ((0, heavy), (heavy, summed), (summed, order.size)):
        if start < stop:
            chosen = np.zeros(order.size, dtype=bool)
            chosen[order[start:stop]] = True
            groups.append(Group(_some(cells, chosen), faint=start == summed))
    return groups


def _from_last(costs: PerCell) -> PerCell:
    """The sum of each and all after it."""
    return np.cumsum(costs[::-1])[::-1]


def _some(cells: Cells, chosen: Bool[np.ndarray, "c"]) -> Cells:
    """All of them, if all are chosen."""
    return cells if chosen.all() else cells.only(chosen)
