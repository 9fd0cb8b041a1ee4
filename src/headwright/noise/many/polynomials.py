"""Functions of (m, s) on the grid as short polynomials: on each piece of a cell

    f(x, y) = sum_t c_t x^a y^b      for the few pairs t = (a, b) that matter,

with the place (x, y) in the piece between -1/2 and 1/2. What is small is dropped as a Chebyshev
series, by what it would cost, and written in powers afterwards. `carrier` takes these polynomials
to the keys and back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import factorial

from headwright.noise.many.cells import Cells
from headwright.noise.many.grid import ORDER, to_chebyshev, to_pieces, to_powers
from headwright.types import Float, Int

_EPSILON, _ROUNDING = 2e-7, 5.0  # of a few roundings in single precision; and what they may cost
_RATIO = 0.5  # of one difference to the one before
_TINY = 1e-300


def coefficients(cells: Cells, function: Float[np.ndarray, "f g"]) -> Float[np.ndarray, "f c a b"]:
    """All Chebyshev coefficients of functions on the grid, cell by cell."""
    along, across = to_chebyshev(cells.grid.nodes)
    # Two large products, not one small one for each function and cell.
    values = np.take(function, np.swapaxes(cells.columns, 1, 2), axis=1)
    values = np.swapaxes((values.reshape(-1, ORDER) @ along.T).reshape(values.shape), 2, 3)
    return (values.reshape(-1, across.shape[1]) @ across.T).reshape(values.shape)


@dataclass(frozen=True)
class Terms:
    """The pairs (a, b) kept; what the others and the missing tail of the series cost at most; and
    whether the terms beyond the linear ones may be taken in single precision, which costs
    `rounding`."""

    pairs: Int[np.ndarray, "t 2"]  # those of y^0 first
    missed: float
    single: bool
    rounding: float


def choose(
    cells: Cells,
    polynomial: Float[np.ndarray, "f c a b"],
    weight: Float[np.ndarray, "f c"],
    *,
    sums: bool = False,
    rounded: float = 0.0,
) -> Terms:
    """The fewest terms on pieces of cells whose neglect costs at most 1, when a change of f on cell
    c by e costs `weight * e`. Never rounded are constant and linear terms of the first function
    and, where `sums` over keys are wanted, all terms up to the cubic ones. A relative error e of
    what is made of the functions costs `rounded * e`."""
    whole = np.einsum("fc,fcab->fab", weight, np.abs(polynomial))
    along, across = (np.abs(to_pieces(order, cells.split)).max(axis=0) for order in whole.shape[1:])
    cost = along @ whole.sum(axis=0) @ across.T
    order = np.argsort(cost, axis=None)
    kept = np.zeros(cost.shape, dtype=bool)
    kept.ravel()[order[np.cumsum(cost.ravel()[order]) > 1.0]] = True
    # With a term all whose powers divide it.
    kept = np.flip(
        np.logical_or.accumulate(np.logical_or.accumulate(np.flip(kept), axis=0), axis=1)
    )
    kept[0, 0] = True
    power = [np.abs(to_powers(n)) * 2.0 ** -np.arange(n)[:, None] for n in cost.shape]
    rounds = power[0] @ (kept * (along @ whole @ across.T)) @ power[1].T
    degree = np.add.outer(*(np.arange(n) for n in cost.shape))
    if sums:
        rounds[:, degree <= 3] = 0.0
    rounds[0, degree <= 1] = 0.0
    rounding = _EPSILON * float(rounds.sum() + rounded)
    return Terms(
        pairs=np.argwhere(kept.T)[:, ::-1],
        missed=float(cost[~kept].sum()) + _tail(whole.sum(axis=0)),
        single=rounding <= _ROUNDING,
        rounding=rounding if rounding <= _ROUNDING else 0.0,
    )


def _tail(cost: Float[np.ndarray, "a b"]) -> float:
    """What coefficients that are not known would cost, from the last ones that are.

    Along m: p lattice points leave prod |x - point| / p! d_p, where the differences d_p go on as
    d_p-1 and d_p-2 have begun and the coefficients are d_k / (k! 2^(2k-1)). Their ratio grows with
    k, from 0.14 to 1, so that it is taken as `_RATIO` at least: with fewer lattice points, where
    the tail can be seen, it would else be short by a factor of 2.4. Along s: a geometric series."""
    p, points = ORDER, np.arange(ORDER) - (ORDER - 1) / 2
    before, last = (
        float(factorial(p - k) * 2.0 ** (2 * (p - k) - 1) * cost[-k].sum()) for k in (2, 1)
    )
    along = float(np.abs(points).prod() / factorial(p)) * last * max(_RATIO, _ratio(last, before))
    if cost.shape[1] == 1:
        return along
    first, second, third = cost.sum(axis=0)[-3:]
    ratio = max(_ratio(third, second), _ratio(third, first) ** 0.5)
    return along + float(2 * third * ratio / (1 - 0.9 * ratio))


def _ratio(after: float, before: float) -> float:
    return min(1.0, after / max(before, _TINY))
