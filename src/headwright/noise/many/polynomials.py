"""Functions of (m, s) on the grid as short polynomials: on each piece of a cell

    f(x, y) = sum_t c_t x^a y^b      for the few pairs t = (a, b) that matter,

with the place (x, y) in the piece between -1/2 and 1/2. What is small is dropped as a Chebyshev
series, by what it would cost, and written in powers afterwards. `transfer` takes these polynomials
to the keys and back.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np
from scipy.special import factorial

from headwright.arrays import beside, picked, put, single_is_single
from headwright.blocks import blocks, in_threads
from headwright.noise import budget
from headwright.noise.many.cells import Cells
from headwright.noise.many.series import ORDER, to_chebyshev, to_pieces, to_powers
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_EPSILON = 2e-7  # relative error of a few roundings in single precision
_ENTRIES = 1 << 16  # coefficients in work at once
_RATIO = 0.5  # of one difference to the one before
_TINY = 1e-300

Functions = Float[Array, "f g"]
Cost = Float[np.ndarray, "a b"]


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
    functions: Float[Array, "f r"],
    weight: Float[Array, "f c"],
    *,
    sums: bool = False,
    rounded: float = 0.0,
    allowed: float = 1.0,
    wanted: float | None = None,
) -> Terms:
    """The fewest terms on pieces of cells whose neglect costs at most `allowed`, when a change of f
    on cell c by e costs `weight * e`; f is given in the columns that the cells read. Never rounded
    are constant and linear terms of the first function and, where `sums` over keys are wanted, all
    terms up to the cubic ones. A relative error e of what is made of the functions costs `rounded *
    e`. Terms are also kept where f would be off by more than `wanted` without them, on the average
    over the keys."""
    whole = _sizes(cells, functions, weight)
    along, across = (np.abs(to_pieces(order, cells.split)).max(axis=0) for order in whole.shape[1:])
    cost = along @ whole.sum(axis=0) @ across.T
    kept = _worth_keeping(cost, allowed)
    if wanted is not None:
        share = cells.count / cells.count.sum()
        of_each = np.broadcast_to(share, tuple(weight.shape))
        on_average = _sizes(cells, functions, beside(of_each, functions)).sum(axis=0)
        kept |= _worth_keeping(along @ on_average @ across.T, wanted)

    rounds = _in_powers(kept * (along @ whole @ across.T))
    degree = np.add.outer(*(np.arange(n) for n in cost.shape))
    if sums:
        rounds[:, degree <= 3] = 0.0
    rounds[0, degree <= 1] = 0.0
    rounding = _EPSILON * float(rounds.sum() + rounded)
    left_out = float(cost[~kept].sum())
    single = rounding <= budget.SINGLE_POLYNOMIALS and single_is_single(functions)
    return Terms(
        pairs=np.argwhere(kept.T)[:, ::-1],
        missed=left_out + _tail(whole.sum(axis=0)),
        single=single,
        rounding=rounding if single else 0.0,
    )


def _sizes(
    cells: Cells, functions: Float[Array, "f r"], weight: Float[Array, "f c"]
) -> Float[np.ndarray, "f a b"]:
    """`sum_c weight |coefficient|` of the Chebyshev series of each function, cell by cell. Several
    cells read a lattice point: along s it is transformed once for all of them."""
    along, across = (beside(x, functions) for x in to_chebyshev(cells.grid.chebyshev))
    xp = compat.array_namespace(functions)
    count = across.shape[0]
    by_lattice = xp.reshape(functions, (functions.shape[0], -1, count))
    on_lattice = across @ xp.permute_dims(by_lattice, (0, 2, 1))
    points = np.searchsorted(cells.read_points, cells.points)

    def added(part: slice) -> Float[np.ndarray, "f b a"]:
        """Of some cells, whose coefficients stay in cache."""
        some = xp.asarray(points[part].ravel(), device=compat.device(functions))
        values = picked(on_lattice, some, axis=2)
        found = xp.abs(xp.reshape(values, (-1, ORDER)) @ along.T)
        sizes = xp.reshape(found, (*on_lattice.shape[:2], -1, ORDER))
        return to_numpy((weight[:, None, None, part] @ sizes)[:, :, 0, :])

    numbers = int(functions.shape[0]) * count * ORDER
    parts = blocks(len(points), max(1, _ENTRIES // numbers), functions, numbers)
    return np.swapaxes(sum(in_threads(added, parts, functions)), 1, 2)


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
    """What leads from the values on the grid that a cell reads to the powers kept on each of its
    pieces: one matrix for all cells."""

    cells: Cells
    matrix: Float[np.ndarray, "values powers"]

    @staticmethod
    def of(cells: Cells, terms: Terms) -> Pieces:
        """Values to the Chebyshev series of the cell, to those of its pieces, of which `terms` are
        kept, and to powers."""
        a, b = terms.pairs.T
        split = cells.split
        to_m, to_s = to_chebyshev(cells.grid.chebyshev)
        x = (to_pieces(ORDER, split) @ to_m)[:, a]
        y = (to_pieces(len(to_s), split) @ to_s)[:, b]
        series = np.einsum("itl,jtc->lcijt", x, y)
        along, across = (to_powers(int(top) + 1) for top in terms.pairs.max(axis=0))
        powers = along[np.ix_(a, a)] * across[np.ix_(b, b)]
        return Pieces(cells, (series @ powers.T).reshape(ORDER * len(to_s), -1))

    @property
    def place(self) -> Int[np.ndarray, "p"]:
        """Which of all pieces of all cells are those that have keys."""
        cells = self.cells
        along_m, along_s = cells.part.T
        return (cells.cell * cells.split + along_m) * cells.split + along_s

    def powers(self, functions: Functions) -> Float[Array, "p f t"]:
        """Coefficients of the powers on each piece, where the functions are."""
        xp = compat.array_namespace(functions)
        device = compat.device(functions)
        matrix = beside(self.matrix, functions)
        values, width = self.matrix.shape
        split = self.cells.split
        terms = width // split**2
        count = int(functions.shape[0])
        first = self.cells.first
        shape = (first.size, split**2, count, terms)
        found = xp.empty(shape, dtype=functions.dtype, device=device)

        def expand(part: slice) -> None:
            """Some cells: one large product."""
            nonlocal found
            some = first[part, None] + np.arange(values)
            read = picked(functions, beside(some.ravel(), functions), axis=1)
            powers = xp.reshape(read, (-1, values)) @ matrix
            powers = xp.reshape(powers, (count, -1, split**2, terms))
            found = put(found, part, xp.permute_dims(powers, (1, 2, 0, 3)))

        numbers = split**2 * count * terms
        at_once = max(1, _ENTRIES // numbers)
        in_threads(expand, blocks(first.size, at_once, functions, numbers), functions)
        place = beside(self.place, functions)
        return picked(xp.reshape(found, (-1, count, terms)), place, axis=0)

    def charge(self, sums: Float[Array, "t p"]) -> Float[Array, "g"]:
        """From the sums of x^a y^b over the keys of each piece to a charge on each column of the
        grid: the same way back."""
        xp = compat.array_namespace(sums)
        device = compat.device(sums)
        cells = self.cells
        count = cells.grid.chebyshev
        shape = (cells.count.size * cells.split**2, sums.shape[0])
        room = xp.zeros(shape, dtype=sums.dtype, device=device)
        by_piece = put(room, beside(self.place, sums), sums.T)
        by_cell = xp.reshape(by_piece, (cells.count.size, -1)) @ beside(self.matrix.T, sums)
        by_point = xp.reshape(by_cell, (-1, ORDER, count))

        # No two cells have the same first lattice point. What they give to their k-th one is put
        # where their first one is; rows that are shorter by one move the k-th row k points on.
        points = cells.grid.size // count
        room = xp.zeros((ORDER, points + 1, count), dtype=sums.dtype, device=device)
        where = (slice(None), beside(cells.points[:, 0], sums))
        room = put(room, where, xp.permute_dims(by_point, (1, 0, 2)))
        in_a_row = xp.reshape(room, (-1,))[: ORDER * points * count]
        return xp.sum(xp.reshape(in_a_row, (ORDER, -1)), axis=0)
