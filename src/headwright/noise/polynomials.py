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

from headwright.noise.blocks import blocks
from headwright.noise.cells import Cells
from headwright.noise.grid import ORDER, to_chebyshev
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

_LINE = (4, 8)  # a line has 2^4 to 2^8 keys
_BLOCK = 1 << 13  # keys in work at once on the host
_TINY = 1e-300


def coefficients(cells: Cells, function: Float[np.ndarray, "f g"]) -> Float[np.ndarray, "f c a b"]:
    """All Chebyshev coefficients of functions on the grid, cell by cell."""
    along, across = to_chebyshev(cells.grid.nodes)
    return along @ function[:, cells.columns] @ across.T


@dataclass(frozen=True)
class Terms:
    """The pairs (a, b) kept, and what the others and the missing tail of the series add up to at most."""

    pairs: Int[np.ndarray, "t 2"]
    dropped: float
    tail: float


def choose(polynomial: Float[np.ndarray, "f c a b"], weight: Float[np.ndarray, "f c"]) -> Terms:
    """The fewest terms whose neglect costs at most 1, when a change of f on cell c by e costs `weight * e`."""
    cost = np.einsum("fc,fcab->ab", weight, np.abs(polynomial))
    order = np.argsort(cost, axis=None)
    least = np.cumsum(cost.ravel()[order])
    kept = np.sort(order[least > 1.0])
    dropped = least[order.size - kept.size - 1] if kept.size < order.size else 0.0
    return Terms(np.stack(np.unravel_index(kept, cost.shape), axis=1), float(dropped), _tail(cost))


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
    """Lines of keys: the cell of each, and its first and last key in `cells.keys` order."""

    cell: Int[np.ndarray, "l"]
    first: Int[np.ndarray, "l"]
    last: Int[np.ndarray, "l"]
    length: int

    @staticmethod
    def of(cells: Cells) -> Lines:
        length = 2 ** int(np.clip(np.log2(cells.count.mean()), *_LINE))
        per_cell = -(-cells.count // length)
        cell = np.repeat(np.arange(per_cell.size), per_cell)
        number = np.arange(cell.size) - (np.cumsum(per_cell) - per_cell)[cell]
        end = np.cumsum(cells.count)
        first = (end - cells.count)[cell] + number * length
        return Lines(cell, first, np.minimum(first + length, end[cell]) - 1, length)


class Carrier:
    """Carries functions between the grid and the keys of some cells."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.lines = cells, Lines.of(cells)
        self.xp, self.device = compat.array_namespace(cells.place), compat.device(cells.place)

    def _array(self, host: np.ndarray, dtype: Any = None) -> Array:
        return self.xp.asarray(host, dtype=dtype, device=self.device)

    def _blocks(self) -> list[slice]:
        return blocks(self.lines.cell.size, max(1, _BLOCK // self.lines.length), self.cells.place, self.lines.length)

    def _slots(self, block: slice) -> tuple[Int[Array, "l w"], Int[Array, "l w"]]:
        """The keys of each line, the last one repeated to fill it; and how far each slot is from the last."""
        steps = np.arange(self.lines.length)
        left = (self.lines.last - self.lines.first)[block, None] - steps
        return self._array(self.lines.first[block, None] + np.minimum(steps, steps + left)), self._array(left)

    def _basis(self, slots: Int[Array, "l w"], terms: Terms) -> Float[Array, "l t w"]:
        xp, place = self.xp, self.cells.place
        x, y = (self._take(place[k, :], slots) for k in (0, 1))
        along, across = (_chebyshev(xp, z, int(top)) for z, top in zip((x, y), terms.pairs.max(axis=0), strict=True))
        factors = [(along[a], across[b]) for a, b in terms.pairs.tolist()]
        if compat.is_jax_array(x):
            return xp.stack([a * b for a, b in factors], axis=1)
        basis = xp.empty((x.shape[0], len(factors), x.shape[1]), dtype=x.dtype, device=self.device)
        for k, (a, b) in enumerate(factors):
            xp.multiply(a, b, out=basis[:, k, :])
        return basis

    def _take(self, values: Array, slots: Int[Array, "l w"]) -> Array:
        return self.xp.reshape(self.xp.take(values, self.xp.reshape(slots, (-1,))), slots.shape)

    def _kept(self, polynomial: Float[np.ndarray, "f c a b"], terms: Terms) -> Float[Array, "c f t"]:
        kept = polynomial[:, :, terms.pairs[:, 0], terms.pairs[:, 1]]
        return self._array(np.ascontiguousarray(np.moveaxis(kept, 0, 1)), self.cells.place.dtype)

    def charges(self, log_reference: Float[np.ndarray, "g"], terms: Terms) -> Float[np.ndarray, "g"]:
        """`sum_i f(i) = f @ charge` for functions f on the grid that are e^log_reference times something smooth."""
        xp, cells = self.xp, self.cells
        polynomial = self._kept(coefficients(cells, log_reference[None, :]), terms)

        def add_up(block: slice) -> Float[np.ndarray, "l t"]:
            slots, left = self._slots(block)
            basis = self._basis(slots, terms)
            reference = xp.exp(xp.take(polynomial, self._array(self.lines.cell[block]), axis=0) @ basis)
            reference = xp.where(left[:, None, :] >= 0, reference, 0.0)
            return to_numpy(xp.matmul(basis, xp.matrix_transpose(reference))[:, :, 0])

        sums = np.concatenate([add_up(block) for block in self._blocks()])
        first = np.searchsorted(self.lines.cell, np.arange(cells.count.size))
        along, across = to_chebyshev(cells.grid.nodes)
        M = np.zeros((cells.count.size, along.shape[0], across.shape[0]))
        M[:, terms.pairs[:, 0], terms.pairs[:, 1]] = np.add.reduceat(sums, first, axis=0)
        spread = along.T @ M @ across
        charge = np.bincount(cells.columns.ravel(), weights=spread.ravel(), minlength=cells.grid.size)
        return charge * np.exp(-log_reference)

    def evaluate(
        self, polynomial: Float[np.ndarray, "f c a b"], terms: Terms, finish: Callable[[Array], Array], n: int
    ) -> Float[Array, "g n"]:
        """`finish(f)` at each of the n keys, zero for keys out of reach. `finish` maps (lines, f, keys of a line) to
        (lines, g, keys of a line)."""
        xp, cells = self.xp, self.cells
        kept = self._kept(polynomial, terms)
        out = None

        def evaluate(block: slice) -> tuple[Int[Array, "l w"], Float[Array, "l g w"]]:
            slots, _ = self._slots(block)
            chosen = xp.take(kept, self._array(self.lines.cell[block]), axis=0)
            return self._take(cells.keys, slots), finish(chosen @ self._basis(slots, terms))

        for keys, values in map(evaluate, self._blocks()):
            if out is None:
                out = xp.zeros((values.shape[1], n), dtype=values.dtype, device=self.device)
            for row in range(values.shape[1]):
                out = _put(out, row, keys, values[:, row, :])
        return out


def _chebyshev(xp: Any, x: Array, top: int) -> list[Array]:
    T = [xp.ones_like(x), x]
    while len(T) <= top:
        T.append(2 * x * T[-1] - T[-2])
    return T


def _put(out: Float[Array, "g n"], row: int, keys: Int[Array, "l w"], values: Float[Array, "l w"]) -> Array:
    if compat.is_jax_array(out):
        return out.at[row, keys].set(values)
    out[row, :][keys] = values
    return out
