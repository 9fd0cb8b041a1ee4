"""One pass over the attention rows of a layer, a block of queries at a time.

Every number that needs the t x n weights is taken here while a block of them exists; the largest live buffer is
block x n for the heads in work. The block's weights also give the layer's output, so the logits are computed once
and the audit costs a few reductions more than a plain forward pass. Rejected: keeping the maps, which is 11 GB for
a small model at 4,096 tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained import likeness
from headwright.trained.heads import Heads
from headwright.trained.largest import HIDDEN, Largest, padding
from headwright.trained.marks import Marks
from headwright.types import Array, Float, Int

# Queries per block and weights in work at once. On a CPU what its caches hold (1 MB each for logits and weights);
# elsewhere enough to keep the device busy.
_WORK = {"cpu": (128, 2**18), "device": (1024, 2**27)}


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


def stream(heads: Heads, marks: Marks, *, block: int | None = None) -> Rows:
    """All rows of all heads: `block` queries at a time, and as many key heads as fit the budget."""
    xp, work = compat.array_namespace(heads.q), _Work(heads, marks)
    sample = likeness.sample(marks.queries)
    blocks, cosines, pictures = [], [], []
    block = block or work.rows_at_once
    for start in range(0, work.t, block):
        span = work.span(start, min(start + block, work.t), sample)
        parts = [work.block(span, part) for part in work.parts(span.stop - start)]
        joined = {name: xp.concat([p[name] for p in parts], axis=0) for name in parts[0]}
        kept = joined.pop("kept")
        cosines.append(likeness.cosines(xp, kept))
        pictures.append(likeness.binned(xp, kept, work.n))
        blocks.append(joined)
    totals = {name: sum(b.pop(f"pattern {name}") for b in blocks) for name in marks.patterns}
    whole = {name: xp.concat([b[name] for b in blocks], axis=1) for name in blocks[0]}
    return Rows(
        **whole, patterns=totals, seen=work.seen(), similarity=sum(cosines) / sample.size,
        picture=likeness.squeezed(to_numpy(xp.concat(pictures, axis=1))),
    )  # fmt: skip


@dataclass(frozen=True)
class _Span:
    """Queries `start..stop-1` against keys `0..width-1`, with what is looked up in their weights: the sampled rows,
    and for each pattern its pairs, as rows and as places in the flattened block."""

    start: int
    stop: int
    width: int
    kept: Int[Array, "s"]
    pairs: dict[str, tuple[Int[Array, "p"], Int[Array, "p"]]]


class _Work:
    """The layer's arrays laid out for blocks: keys padded to whole columns, queries sorted by key head."""

    def __init__(self, heads: Heads, marks: Marks) -> None:
        xp = compat.array_namespace(heads.q)
        self.xp, self.heads, self.marks = xp, heads, marks
        (_, self.t, self.d), (self.hk, self.n, _) = heads.q.shape, heads.k.shape
        self.g, self.device = heads.group, compat.device(heads.q)
        # Half precision is enough for weights, not for differences of logits.
        wide = heads.q.dtype in (xp.float32, xp.float64)
        self.dtype = heads.q.dtype if wide else xp.float32
        self.rows_at_once, self.budget = _WORK["cpu" if "cpu" in str(self.device).lower() else "device"]
        self._rooms: list[Any] = [None, None]
        extra = padding(self.n)
        self.q = self._wide(heads.q) * heads.scale
        self.k = _padded(xp, self._wide(heads.k), extra)
        self.v = _padded(xp, self._wide(heads.v), extra)
        self.separators = self._array(np.pad(marks.separators.astype(float), (0, extra)), self.dtype)

    def _room(self, shape: tuple[int, ...], *, which: int) -> dict[str, Array]:
        """`out=` for logits (0) and weights (1): the same memory for every block, where the library can write
        into it. Fresh memory for each would cost more in page faults than the arithmetic."""
        if compat.is_jax_array(self.q):
            return {}
        size = math.prod(shape)
        if self._rooms[which] is None or self._rooms[which].shape[0] < size:
            self._rooms[which] = self.xp.empty(size, dtype=self.dtype, device=self.device)
        return {"out": self.xp.reshape(self._rooms[which][:size], shape)}

    def _wide(self, x: Array) -> Array:
        return self.xp.astype(x, self.dtype, copy=False)

    def _array(self, x: np.ndarray, dtype: Any = None) -> Array:
        return self.xp.asarray(x, dtype=dtype, device=self.device)

    def parts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of key heads that are worked on together."""
        step = max(1, self.budget // (self.g * rows * self.k.shape[1]))
        yield from ((low, min(low + step, self.hk)) for low in range(0, self.hk, step))

    def seen(self) -> Int[Array, "#h t"]:
        xp, mask = self.xp, self.heads.mask
        if mask is not None:
            return xp.count_nonzero(mask, axis=-1)
        counts = np.arange(1, self.t + 1) if self.heads.causal else np.full(self.t, self.n)
        return self._array(counts)[None, :]

    def span(self, start: int, stop: int, sample: np.ndarray) -> _Span:
        # Keys after the last query of a causal block are never touched.
        width = stop + padding(stop) if self.heads.causal else self.k.shape[1]
        width, pairs = min(width, self.k.shape[1]), {}
        for name in self.marks.patterns:
            row, column = self.marks.pairs(name, start, stop)
            pairs[name] = (self._array(row - start), self._array((row - start) * width + column))
        kept = sample[(sample >= start) & (sample < stop)] - start
        return _Span(start, stop, width, self._array(kept), pairs)

    def block(self, span: _Span, part: tuple[int, int]) -> dict[str, Array]:
        """The numbers of a span's rows, for the query heads of the key heads in `part`."""
        xp, (low, high), rows = self.xp, part, span.stop - span.start
        z = self._logits(span, part)
        largest = Largest.of(z)
        z -= largest.best[..., None]
        e = xp.exp(z, **self._room(z.shape, which=1))
        z *= e
        leak = largest.leak(e)
        total = 1.0 + leak
        grouped = xp.reshape(e, (high - low, self.g * rows, span.width))
        output = xp.reshape(grouped @ self.v[low:high, : span.width, :], (-1, rows, self.v.shape[-1]))
        kept = xp.take(e, span.kept, axis=1) / xp.take(total, span.kept, axis=1)[..., None]
        flat = xp.reshape(e, (e.shape[0], -1))
        return {
            "output": output / total[..., None],
            # A padded query may see no key at all; its top key must still be one of the text's.
            "top": xp.where(largest.top < self.n, largest.top, 0),
            "margin": largest.best - largest.second,
            "leak": leak,
            "shifted": xp.sum(z, axis=-1) / total,
            "square": (xp.linalg.vector_norm(e, axis=-1) / total) ** 2,
            "first": e[..., self.marks.first] / total,
            "separators": xp.matmul(e, self.separators[: span.width]) / total,
            "kept": kept,
        } | {
            f"pattern {name}": xp.sum(xp.take(flat, places, axis=1) / xp.take(total, row, axis=1), axis=-1)
            for name, (row, places) in span.pairs.items()
        }

    def _logits(self, span: _Span, part: tuple[int, int]) -> Array:
        xp, heads, (low, high) = self.xp, self.heads, part
        start, stop, width, real = span.start, span.stop, span.width, min(span.width, self.n)
        own, rows = slice(low * self.g, high * self.g), stop - start
        q = xp.reshape(self.q[own, start:stop, :], (high - low, self.g * rows, self.d))
        shape = (high - low, self.g * rows, width)
        z = xp.matmul(q, xp.matrix_transpose(self.k[low:high, :width, :]), **self._room(shape, which=0))
        z = xp.reshape(z, ((high - low) * self.g, rows, width))
        if heads.softcap is not None:
            z = heads.softcap * xp.tanh(z / heads.softcap)
        if heads.bias is not None:
            bias = self._wide(_of(heads.bias, own)[:, start:stop, :real])
            z = _put(z, (..., slice(0, real)), z[..., :real] + bias)
        if heads.mask is not None:
            mask = _of(heads.mask, own)[:, start:stop, :real]
            z = _put(z, (..., slice(0, real)), xp.where(mask, z[..., :real], HIDDEN))
        if heads.causal:
            # Only the square on the diagonal has hidden keys.
            late = np.arange(start, width)[None, :] > np.arange(start, stop)[:, None]
            square = xp.where(self._array(late), HIDDEN, z[..., start:])
            z = _put(z, (..., slice(start, width)), square)
        return _put(z, (..., slice(real, width)), HIDDEN) if width > real else z


def _of(x: Array, own: slice) -> Array:
    """The heads in `own` of a mask or bias that may be shared by all heads."""
    return x if x.shape[0] == 1 else x[own]


def _padded(xp: Any, x: Array, extra: int) -> Array:
    if not extra:
        return x
    zeros = xp.zeros((x.shape[0], extra, x.shape[2]), dtype=x.dtype, device=compat.device(x))
    return xp.concat([x, zeros], axis=1)


def _put(x: Array, place: Any, value: Any) -> Array:
    if compat.is_jax_array(x):
        return x.at[place].set(value)
    x[place] = value
    return x
