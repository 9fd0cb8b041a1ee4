"""Functions of (m, s) on the grid as short polynomials: on each piece of a cell

    f(x, y) = sum_t c_t x^a y^b      for the few pairs t = (a, b) that matter,

with the place (x, y) in the piece between -1/2 and 1/2. What is small is dropped as a Chebyshev
series, by what it would cost, and written in powers afterwards. `transfer` takes these polynomials
to the keys and back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import factorial

from headwright.noise import budget
from headwright.noise.many.blocks import blocks, in_threads
from headwright.noise.many.cells import Cells
from headwright.noise.many.series import ORDER, to_chebyshev, to_pieces, to_powers
from headwright.types import Float, Int

_EPSILON = 2e-7  # relative error of a few roundings in single precision
_ENTRIES = 1 << 16  # coefficients in work at once
_RATIO = 0.5  # of one difference to the one before
_TINY = 1e-300

Series = Float[np.ndarray, "f c a b"]
Cost = Float[np.ndarray, "a b"]


def coefficients(cells: Cells, function: Float[np.ndarray, "f g"]) -> Series:
    """All Chebyshev coefficients of functions on the grid, cell by cell."""
    along, across = to_chebyshev(cells.grid.chebyshev)
    columns = np.swapaxes(cells.columns, 1, 2)
    found = np.empty((len(function), len(columns), ORDER, len(across)))

    def expand(part: slice) -> None:
        """Some cells: two large products, not one small one for each function and cell."""
        values = np.take(function, columns[part], axis=1)
        shape = values.shape
        values = values.reshape(-1, ORDER) @ along.T
        values = np.swapaxes(values.reshape(shape), 2, 3)
        shape = values.shape
        values = values.reshape(-1, across.shape[1]) @ across.T
        found[:, part] = values.reshape(shape)

    at_once = max(1, _ENTRIES // found[:, :1].size)
    list(in_threads(expand, blocks(len(columns), at_once, function), function))
    return found


@dataclass(frozen=True)
class Terms:
    """The pairs (a, b) kept; what the others and the missing tail of the series cost at most; and
    whether the terms beyond the linear ones may be taken in single precision, which costs
    `rounding`."""

    pairs: Int[np.ndarray, "t 2"]  # those of y^0 first
    missed: float
    single: bool
    rounding: float

    @property
    def cost(self) -> float:
        """What short polynomials cost, in shares of the budget."""
        return self.missed + self.rounding


def choose(
    cells: Cells,
    polynomial: Series,
    weight: Float[np.ndarray, "f c"],
    *,
    sums: bool = False,
    rounded: float = 0.0,
    allowed: float = 1.0,
    wanted: float | None = None,
) -> Terms:
    """The fewest terms on pieces of cells whose neglect costs at most `allowed`, when a change of f
    on cell c by e costs `weight * e`. Never rounded are constant and linear terms of the first
    function and, where `sums` over keys are wanted, all terms up to the cubic ones. A relative
    error e of what is made of the functions costs `rounded * e`. Terms are also kept where f would
    be off by more than `wanted` without them, on the average over the keys."""
    whole = np.einsum("fc,fcab->fab", weight, np.abs(polynomial))
    along, across = (np.abs(to_pieces(order, cells.split)).max(axis=0) for order in whole.shape[1:])
    cost = along @ whole.sum(axis=0) @ across.T
    kept = _worth_keeping(cost, allowed)
    if wanted is not None:
        share = cells.count / cells.count.sum()
        on_average = np.einsum("c,fcab->ab", share, np.abs(polynomial))
        kept |= _worth_keeping(along @ on_average @ across.T, wanted)

    rounds = _in_powers(kept * (along @ whole @ across.T))
    degree = np.add.outer(*(np.arange(n) for n in cost.shape))
    if sums:
        rounds[:, degree <= 3] = 0.0
    rounds[0, degree <= 1] = 0.0
    rounding = _EPSILON * float(rounds.sum() + rounded)
    left_out = float(cost[~kept].sum())
    single = rounding <= budget.SINGLE_POLYNOMIALS
    return Terms(
        pairs=np.argwhere(kept.T)[:, ::-1],
        missed=left_out + _tail(whole.sum(axis=0)),
        single=single,
        rounding=rounding if single else 0.0,
    )


def _worth_keeping(cost: Cost, allowed: float) -> np.ndarray:
    """All terms but the cheapest ones that cost at most `allowed` together; with a term all whose
    powers divide it."""
    order = np.argsort(cost, axis=None)
    expensive = order[np.cumsum(cost.ravel()[order]) > allowed]
    kept = np.zeros(cost.shape, dtype=bool)
    kept.ravel()[expensive] = True
    from_above = np.logical_or.accumulate(np.flip(kept), axis=0)
    kept = np.flip(np.logical_or.accumulate(from_above, axis=1))
    kept[0, 0] = True
    return kept


def _in_powers(sizes: Float[np.ndarray, "f a b"]) -> Float[np.ndarray, "f a b"]:
    """How large the terms of series are at most when they are written in powers of x and y, which
    are at most 1/2."""
    along, across = (np.abs(to_powers(n)) * 2.0 ** -np.arange(n)[:, None] for n in sizes.shape[1:])
    return along @ sizes @ across.T


def _tail(cost: Cost) -> float:
    """What coefficients that are not known would cost, from the last ones that are.

    Along m: p lattice points leave prod |x - point| / p! d_p, where the differences d_p go on as
    d_p-1 and d_p-2 have begun and the coefficients are d_k / (k! 2^(2k-1)). Their ratio grows with
    k, from 0.14 to 1, so that it is taken as `_RATIO` at least: with fewer lattice points, where
    the tail can be seen, it would else be short by a factor of 2.4. Along s: a geometric series."""
    before, last = (_difference(cost, back) for back in (2, 1))
    points = np.arange(ORDER) - (ORDER - 1) / 2
    remainder = float(np.abs(points).prod() / factorial(ORDER))
    along = remainder * last * max(_RATIO, _ratio(last, before))
    if cost.shape[1] == 1:
        return along
    first, second, third = cost.sum(axis=0)[-3:]
    ratio = max(_ratio(third, second), _ratio(third, first) ** 0.5)
    across = 2 * third * ratio / (1 - 0.9 * ratio)
    return along + float(across)


def _difference(cost: Cost, back: int) -> float:
    """d_k from its coefficient, k = ORDER - back."""
    k = ORDER - back
    per_coefficient = factorial(k) * 2.0 ** (2 * k - 1)
    return float(per_coefficient * cost[-back].sum())


def _ratio(after: float, before: float) -> float:
    """At most 1: a series that grows is not continued."""
    return min(1.0, after / max(before, _TINY))


@dataclass(frozen=True)
class Pieces:
    """Matrices from a cell's Chebyshev series to those of its pieces (`x` along m, `y` along s),
    which of these are `kept`, and matrices from there to powers."""

    cells: Cells
    pairs: Int[np.ndarray, "t 2"]
    x: Float[np.ndarray, "i z a"]
    y: Float[np.ndarray, "j w b"]
    kept: Float[np.ndarray, "z w"]
    along: Float[np.ndarray, "z z"]
    across: Float[np.ndarray, "w w"]

    @staticmethod
    def of(cells: Cells, terms: Terms) -> Pieces:
        """As long as the terms that are kept."""
        high = terms.pairs.max(axis=0) + 1
        kept = np.zeros(high)
        kept[tuple(terms.pairs.T)] = 1.0
        x = to_pieces(ORDER, cells.split)[:, : high[0]]
        y = to_pieces(cells.grid.chebyshev, cells.split)[:, : high[1]]
        along, across = (to_powers(int(top)) for top in high)
        return Pieces(cells, terms.pairs, x, y, kept, along, across)

    def powers(self, polynomial: Series) -> Float[np.ndarray, "p f z w"]:
        """Coefficients of the powers on each piece."""
        cells = self.cells
        series = np.einsum("iza,fcab,jwb->cijfzw", self.x, polynomial, self.y, optimize=True)
        along_m, along_s = cells.part.T
        mine = series[cells.cell, along_m, along_s]
        return self.along @ (self.kept * mine) @ self.across.T

    def charge(self, sums: Float[np.ndarray, "t p"]) -> Float[np.ndarray, "g"]:
        """From the sums of x^a y^b over the keys of each piece to a charge on each column of the
        grid: the same way back."""
        cells = self.cells
        split = cells.split
        by_piece = np.zeros((cells.count.size, split, split, *self.kept.shape))
        a, b = self.pairs.T
        place = (cells.cell[:, None], cells.part[:, :1], cells.part[:, 1:])
        by_piece[(*place, a, b)] = sums.T
        series = self.kept * (self.along.T @ by_piece @ self.across)
        of_cells = np.einsum("iza,cijzw,jwb->cab", self.x, series, self.y, optimize=True)
        to_m, to_s = to_chebyshev(cells.grid.chebyshev)
        on_grid = to_m.T @ of_cells @ to_s
        return np.bincount(
            cells.columns.ravel(), weights=on_grid.ravel(), minlength=cells.grid.size
        )
