"""Functions of (m, s) carried from the grid to the keys and back: on each cell one short Chebyshev polynomial,

    f(i) = sum_t c_t T_t(i),      T_t(i) = T_a(x_i) T_b(y_i)      for the few pairs t = (a, b) that matter.

To the keys: `evaluate`. Back: sums over keys of functions that are a reference e^l times something smooth need only
M_t = sum_i e^{l(i)} T_t(i), and become a `charge` on each column of the grid. Keys are taken in lines, a fixed number
of neighbours from one cell, so that both ways are batched matrix products and nothing is done key by key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import factorial

from headwright.arrays import put
from headwright.noise.blocks import blocks
from headwright.noise.cells import Cells
from headwright.noise.grid import ORDER, to_chebyshev, to_pieces
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_LINE = (4, 6)  # a line has 2^4 to 2^6 keys
_BLOCK = 1 << 13  # keys in work at once on the host
_EPSILON, _ROUNDING = 1e-7, 5.0  # of single precision; and what it may cost
_TINY = 1e-300


def coefficients(cells: Cells, function: Float[np.ndarray, "f g"]) -> Float[np.ndarray, "f c a b"]:
    """All Chebyshev coefficients of functions on the grid, cell by cell."""
    along, across = to_chebyshev(cells.grid.nodes)
    return along @ function[:, cells.columns] @ across.T


@dataclass(frozen=True)
class Terms:
    """The pairs (a, b) kept; what the others and the missing tail of the series cost at most; and whether the terms
    beyond the linear ones may be taken in single precision, which costs `rounding`."""

    pairs: Int[np.ndarray, "t 2"]
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
    """The fewest terms on pieces of cells whose neglect costs at most 1, when a change of f on cell c by e costs
    `weight * e`. Never rounded are constant and linear terms of the first function, which is a logarithm, and where
    `sums` over keys are wanted all constants. What is made of the functions may be `rounded`, too, at a cost."""
    whole = np.einsum("fc,fcab->fab", weight, np.abs(polynomial))
    along, across = (np.abs(to_pieces(order, cells.split)).max(axis=0) for order in whole.shape[1:])
    each = along @ whole @ across.T
    cost = each.sum(axis=0)
    order = np.argsort(cost, axis=None)
    least = np.cumsum(cost.ravel()[order])
    kept = np.sort(order[least > 1.0])
    dropped = least[order.size - kept.size - 1] if kept.size < order.size else 0.0
    each[0, :2, 0] = each[0, 0, :2] = 0.0
    rounding = _EPSILON * float(each.sum() - sums * each[:, 0, 0].sum() + rounded)
    return Terms(
        pairs=np.stack(np.unravel_index(kept, cost.shape), axis=1),
        missed=float(dropped) + _tail(whole.sum(axis=0)),
        single=rounding <= _ROUNDING,
        rounding=rounding if rounding <= _ROUNDING else 0.0,
    )


def _tail(cost: Float[np.ndarray, "a b"]) -> float:
    """What coefficients that are not known would cost, from the last ones that are.

    Along m: p lattice points leave prod |x - point| / p! d_p, where the differences d_p go on as d_p-1 and d_p-2 have
    begun and the coefficients are d_k / (k! 2^(2k-1)). Along s: a geometric series."""
    p, points = ORDER, np.arange(ORDER) - (ORDER - 1) / 2
    before, last = (float(factorial(p - k) * 2.0 ** (2 * (p - k) - 1) * cost[-k].sum()) for k in (2, 1))
    along = float(np.abs(points).prod() / factorial(p)) * last * _ratio(last, before)
    if cost.shape[1] == 1:
        return along
    first, second, third = cost.sum(axis=0)[-3:]
    ratio = max(_ratio(third, second), _ratio(third, first) ** 0.5)
    return along + float(2 * third * ratio / (1 - 0.9 * ratio))


def _ratio(after: float, before: float) -> float:
    return min(1.0, after / max(before, _TINY))


@dataclass(frozen=True)
class Lines:
    """Lines of keys: the piece of a cell each lies in, and its first and last key in `cells.keys` order."""

    piece: Int[np.ndarray, "l"]
    first: Int[np.ndarray, "l"]
    last: Int[np.ndarray, "l"]
    length: int

    @staticmethod
    def of(cells: Cells) -> Lines:
        count = cells.piece_count
        length = 2 ** int(np.clip(np.log2(count.mean()), *_LINE))
        per_piece = -(-count // length)
        piece = np.repeat(np.arange(per_piece.size), per_piece)
        number = np.arange(piece.size) - (np.cumsum(per_piece) - per_piece)[piece]
        end = np.cumsum(count)
        first = (end - count)[piece] + number * length
        return Lines(piece, first, np.minimum(first + length, end[piece]) - 1, length)


class Carrier:
    """Carries functions between the grid and the keys of some cells."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.lines = cells, Lines.of(cells)
        self.xp, self.device = compat.array_namespace(cells.along), compat.device(cells.along)
        self.first, self.last = (self._array(x) for x in (self.lines.first, self.lines.last))
        self.steps = self._array(np.arange(self.lines.length))

    def _array(self, host: np.ndarray, dtype: Any = None) -> Array:
        return self.xp.asarray(host, dtype=dtype, device=self.device)

    def _blocks(self) -> list[slice]:
        return blocks(self.lines.piece.size, max(1, _BLOCK // self.lines.length), self.cells.along, self.lines.length)

    def _slots(self, block: slice) -> Int[Array, "l w"]:
        """The keys of each line, the last one repeated to fill it."""
        return self.xp.minimum(self.first[block, None] + self.steps, self.last[block, None])

    def _basis(self, slots: Int[Array, "l w"], terms: Terms) -> tuple[Array, Array, Float[Array, "l t w"]]:
        """The places of the keys in double precision, and the polynomials there in that of the terms."""
        xp, dtype = self.xp, self._dtype(terms)
        x, y = (self._take(place, slots) for place in (self.cells.along, self.cells.across))
        along, across = (
            _chebyshev(xp, xp.astype(z, dtype, copy=False), int(top))
            for z, top in zip((x, y), terms.pairs.max(axis=0), strict=True)
        )
        factors = [(along[a], across[b]) for a, b in terms.pairs.tolist()]
        if compat.is_jax_array(x):
            return x, y, xp.stack([a * b for a, b in factors], axis=1)
        basis = xp.empty((x.shape[0], len(factors), x.shape[1]), dtype=dtype, device=self.device)
        for k, (a, b) in enumerate(factors):
            xp.multiply(a, b, out=basis[:, k, :])
        return x, y, basis

    def _dtype(self, terms: Terms) -> Any:
        return self.xp.float32 if terms.single else self.cells.along.dtype

    def _take(self, values: Array, slots: Int[Array, "l w"]) -> Array:
        return self.xp.reshape(self.xp.take(values, self.xp.reshape(slots, (-1,))), slots.shape)

    def _kept(
        self, polynomial: Float[np.ndarray, "f c a b"], terms: Terms
    ) -> tuple[Float[Array, "p 3 1"], Float[Array, "p f t"]]:
        """Coefficients on each piece: 1, x and y of the first function, and all terms kept but those."""
        cells, (x, y) = self.cells, self._to_pieces(terms)
        pieces = np.einsum("iza,fcab,jwb->cijfzw", x, polynomial, y, optimize=True)
        mine = pieces[cells.cell, cells.part[:, 0], cells.part[:, 1]]
        plane = np.zeros((len(mine), 3, 1))
        for k, (a, b) in enumerate(((0, 0), (1, 0), (0, 1))):
            if a < mine.shape[2] and b < mine.shape[3]:
                plane[:, k, 0] = mine[:, 0, a, b]
                mine[:, 0, a, b] = 0.0
        kept = np.ascontiguousarray(mine[..., terms.pairs[:, 0], terms.pairs[:, 1]])
        return self._array(plane, cells.along.dtype), self._array(kept, self._dtype(terms))

    def _values(
        self, block: slice, coefficients: tuple[Array, Array], terms: Terms
    ) -> tuple[Float[Array, "l w"], Float[Array, "l f w"], Float[Array, "l t w"]]:
        """The first function in double precision, the others, and the basis."""
        xp, pieces = self.xp, self._array(self.lines.piece[block])
        plane, kept = (xp.take(c, pieces, axis=0) for c in coefficients)
        x, y, basis = self._basis(self._slots(block), terms)
        values = kept @ basis
        first = plane[:, 0, :] + plane[:, 1, :] * x + plane[:, 2, :] * y
        return first + xp.astype(values[:, 0, :], first.dtype, copy=False), values[:, 1:, :], basis

    def _to_pieces(self, terms: Terms) -> tuple[Float[np.ndarray, "i z a"], Float[np.ndarray, "i w b"]]:
        high = terms.pairs.max(axis=0) + 1
        orders = (ORDER, self.cells.grid.nodes)
        x, y = (to_pieces(order, self.cells.split)[:, :top] for order, top in zip(orders, high, strict=True))
        return x, y

    def charges(self, log_reference: Float[np.ndarray, "g"], terms: Terms) -> Float[np.ndarray, "g"]:
        """`sum_i f(i) = f @ charge` for functions f on the grid that are e^log_reference times something smooth."""
        xp, cells = self.xp, self.cells
        coefficients_ = self._kept(coefficients(cells, log_reference[None, :]), terms)
        constant = np.flatnonzero((terms.pairs == 0).all(axis=1))

        def add_up(block: slice) -> Float[np.ndarray, "l t"]:
            first, _, basis = self._values(block, coefficients_, terms)
            real = self.first[block, None] + self.steps <= self.last[block, None]
            reference = xp.where(real, xp.exp(first), 0.0)
            sums = basis @ xp.astype(reference, basis.dtype, copy=False)[:, :, None]
            sums = to_numpy(sums)[:, :, 0].astype(float)
            sums[:, constant] = to_numpy(xp.sum(reference, axis=1))[:, None]
            return sums

        sums = np.concatenate([add_up(block) for block in self._blocks()])
        first = np.searchsorted(self.lines.piece, np.arange(cells.cell.size))
        (x, y), (along, across) = self._to_pieces(terms), to_chebyshev(cells.grid.nodes)
        M = np.zeros((cells.count.size, cells.split, cells.split, x.shape[1], y.shape[1]))
        where = (cells.cell[:, None], cells.part[:, :1], cells.part[:, 1:], terms.pairs[:, 0], terms.pairs[:, 1])
        M[where] = np.add.reduceat(sums, first, axis=0)
        spread = along.T @ np.einsum("iza,cijzw,jwb->cab", x, M, y, optimize=True) @ across
        charge = np.bincount(cells.columns.ravel(), weights=spread.ravel(), minlength=cells.grid.size)
        return charge * np.exp(-log_reference)

    def evaluate(
        self,
        polynomial: Float[np.ndarray, "f c a b"],
        terms: Terms,
        finish: Callable[[Array, Array], tuple[Array, ...]],
    ) -> list[Float[Array, "slots *g"]]:
        """Tables with a row for every slot of every line and one of zeros: `rows_of` finds a key's row. `finish` makes
        what they hold, (lines, keys of a line) and then any axis, from the first function and from the others."""
        xp, coefficients_, length = self.xp, self._kept(polynomial, terms), self.lines.length
        tables: list[Any] = []
        for block in self._blocks():
            first, others, _ = self._values(block, coefficients_, terms)
            parts = [xp.reshape(part, (-1, *part.shape[2:])) for part in finish(first, others)]
            rows = slice(block.start * length, block.stop * length)
            if not tables:
                size = self.lines.piece.size * length + 1
                tables = [xp.zeros((size, *p.shape[1:]), dtype=p.dtype, device=self.device) for p in parts]
            tables = [put(table, rows, part) for table, part in zip(tables, parts, strict=True)]
        return tables

    def rows_of(self, n: int) -> Int[Array, "n"]:
        """The row of each of the n keys in `evaluate`; that of zeros for keys out of reach."""
        xp, lines = self.xp, self.lines
        slots = int(lines.piece.size) * lines.length
        shift = self._array(np.arange(lines.piece.size) * lines.length - lines.first)
        own = xp.repeat(shift, self._array(lines.last - lines.first + 1))
        own = own + xp.arange(own.shape[0], dtype=own.dtype, device=self.device)
        out = xp.full((n,), slots, dtype=own.dtype, device=self.device)
        return put(out, self.cells.keys, own)


def _chebyshev(xp: Any, x: Array, top: int) -> list[Array]:
    T = [xp.ones_like(x), x]
    while len(T) <= top:
        T.append(2 * x * T[-1] - T[-2])
    return T
