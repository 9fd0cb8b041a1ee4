"""The arrays of a layer laid out for blocks: keys padded as the kernel wants them, queries sorted
by key head, and the logits of one block at a time in memory that is used again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import put
from headwright.trained.heads import Heads
from headwright.trained.rows.kernels import Kernel
from headwright.trained.rows.largest import HIDDEN
from headwright.trained.rows.operations import NAMES, Lookup
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float, Int

# Queries of a section.
_SECTION = 1024


@dataclass(frozen=True)
class QueryBlock:
    """Queries `start..stop-1` against keys `0..width-1`, with what is looked up in their weights,
    and which of the rows are kept whole for a moment."""

    start: int
    stop: int
    width: int
    kept: Int[Array, "s"]
    lookup: Lookup

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def queries(self) -> slice:
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class BlockResult:
    """Of some heads in a block: outputs times their rows' totals, numbers and patterns as in
    `RowNumbers`, and the weights of the kept rows."""

    output: Float[Array, "h r v"]
    numbers: Float[Array, "h s r"]
    patterns: Float[Array, "h p"]
    kept: Float[Array, "h k n"]


class Layout:
    """One layer on one text, ready to be worked on block by block."""

    def __init__(self, heads: Heads, tokens: Tokens, kernel: Kernel) -> None:
        xp = compat.array_namespace(heads.q)
        self.xp = xp
        self.heads = heads
        self.tokens = tokens
        self.kernel = kernel
        self.device = compat.device(heads.q)
        _, self.t, self.d = heads.q.shape
        self.hk, self.n, _ = heads.k.shape
        self.g = heads.group

        # Half precision is enough for weights, not for differences of logits.
        wide = heads.q.dtype in (xp.float32, xp.float64)
        self.dtype = heads.q.dtype if wide else xp.float32
        self._memory: Any = None

        extra = kernel.padding(self.n)
        self.q = self._wide(heads.q)
        self.k = _padded(xp, self._wide(heads.k), extra)
        self.v = _padded(xp, self._wide(heads.v), extra)

    def _wide(self, x: Array) -> Array:
        return self.xp.astype(x, self.dtype, copy=False)

    def room(self) -> tuple[Array, Array]:
        """For the outputs and numbers of the layer. Heads lie next to each other, as the model's
        next step wants."""
        xp = self.xp
        h = self.hk * self.g
        kind = {"dtype": self.dtype, "device": self.device}
        output = xp.empty((self.t, h, self.v.shape[-1]), **kind)
        numbers = xp.empty((h, len(NAMES), self.t), **kind)
        return xp.permute_dims(output, (1, 0, 2)), numbers

    def seen(self) -> Int[Array, "#h t"]:
        """Keys visible to each query."""
        mask = self.heads.mask
        if mask is not None:
            return self.xp.count_nonzero(mask, axis=-1)
        return self.xp.asarray(self._edge(0, self.t), device=self.device)[None, :]

    def _edge(self, start: int, stop: int) -> Int[np.ndarray, "r"]:
        """Keys that no row sees begin here: those after a causal query, and those that are not
        there."""
        rows = np.arange(start, stop)
        if not self.heads.causal:
            return np.full(rows.size, self.n)
        return np.minimum(rows + 1, self.n)

    def blocks(self, sample: Int[np.ndarray, "s"]) -> Iterator[QueryBlock]:
        """All queries in turn; the rows of `sample` are kept."""
        for start in range(0, self.t, self.kernel.rows):
            stop = min(start + self.kernel.rows, self.t)
            kept = sample[(sample >= start) & (sample < stop)] - start
            lookup = Lookup(
                seen=self._edge(start, stop),
                first=self.tokens.first,
                separators=self.tokens.separators,
                pairs=self.tokens.pairs(start, stop),
            )
            places = self.xp.asarray(kept, device=self.device)
            yield QueryBlock(start, stop, self._width(stop), places, lookup)

    def sections(self, sample: Int[np.ndarray, "s"]) -> Iterator[list[QueryBlock]]:
        """Neighbouring blocks that a key head is taken through before the next: its keys and values
        then come from memory once for all of them."""
        together = max(1, _SECTION // self.kernel.rows)
        blocks = self.blocks(sample)
        while section := list(islice(blocks, together)):
            yield section

    def _width(self, stop: int) -> int:
        whole = self.k.shape[1]
        if not self.heads.causal:
            return whole
        # Keys after the last query of a causal block are never touched.
        return min(stop + self.kernel.padding(stop), whole)

    def key_heads(self, block: QueryBlock) -> Iterator[range]:
        """Key heads that are worked on together: as many as the budget allows."""
        per_key_head = self.g * block.size * self.k.shape[1]
        step = max(1, self.kernel.budget // per_key_head)
        for low in range(0, self.hk, step):
            yield range(low, min(low + step, self.hk))

    def query_heads(self, key_heads: range) -> slice:
        return slice(key_heads.start * self.g, key_heads.stop * self.g)

    def result(self, block: QueryBlock, key_heads: range) -> BlockResult:
        """Of the query heads that read these key heads."""
        xp = self.xp
        found = self.kernel.row_numbers(self._logits(block, key_heads), block.lookup)

        # All queries of a key head in one product with its values.
        e = xp.reshape(found.e, (len(key_heads), self.g * block.size, block.width))
        output = e @ self.v[key_heads.start : key_heads.stop, : block.width, :]
        output = xp.reshape(output, (-1, block.size, self.v.shape[-1]))

        kept = xp.take(found.e, block.kept, axis=1)
        kept = kept / xp.sum(kept, axis=-1, keepdims=True)
        return BlockResult(output, found.numbers, found.patterns, kept)

    def _logits(self, block: QueryBlock, key_heads: range) -> Float[Array, "h r n"]:
        z = self._products(block, key_heads)
        heads = self.heads
        if heads.softcap is not None:
            z = heads.softcap * self.xp.tanh(z / heads.softcap)

        # Masks and biases end with the last key that is there.
        real = min(block.width, self.n)
        own = self.query_heads(key_heads)
        if heads.bias is not None:
            bias = self._wide(_of(heads.bias, own)[:, block.queries, :real])
            z = put(z, (..., slice(0, real)), z[..., :real] + bias)
        if heads.mask is not None:
            mask = _of(heads.mask, own)[:, block.queries, :real]
            hidden = self.xp.where(mask, z[..., :real], HIDDEN)
            z = put(z, (..., slice(0, real)), hidden)
        return z

    def _products(self, block: QueryBlock, key_heads: range) -> Float[Array, "h r n"]:
        """scale q.k, all queries of a key head in one product."""
        xp = self.xp
        rows = self.g * block.size
        q = self.q[self.query_heads(key_heads), block.queries, :] * self.heads.scale
        q = xp.reshape(q, (len(key_heads), rows, self.d))
        k = self.k[key_heads.start : key_heads.stop, : block.width, :]
        out = self._out((len(key_heads), rows, block.width))
        z = xp.matmul(q, xp.matrix_transpose(k), **out)
        return xp.reshape(z, (len(key_heads) * self.g, block.size, block.width))

    def _out(self, shape: tuple[int, ...]) -> dict[str, Array]:
        """`out=` for logits: the same memory for every block, where the library can write into it.
        Fresh memory for each would cost more in page faults than the arithmetic."""
        if compat.is_jax_array(self.q):
            return {}
        size = math.prod(shape)
        if self._memory is None or self._memory.shape[0] < size:
            self._memory = self.xp.empty(size, dtype=self.dtype, device=self.device)
        return {"out": self.xp.reshape(self._memory[:size], shape)}


def _of(x: Array, own: slice) -> Array:
    """The heads in `own` of a mask or bias that may be shared by all heads."""
    return x if x.shape[0] == 1 else x[own]


def _padded(xp: Any, x: Array, extra: int) -> Array:
    """With `extra` keys of zeros, and in one piece: products read slices of a wider array at half
    the speed."""
    if not extra:
        return xp.reshape(xp.reshape(x, (-1,)), x.shape)
    zeros = xp.zeros((x.shape[0], extra, x.shape[2]), dtype=x.dtype, device=compat.device(x))
    return xp.concat([x, zeros], axis=1)
