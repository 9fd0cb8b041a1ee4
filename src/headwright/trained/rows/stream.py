"""One pass over the attention rows of a layer, a block of queries at a time.

Every number that needs the t x n weights is taken here while a block of them exists; the largest
live buffer is block x n for the heads in work. The block's weights also give the layer's output, so
the logits are computed once and the audit costs a few reductions more than a plain forward pass.
Rejected: keeping the maps, which is 11 GB for a small model at 4,096 tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.arrays import put
from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.rows import likeness
from headwright.trained.rows import operations as block
from headwright.trained.rows.largest import HIDDEN, padding
from headwright.trained.rows.operations import NAMES, Asked, Block
from headwright.trained.rows.tokens import Marks
from headwright.types import Array, Float, Int


@dataclass(frozen=True)
class Way:
    """How a layer is worked on: queries per block, weights in work at once, what is added to n keys
    to make the width of a block, and what takes the numbers out of a block of logits."""

    rows: int
    budget: int
    padding: Callable[[int], int]
    take: Callable[[Array, Asked], Block]


# Sizes: on a CPU blocks that its caches hold, elsewhere enough to keep the device busy.
_HOST, _DEVICE = (256, 2**19), (1024, 2**27)


def by_operations(*, host: bool = True) -> Way:
    return Way(*(_HOST if host else _DEVICE), padding, block.block)


def by_fused_rows() -> Way:
    """Needs numba, and logits in single precision that it can write to."""
    from headwright.trained.rows import compiled as fused

    return Way(*_HOST, lambda n: 0, fused.block)


def way(heads: Heads) -> Way:
    """The fastest that these arrays can go."""
    xp, host = compat.array_namespace(heads.q), "cpu" in str(compat.device(heads.q)).lower()
    writable = compat.is_torch_array(heads.q) or compat.is_numpy_array(heads.q)
    if host and writable and heads.q.dtype != xp.float64 and find_spec("numba") is not None:
        return by_fused_rows()
    return by_operations(host=host)


@dataclass(frozen=True)
class Rows:
    """What is kept of each row of weights p: some numbers per head and query."""

    output: Float[Array, "h t v"]
    top: Int[Array, "h t"]  # the key with the largest logit
    margin: Float[Array, "h t"]  # largest logit minus the second; inf where one key is seen
    leak: Float[Array, "h t"]  # sum of e^(z - z_max) over all keys but the top one
    shifted: Float[Array, "h t"]  # sum of p (z - z_max)
    square: Float[Array, "h t"]  # sum of p^2
    first: Float[Array, "h t"]  # p of the first token
    separators: Float[Array, "h t"]  # sum of p over separators
    patterns: dict[str, Float[Array, "h"]]  # mass on the pattern's pairs, summed over all rows
    seen: Int[Array, "#h t"]  # keys visible to each query
    similarity: Float[Array, "h h2"]  # cosine between the heads' rows, mean over sampled rows
    picture: Float[np.ndarray, "h a b"]  # sampled rows x binned keys


def stream(heads: Heads, marks: Marks, *, by: Way | None = None) -> Rows:
    """All rows of all heads: a block of queries at a time, and as many key heads as fit the budget."""
    xp, work = compat.array_namespace(heads.q), _Work(heads, marks, by or way(heads))
    sample = likeness.sample(marks.queries)
    output, numbers = work.room()
    patterns, cosines, pictures = [], [], []
    for start in range(0, work.t, work.way.rows):
        span, places, kept = work.span(start, min(start + work.way.rows, work.t), sample), [], []
        for part in work.parts(span.stop - start):
            found = work.part(span, part)
            own, rows = slice(part[0] * work.g, part[1] * work.g), slice(span.start, span.stop)
            output = put(output, (own, rows), found.output)
            numbers = put(numbers, (own, slice(None), rows), found.numbers)
            places.append(found.patterns)
            kept.append(found.kept)
        patterns.append(xp.concat(places, axis=0))
        kept = xp.concat(kept, axis=0)
        cosines.append(likeness.cosines(xp, kept))
        pictures.append(likeness.binned(xp, kept, work.n))
    named = {name: numbers[:, i, :] for i, name in enumerate(NAMES)}
    # e sums to `total`: the weights are p = e / total.
    total = 1.0 + named["leak"]
    output /= total[..., None]
    shares = {name: named[name] / total for name in ("shifted", "first", "separators")}
    return Rows(
        output=output, top=xp.astype(named["top"], xp.int32),
        margin=named["margin"], leak=named["leak"], square=named["square"] / total**2, **shares,
        patterns=dict(zip(marks.patterns, xp.sum(xp.stack(patterns), axis=0).T, strict=True)),
        seen=work.seen(), similarity=sum(cosines) / sample.size,
        picture=likeness.squeezed(to_numpy(xp.concat(pictures, axis=1))),
    )  # fmt: skip


@dataclass(frozen=True)
class _Span:
    """Queries `start..stop-1` against keys `0..width-1`, with what is looked up in their weights,
    and which of the rows are kept whole for a moment."""

    start: int
    stop: int
    width: int
    kept: Int[Array, "s"]
    asked: Asked


@dataclass(frozen=True)
class _Part:
    """Of some heads in a span: outputs times their rows' totals, numbers and patterns as in
    `Block`, and the weights of the kept rows."""

    output: Float[Array, "h r v"]
    numbers: Float[Array, "h s r"]
    patterns: Float[Array, "h p"]
    kept: Float[Array, "h k n"]


class _Work:
    """The layer's arrays laid out for blocks: keys padded as the way wants them, queries sorted by
    key head."""

    def __init__(self, heads: Heads, marks: Marks, by: Way) -> None:
        xp = compat.array_namespace(heads.q)
        self.xp, self.heads, self.marks, self.way = xp, heads, marks, by
        (_, self.t, self.d), (self.hk, self.n, _) = heads.q.shape, heads.k.shape
        self.g, self.device = heads.group, compat.device(heads.q)
        # Half precision is enough for weights, not for differences of logits.
        wide = heads.q.dtype in (xp.float32, xp.float64)
        self.dtype = heads.q.dtype if wide else xp.float32
        self._room: Any = None
        extra = by.padding(self.n)
        self.q = self._wide(heads.q) * heads.scale
        self.k = _padded(xp, self._wide(heads.k), extra)
        self.v = _padded(xp, self._wide(heads.v), extra)

    def _out(self, shape: tuple[int, ...]) -> dict[str, Array]:
        """`out=` for logits: the same memory for every block, where the library can write into it.
        Fresh memory for each would cost more in page faults than the arithmetic."""
        if compat.is_jax_array(self.q):
            return {}
        size = math.prod(shape)
        if self._room is None or self._room.shape[0] < size:
            self._room = self.xp.empty(size, dtype=self.dtype, device=self.device)
        return {"out": self.xp.reshape(self._room[:size], shape)}

    def _wide(self, x: Array) -> Array:
        return self.xp.astype(x, self.dtype, copy=False)

    def parts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of key heads that are worked on together."""
        step = max(1, self.way.budget // (self.g * rows * self.k.shape[1]))
        yield from ((low, min(low + step, self.hk)) for low in range(0, self.hk, step))

    def seen(self) -> Int[Array, "#h t"]:
        xp, mask = self.xp, self.heads.mask
        if mask is not None:
            return xp.count_nonzero(mask, axis=-1)
        return xp.asarray(self._edge(0, self.t), device=self.device)[None, :]

    def _edge(self, start: int, stop: int) -> Int[np.ndarray, "r"]:
        """Keys that no row sees begin here: those after a causal query, and those that are not
        there."""
        rows = np.arange(start, stop)
        return np.minimum(rows + 1, self.n) if self.heads.causal else np.full(rows.size, self.n)

    def span(self, start: int, stop: int, sample: np.ndarray) -> _Span:
        marks = self.marks
        # Keys after the last query of a causal block are never touched.
        width = (
            min(stop + self.way.padding(stop), self.k.shape[1])
            if self.heads.causal
            else self.k.shape[1]
        )
        kept = sample[(sample >= start) & (sample < stop)] - start
        asked = Asked(
            self._edge(start, stop), marks.first, marks.separators, marks.pairs(start, stop)
        )
        return _Span(start, stop, width, self.xp.asarray(kept, device=self.device), asked)

    def room(self) -> tuple[Array, Array]:
        """For the outputs and numbers of the layer. Heads lie next to each other, as the model's
        next step wants."""
        h, v, new = self.hk * self.g, self.v.shape[-1], {"dtype": self.dtype, "device": self.device}
        output = self.xp.permute_dims(self.xp.empty((self.t, h, v), **new), (1, 0, 2))
        return output, self.xp.empty((h, len(NAMES), self.t), **new)

    def part(self, span: _Span, part: tuple[int, int]) -> _Part:
        """The query heads of the key heads in `part`."""
        xp, (low, high), rows = self.xp, part, span.stop - span.start
        found = self.way.take(self._logits(span, part), span.asked)
        grouped = xp.reshape(found.e, (high - low, self.g * rows, span.width))
        output = xp.reshape(
            grouped @ self.v[low:high, : span.width, :], (-1, rows, self.v.shape[-1])
        )
        kept = xp.take(found.e, span.kept, axis=1)
        return _Part(
            output, found.numbers, found.patterns, kept / xp.sum(kept, axis=-1, keepdims=True)
        )

    def _logits(self, span: _Span, part: tuple[int, int]) -> Array:
        xp, heads, (low, high) = self.xp, self.heads, part
        start, stop, width, real = span.start, span.stop, span.width, min(span.width, self.n)
        own, rows = slice(low * self.g, high * self.g), stop - start
        q = xp.reshape(self.q[own, start:stop, :], (high - low, self.g * rows, self.d))
        shape = (high - low, self.g * rows, width)
        z = xp.matmul(q, xp.matrix_transpose(self.k[low:high, :width, :]), **self._out(shape))
        z = xp.reshape(z, ((high - low) * self.g, rows, width))
        if heads.softcap is not None:
            z = heads.softcap * xp.tanh(z / heads.softcap)
        if heads.bias is not None:
            bias = self._wide(_of(heads.bias, own)[:, start:stop, :real])
            z = put(z, (..., slice(0, real)), z[..., :real] + bias)
        if heads.mask is not None:
            mask = _of(heads.mask, own)[:, start:stop, :real]
            z = put(z, (..., slice(0, real)), xp.where(mask, z[..., :real], HIDDEN))
        return z


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
