"""Functions carried from the grid to the keys and sums over keys carried back, by short
polynomials.

On a piece of a cell a function is `sum_t c_t x_i^a y_i^b`, (x_i, y_i) the place of key i. To the
keys: `evaluate`. Back: `sum_i f(i)` needs only M_t = sum_i x_i^a y_i^b, which become a charge on
each column of the grid, `charges`. A power is its neighbour times x or y. Keys are taken in lines,
a fixed number of neighbours from one piece, so that both ways are batched matrix products and
nothing is done key by key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import put
from headwright.noise.many.blocks import blocks, in_threads
from headwright.noise.many.cells import Cells
from headwright.noise.many.grid import ORDER, to_chebyshev, to_pieces, to_powers
from headwright.noise.many.polynomials import Terms
from headwright.result import to_numpy
from headwright.types import Array, Float, Int

# Lines in a piece, about, so that few have empty ends; a line has 2^4 to 2^9 keys
_LINES, _LINE = 6, (4, 9)
_BLOCK, _PART = 1 << 15, 1 << 16  # keys in work at once on the host, and given to a thread
_PLANE = ((0, 0), (1, 0), (0, 1))  # powers that are never rounded
_CUBIC = (*_PLANE, (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3))  # and in sums


@dataclass(frozen=True)
class Lines:
    """Lines of keys: the piece of a cell each lies in, its first key in `cells.keys` order, and how
    many it has."""

    piece: Int[np.ndarray, "l"]
    first: Int[np.ndarray, "l"]
    count: Int[np.ndarray, "l"]
    length: int

    @staticmethod
    def of(cells: Cells) -> Lines:
        count = cells.piece_count
        length = 2 ** int(np.clip(np.rint(np.log2(count.mean() / _LINES)), *_LINE))
        per_piece = -(-count // length)
        piece = np.repeat(np.arange(per_piece.size), per_piece)
        number = np.arange(piece.size) - (np.cumsum(per_piece) - per_piece)[piece]
        first = (np.cumsum(count) - count)[piece] + number * length
        return Lines(piece, first, np.minimum(length, count[piece] - number * length), length)

    @property
    def slots(self) -> int:
        return self.piece.size * self.length


class Carrier:
    """Carries functions between the grid and the keys of some cells. A line has a slot for each
    key; those beyond its last key repeat it."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.lines = cells, Lines.of(cells)
        self.xp, self.device, self.dtype = (
            compat.array_namespace(cells.m),
            compat.device(cells.m),
            cells.m.dtype,
        )
        self.count, self.steps = (
            self._array(self.lines.count[:, None]),
            self._array(np.arange(self.lines.length)),
        )
        self.x, self.y, self.row = self._places()

    def _array(self, host: np.ndarray, dtype: Any = None) -> Array:
        return self.xp.asarray(host, dtype=dtype, device=self.device)

    def _blocks(self, keys: int = _BLOCK) -> list[slice]:
        return blocks(
            self.lines.piece.size,
            max(1, keys // self.lines.length),
            self.cells.m,
            self.lines.length,
        )

    def _dtype(self, terms: Terms) -> Any:
        return self.xp.float32 if terms.single else self.dtype

    def _places(self) -> tuple[Float[Array, "l w"], Float[Array, "l w"], Int[Array, "n"]]:
        """Where in its piece the key of each slot lies, and the slot of each key: one beyond all
        for keys out of reach."""
        xp, cells, lines = self.xp, self.cells, self.lines
        first = self._array(lines.first[:, None])
        middle, per = (self._array(x[lines.piece], self.dtype) for x in cells.pieces())
        x, y = (
            xp.empty((lines.piece.size, lines.length), dtype=self.dtype, device=self.device)
            for _ in range(2)
        )
        row = xp.full(cells.m.shape, lines.slots, dtype=self.steps.dtype, device=self.device)

        def place(block: slice) -> None:
            nonlocal x, y, row
            step = xp.minimum(self.steps, self.count[block] - 1)
            keys = xp.take(cells.keys, xp.reshape(first[block] + step, (-1,)))
            a, b = (xp.reshape(xp.take(z, keys), step.shape) for z in (cells.m, cells.s))
            x = put(x, block, (a - middle[block, :1]) * per[block, :1])
            y = put(y, block, (b - middle[block, 1:]) * per[block, 1:])
            slots = self._array(np.arange(block.start, block.stop)[:, None] * lines.length) + step
            row = put(row, keys, xp.reshape(slots, (-1,)))

        list(in_threads(place, self._blocks(_PART), cells.m))
        return x, y, row

    def _powers(self, block: slice, one: Any, terms: Terms) -> Float[Array, "t l w"]:
        """`one` x^a y^b for all terms, in their precision: `one`, times x time and again, then a
        row times y."""
        xp, dtype = self.xp, self._dtype(terms)
        x, y = (xp.astype(z[block, :], dtype, copy=False) for z in (self.x, self.y))
        rows = np.bincount(terms.pairs[:, 1]).tolist()  # terms with 1, with y, ..
        if compat.is_jax_array(x):
            powers = [xp.zeros_like(x) + one]
            for _ in range(rows[0] - 1):
                powers.append(powers[-1] * x)
            for k, count in enumerate(rows[1:]):
                powers += [power * y for power in powers[sum(rows[:k]) :][:count]]
            return xp.stack(powers)
        powers = xp.empty((sum(rows), *x.shape), dtype=dtype, device=self.device)
        powers[0, ...] = one
        for k in range(1, rows[0]):
            xp.multiply(powers[k - 1, ...], x, out=powers[k, ...])
        before, here = 0, rows[0]
        for count in rows[1:]:
            xp.multiply(
                powers[before : before + count, ...], y, out=powers[here : here + count, ...]
            )
            before, here = here, here + count
        return powers

    def _series(
        self, terms: Terms
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Matrices from a cell's Chebyshev series to those of its pieces (along m and s), which of
        these are kept, and matrices from there to powers."""
        high = terms.pairs.max(axis=0) + 1
        kept = np.zeros(high)
        kept[tuple(terms.pairs.T)] = 1.0
        orders = (ORDER, self.cells.grid.nodes)
        x, y = (
            to_pieces(order, self.cells.split)[:, :top]
            for order, top in zip(orders, high, strict=True)
        )
        along, across = (to_powers(int(top)) for top in high)
        return x, y, kept, along, across

    def _coefficients(
        self, polynomial: Float[np.ndarray, "f c a b"], terms: Terms
    ) -> tuple[Float[Array, "p 3"], Float[Array, "p f t"]]:
        """Coefficients of the powers on each piece: 1, x and y of the first function, and all
        others."""
        cells, (x, y, kept, along, across) = self.cells, self._series(terms)
        series = np.einsum("iza,fcab,jwb->cijfzw", x, polynomial, y, optimize=True)
        mine = along @ (kept * series[cells.cell, cells.part[:, 0], cells.part[:, 1]]) @ across.T
        plane = np.zeros((len(mine), 3))
        for k, (a, b) in enumerate(_PLANE):
            if a < mine.shape[2] and b < mine.shape[3]:
                plane[:, k] = mine[:, 0, a, b]
                mine[:, 0, a, b] = 0.0
        rest = np.ascontiguousarray(mine[..., terms.pairs[:, 0], terms.pairs[:, 1]])
        return self._array(plane, self.dtype), self._array(rest, self._dtype(terms))

    def charges(self, terms: Terms) -> Float[np.ndarray, "g"]:
        """`sum_i f(i) = f @ charge` for functions f on the grid."""
        xp, cells, lines = self.xp, self.cells, self.lines
        ones = [
            xp.ones((lines.length,), dtype=t, device=self.device)
            for t in (self.dtype, self._dtype(terms))
        ]

        def add_up(block: slice) -> tuple[np.ndarray, np.ndarray]:
            real, x, y = self.steps < self.count[block], self.x[block, :], self.y[block, :]
            powers = self._powers(block, xp.astype(real, self._dtype(terms)), terms)
            x_real, y_real = (xp.where(real, z, 0.0) for z in (x, y))
            xx, yy = x_real * x, y_real * y
            pairs = ((x_real, x), (x_real, y), (y_real, y), (xx, x), (xx, y), (yy, x), (yy, y))
            exact = xp.stack(
                [x_real @ ones[0], y_real @ ones[0], *(xp.vecdot(a, b) for a, b in pairs)]
            )
            return to_numpy(powers @ ones[1]), to_numpy(exact)

        sums, exact = (
            np.concatenate(x, axis=-1) for x in zip(*map(add_up, self._blocks()), strict=True)
        )
        sums = sums.astype(float)
        for pair, row in zip(_CUBIC, [lines.count, *exact], strict=True):
            sums[(terms.pairs == pair).all(axis=1)] = row
        first = np.searchsorted(lines.piece, np.arange(cells.cell.size))
        (x, y, kept, along, across), (to_m, to_s) = (
            self._series(terms),
            to_chebyshev(cells.grid.nodes),
        )
        M = np.zeros((cells.count.size, cells.split, cells.split, *kept.shape))
        where = (
            cells.cell[:, None],
            cells.part[:, :1],
            cells.part[:, 1:],
            terms.pairs[:, 0],
            terms.pairs[:, 1],
        )
        M[where] = np.add.reduceat(sums, first, axis=1).T
        series = kept * (along.T @ M @ across)
        spread = to_m.T @ np.einsum("iza,cijzw,jwb->cab", x, series, y, optimize=True) @ to_s
        return np.bincount(cells.columns.ravel(), weights=spread.ravel(), minlength=cells.grid.size)

    def evaluate(
        self,
        polynomial: Float[np.ndarray, "f c a b"],
        terms: Terms,
        finish: Callable[[Array, Array], tuple[Array, Array]],
        *,
        columns: int,
        single: bool,
    ) -> tuple[Float[Array, "slots"], Float[Array, "slots k"]]:
        """Two tables with a row for every slot and one of zeros: `row` finds a key's. `finish`
        makes what they hold, (lines, slots of a line) and the same with `columns`, which may be in
        `single` precision, from the first function and from the others."""
        xp, lines = self.xp, self.lines
        coefficients_ = self._coefficients(polynomial, terms)
        one = xp.zeros((lines.slots + 1,), dtype=self.dtype, device=self.device)
        many = xp.zeros(
            (lines.slots + 1, columns),
            dtype=xp.float32 if single else self.dtype,
            device=self.device,
        )
        for block in self._blocks():
            pieces = self._array(lines.piece[block])
            plane, rest = (xp.take(c, pieces, axis=0) for c in coefficients_)
            values = rest @ xp.permute_dims(self._powers(block, 1.0, terms), (1, 0, 2))
            first = self.x[block, :] * plane[:, 1:2]
            first += self.y[block, :] * plane[:, 2:]
            first += plane[:, :1]
            first += values[:, 0, :]
            parts = finish(first, values[:, 1:, :])
            here = slice(block.start * lines.length, block.stop * lines.length)
            one = put(one, here, xp.reshape(parts[0], (-1,)))
            many = put(many, here, xp.reshape(parts[1], (-1, columns)))
        return one, many
