"""Functions carried from the grid to the keys and sums over keys carried back, by short
polynomials.

On a piece of a cell a function is `sum_t c_t x_i^a y_i^b`, (x_i, y_i) the place of key i. To the
keys: `evaluate`. Back: `sum_i f(i)` needs only M_t = sum_i x_i^a y_i^b, which become a charge on
each column of the grid, `charges`. A power is its neighbour times x or y. Keys are taken in lines,
a fixed number of neighbours from one piece, so that both ways are batched matrix products and
nothing is done key by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import beside, dot, picked, put
from headwright.blocks import blocks, in_threads, near, on_host
from headwright.noise.many.cells import Cells
from headwright.noise.many.columns import Columns, Finish, Places, Rows
from headwright.noise.many.polynomials import Functions, Pieces, Terms
from headwright.result import to_numpy
from headwright.types import Array, Float, Int, OnGrid

# Lines in a piece, about, so that few have empty ends; a line has 2^4 to 2^9 keys.
_LINES = 6
_SHORTEST = 4
_LONGEST = 9
# Keys in work at once on the host, and given to a thread.
_BLOCK = 1 << 15
_PART = 1 << 16
_NUMBERS = 16  # in work for each key, about: its powers
_PLANE = ((0, 0), (1, 0), (0, 1))  # powers that are never rounded
_CUBIC = (*_PLANE, (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3))  # and in sums

LineNumbers = Int[Array, "l"]


@dataclass(frozen=True)
class Lines:
    """Lines of keys: the piece of a cell each lies in, its first key in `cells.keys` order, and how
    many it has. Lines of a piece are neighbours: `first_line` is the first of each piece, and there
    are at most `most` of them. Arrays of the host, or beside keys on an accelerator."""

    piece: LineNumbers
    first: LineNumbers
    count: LineNumbers
    first_line: Int[Array, "p"]
    length: int
    most: int

    @staticmethod
    def of(cells: Cells) -> Lines:
        """Cut the keys of each piece into lines of one length."""
        wanted = np.rint(np.log2(cells.piece_count.mean() / _LINES))
        length = 2 ** int(np.clip(wanted, _SHORTEST, _LONGEST))
        count = near(cells.piece_count, cells.m)
        xp = compat.array_namespace(count)
        device = compat.device(count)

        per_piece = -(-count // length)
        first_line = xp.cumulative_sum(per_piece) - per_piece
        piece = xp.repeat(xp.arange(count.shape[0], device=device), per_piece)
        in_piece = xp.arange(piece.shape[0], device=device) - picked(first_line, piece)
        before = in_piece * length
        first_key = xp.cumulative_sum(count) - count
        left = picked(count, piece) - before
        return Lines(
            piece=piece,
            first=picked(first_key, piece) + before,
            count=xp.where(left < length, left, length),
            first_line=first_line,
            length=length,
            most=-(-int(cells.piece_count.max()) // length),
        )

    @property
    def total(self) -> int:
        """Lines of all pieces."""
        return int(self.piece.shape[0])


class Transfer:
    """Between the grid and the keys of some cells. A line has a slot for each key; those beyond its
    last key repeat it. `key` is the key of a slot, `x` and `y` its place in its piece."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.lines = Lines.of(cells)
        self.xp = compat.array_namespace(cells.m)
        self.device = compat.device(cells.m)
        self.dtype = cells.m.dtype
        self.count = self._array(self.lines.count[:, None])
        self.steps = self._array(np.arange(self.lines.length))
        self.x, self.y, self.key = self._places()

    def _array(self, array: Array, dtype: Any = None) -> Array:
        """Brought beside the keys."""
        array = beside(array, self.cells.m) if isinstance(array, np.ndarray) else array
        return array if dtype is None else self.xp.astype(array, dtype, copy=False)

    def _blocks(self, keys: int = _BLOCK) -> list[slice]:
        """Lines of about so many keys."""
        length = self.lines.length
        size = max(1, keys // length)
        return blocks(self.lines.total, size, self.cells.m, _NUMBERS * length)

    def _dtype(self, terms: Terms) -> Any:
        """The precision in which the terms are taken."""
        return self.xp.float32 if terms.single else self.dtype

    def _places(self) -> tuple[Places, Places, Int[Array, "l w"]]:
        """Where in its piece the key of each slot lies, and which key that is."""
        xp = self.xp
        cells = self.cells
        lines = self.lines
        first = self._array(lines.first[:, None])
        piece = self._array(lines.piece)
        of_pieces = (self._array(x, self.dtype) for x in cells.pieces())
        middle, per_unit = (picked(x, piece, axis=0) for x in of_pieces)
        shape = (lines.total, lines.length)
        x = xp.empty(shape, dtype=self.dtype, device=self.device)
        y = xp.empty(shape, dtype=self.dtype, device=self.device)
        key = xp.empty(shape, dtype=xp.int64, device=self.device)

        def place(block: slice) -> None:
            """Find keys and places of some lines."""
            nonlocal x, y, key
            step = xp.minimum(self.steps, self.count[block] - 1)
            numbers = xp.reshape(first[block] + step, (-1,))
            keys = picked(cells.keys, numbers)
            m = xp.reshape(picked(cells.m, keys), step.shape)
            s = xp.reshape(picked(cells.s, keys), step.shape)
            m_apart = m - middle[block, :1]
            s_apart = s - middle[block, 1:]
            x = put(x, block, m_apart * per_unit[block, :1])
            y = put(y, block, s_apart * per_unit[block, 1:])
            key = put(key, block, xp.reshape(keys, step.shape))

        in_threads(place, self._blocks(_PART), cells.m)
        return x, y, key

    def _powers(self, block: slice, one: Any, terms: Terms) -> Float[Array, "t l w"]:
        """`one` x^a y^b for all terms, in their precision: `one`, times x time and again, then a
        row times y."""
        xp = self.xp
        dtype = self._dtype(terms)
        x = xp.astype(self.x[block, :], dtype, copy=False)
        y = xp.astype(self.y[block, :], dtype, copy=False)
        rows = np.bincount(terms.pairs[:, 1]).tolist()  # terms with 1, with y, ..
        if compat.is_jax_array(x):
            return xp.stack(_powers_in_a_list(x, y, xp.zeros_like(x) + one, rows))

        powers = xp.empty((sum(rows), *x.shape), dtype=dtype, device=self.device)
        powers[0, ...] = one
        for k in range(1, rows[0]):
            lower = powers[k - 1, ...]
            xp.multiply(lower, x, out=powers[k, ...])
        before = 0
        here = rows[0]
        for count in rows[1:]:
            lower = powers[before : before + count, ...]
            xp.multiply(lower, y, out=powers[here : here + count, ...])
            before = here
            here = here + count
        return powers

    def charges(self, terms: Terms) -> OnGrid:
        """`sum_i f(i) = f @ charge` for functions f on the grid, on the host or beside keys on an
        accelerator."""
        found = in_threads(lambda block: self._sums(block, terms), self._blocks(), self.x)
        powers, cubic = zip(*found, strict=True)
        xp = compat.array_namespace(powers[0])
        powers, cubic = (xp.concat(x, axis=-1) for x in (powers, cubic))
        sums = xp.astype(powers, cubic.dtype)
        of_lines = [xp.astype(self.lines.count, sums.dtype), *cubic]
        for pair, row in zip(_CUBIC, of_lines, strict=True):
            for t in np.flatnonzero((terms.pairs == pair).all(axis=1)).tolist():
                sums = put(sums, t, row)
        return Pieces.of(self.cells, terms).charge(self._by_piece(sums))

    def _by_piece(self, sums: Float[Array, "t l"]) -> Float[Array, "t p"]:
        """Lines of a piece are neighbours and are added up."""
        lines = self.lines
        if isinstance(sums, np.ndarray):
            return np.add.reduceat(sums, lines.first_line, axis=1)
        # Each with its neighbour, then two with the next two, and so on.
        xp = compat.array_namespace(sums)
        number = xp.arange(lines.total, device=self.device)
        next_piece = xp.concat([lines.first_line[1:], number[-1:] + 1])
        to_the_end = picked(next_piece, lines.piece) - number
        step = 1
        while step < lines.most:
            after = xp.where(to_the_end[:-step] > step, sums[:, step:], 0.0)
            sums = put(sums, (slice(None), slice(None, -step)), sums[:, :-step] + after)
            step *= 2
        return picked(sums, lines.first_line, axis=1)

    def _sums(self, block: slice, terms: Terms) -> tuple[Array, Array]:
        """The sums of x^a y^b over each line: of all terms in their precision, and of those up to
        the third degree, but for the number of keys, in double precision."""
        xp = self.xp
        x = self.x[block, :]
        y = self.y[block, :]
        real = self.steps < self.count[block]
        powers = self._powers(block, xp.astype(real, self._dtype(terms)), terms)
        flat = xp.reshape(powers, (-1, powers.shape[2]))
        added = xp.reshape(dot(flat, xp.ones_like(flat[0, :])), powers.shape[:2])

        ones = xp.ones_like(x[0, :])
        x_real = xp.where(real, x, 0.0)
        y_real = xp.where(real, y, 0.0)
        xx = x_real * x
        yy = y_real * y
        pairs = ((x_real, x), (x_real, y), (y_real, y), (xx, x), (xx, y), (yy, x), (yy, y))
        products = [xp.vecdot(a, b) for a, b in pairs]
        cubic = xp.stack([x_real @ ones, y_real @ ones, *products])
        if on_host(added):
            return to_numpy(added), to_numpy(cubic)
        return added, cubic

    def _coefficients(
        self, functions: Functions, terms: Terms
    ) -> tuple[Float[Array, "p 3"], Float[Array, "p f t"]]:
        """Coefficients of the powers on each piece: 1, x and y of the first function, and all
        others."""
        mine = Pieces.of(self.cells, terms).powers(functions)
        xp = compat.array_namespace(mine)
        plane = xp.zeros((mine.shape[0], 3), dtype=mine.dtype, device=compat.device(mine))
        for k, pair in enumerate(_PLANE):
            for t in np.flatnonzero((terms.pairs == pair).all(axis=1)).tolist():
                plane = put(plane, (slice(None), k), mine[:, 0, t])
                mine = put(mine, (slice(None), 0, t), 0.0)
        others = self._array(mine, self._dtype(terms))
        return self._array(plane, self.dtype), others

    def evaluate(
        self, functions: Functions, terms: Terms, finish: Finish, *, into: Columns | Rows
    ) -> None:
        """Bring functions to the keys: `finish` makes what is stored of each key from the first
        function and from the others."""
        xp = self.xp
        all_planes, all_rests = self._coefficients(functions, terms)

        @np.errstate(over="ignore", invalid="ignore")  # a thread has its own
        def carry(block: slice) -> None:
            """To the keys of some lines."""
            pieces = self._array(self.lines.piece[block])
            plane = picked(all_planes, pieces, axis=0)
            rest = picked(all_rests, pieces, axis=0)
            powers = self._powers(block, 1.0, terms)
            values = rest @ xp.permute_dims(powers, (1, 0, 2))
            first = self.x[block, :] * plane[:, 1:2]
            first += self.y[block, :] * plane[:, 2:]
            first += plane[:, :1]
            first += values[:, 0, :]
            into.store(self.key[block, :], *finish(first, values[:, 1:, :]))

        in_threads(carry, self._blocks(), self.x)


def _powers_in_a_list(x: Places, y: Places, one: Places, rows: list[int]) -> list[Places]:
    """The same for a library that cannot write into an array."""
    powers = [one]
    for _ in range(rows[0] - 1):
        powers.append(powers[-1] * x)
    for k, count in enumerate(rows[1:]):
        start = sum(rows[:k])
        powers += [power * y for power in powers[start : start + count]]
    return powers
