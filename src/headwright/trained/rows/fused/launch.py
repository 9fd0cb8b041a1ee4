"""A layer through the kernels: tile sizes, memory, and the numbers as `Rows`.

Nothing here waits for the device. Beside the output (in the memory order the model's next step
wants) a layer takes 10 numbers per row and the whole weights of a few rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.trained.device.beside import beside, join
from headwright.trained.heads import Heads
from headwright.trained.library import torch
from headwright.trained.rows import likeness
from headwright.trained.rows.fused.kernel import attention_rows
from headwright.trained.rows.fused.lookups import earlier_places
from headwright.trained.rows.fused.repeats import REPEATS, Repeats, partners
from headwright.trained.rows.fused.sampled import products_of_heads, whole_rows
from headwright.trained.rows.result import Rows
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float


@dataclass(frozen=True)
class Tile:
    """Queries and keys per tile, warps per program, and tiles in flight."""

    queries: int
    keys: int
    warps: int
    stages: int


# By the head size, rounded up to a power of two. Rejected: tuning at the first call, which compiles
# every candidate at some seconds each.
TILES = {
    16: Tile(64, 128, 4, 3),
    32: Tile(64, 128, 4, 3),
    64: Tile(64, 128, 4, 3),
    128: Tile(64, 64, 4, 3),
    256: Tile(128, 64, 8, 2),
}
# Order of the kernel's numbers.
NUMBERS = (
    "best", "margin", "leak", "shifted", "separators", "first", "previous", "copied", "from_mean",
)  # fmt: skip
_KEPT = ("margin", "leak", "shifted", "separators", "first")
# Keys whose place is asked for together.
_RUN = 8
# Rows and keys at once in the kernel for sampled rows.
_ROWS = 64
_KEYS = 64
# Rows and keys at once where earlier places are looked up: most tokens have few.
_LOOKUPS = 32
# Weights of sampled rows that are there at once: 2^25 of two bytes are 64 MB.
_SAMPLED = 2**25
# Most heads per program that multiplies the rows of two heads, and keys that it takes.
_HEADS = 64
_PRODUCTS = 1024


def fused_rows(heads: Heads, tokens: Tokens, *, tile: Tile | None = None) -> Rows:
    """All rows of all heads: one kernel for every number that needs all keys, and a few small ones
    that look weights up."""
    layer = FusedLayer(heads, tokens)
    output, numbers, top, seen = layer.over_all_keys(tile)
    # Both leave most of a GPU idle.
    with beside(layer.device):
        similarity, picture = layer.of_sampled_rows(numbers)
    patterns = layer.patterns(numbers)
    join(layer.device)
    return Rows(
        output=output,
        top=top,
        patterns=patterns,
        seen=seen,
        similarity=similarity,
        picture=picture,
        numbers=numbers,
        **{name: numbers[NUMBERS.index(name)] for name in _KEPT},
    )


class FusedLayer:
    """One layer on one text, as the kernels take it."""

    def __init__(self, heads: Heads, tokens: Tokens) -> None:
        self.heads = heads
        self.tokens = tokens
        self.device = heads.q.device
        self.h, self.t, self.d = heads.q.shape
        self.hk, self.n, self.dv = heads.v.shape
        self.q, self.k, self.v = (_in_one_piece(x) for x in (heads.q, heads.k, heads.v))
        self.mask = None if heads.mask is None else _in_one_piece(heads.mask).view(torch.uint8)
        self.bias = None if heads.bias is None else _in_one_piece(heads.bias)
        self.kinds = {
            "CAUSAL": heads.causal,
            "MASKED": self.mask is not None,
            "BIASED": self.bias is not None,
        }
        self.mask_strides = _strides(self.mask)
        self.bias_strides = _strides(self.bias)
        self.logit_numbers = (float(heads.scale), _float(heads.softcap))

    def over_all_keys(self, tile: Tile | None) -> tuple[Array, Array, Array, Array]:
        """Output (h, t, v), numbers, places of the top keys, and how many keys each row sees."""
        width = _power(max(self.d, self.dv))
        tile = tile or TILES[width]
        output = self._empty(self.t, self.h, self.dv, dtype=self.v.dtype).transpose(0, 1)
        numbers = self._empty(len(NUMBERS), self.h, self.t)
        top = self._empty(self.h, self.t, dtype=torch.int32)
        counted = torch.empty_like(top) if self.mask is not None else None
        marked = bool(self.tokens.separators.any())
        marks = self._once("marks", lambda: self.tokens.separators.astype(np.float32))
        two_keys = self._once("partners", lambda: partners(self.tokens))

        grid = (-(-self.t // tile.queries), self.h)
        _launch(
            attention_rows, grid,
            self.q, self.k, self.v, output, numbers, top, counted,
            marks, self._mean_values(), two_keys, self.mask, self.bias,
            *_strides(self.q), *_strides(self.k), *_strides(self.v), *_strides(output),
            *self.mask_strides, *self.bias_strides,
            self.h, self.t, self.n, self.d, self.dv, self.heads.group, *self.logit_numbers,
            M=tile.queries, N=tile.keys, G=min(_RUN, tile.keys // 4),
            D=_power(self.d), V=_power(self.dv), MARKED=marked,
            RAGGED=(_power(self.d), _power(self.dv)) != (self.d, self.dv), **self.kinds,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        return output, numbers, top, self._seen() if counted is None else counted

    def _mean_values(self) -> Float[Array, "hk v"]:
        """Of the real keys of each key head."""
        if self.tokens.real_keys.all():
            return self.v.mean(1, dtype=torch.float32)
        real = self.tokens.beside("real_keys", self.v)
        kept = self.v.masked_fill(~real[None, :, None], 0.0)
        return kept.sum(1, dtype=torch.float32) / real.sum()

    def patterns(self, numbers: Array) -> dict[str, Array]:
        """Each pattern's mass, summed over all rows."""
        if self.tokens.ids is None:
            return {}
        previous = numbers[NUMBERS.index("previous")].sum(-1)
        duplicate, induction = self._earlier(numbers)
        found = {"previous": previous, "duplicate": duplicate, "induction": induction}
        return {name: found[name] for name in self.tokens.patterns}

    def _earlier(self, numbers: Array) -> Float[Array, "2 h"]:
        """The mass on earlier places of the rows' tokens, and on the places after those."""
        ids = self.tokens.ids
        assert ids is not None, "patterns are empty without token numbers"
        repeats = self.tokens.once("repeats", lambda: Repeats.of(ids))
        lists = [self._once(name, lambda name=name: getattr(repeats, name)) for name in REPEATS]
        blocks = -(-self.t // _LOOKUPS)
        masses = self._empty(2, self.h, blocks)
        _launch(
            earlier_places, (blocks, self.h, 2),
            self.q, self.k, masses, numbers, *lists,
            self._placed("real_queries"), self._placed("real_keys"), self.mask, self.bias,
            *_strides(self.q), *_strides(self.k), *self.mask_strides, *self.bias_strides,
            self.h, self.t, self.d, self.heads.group, *self.logit_numbers,
            M=_LOOKUPS, N=_LOOKUPS, D=_power(self.d), **self.kinds,
            num_warps=max(1, _power(self.d) // 64),
        )  # fmt: skip
        return masses.sum(-1)

    def of_sampled_rows(self, numbers: Array) -> tuple[Array, Array]:
        """How alike the heads' rows are, and the heads' pictures."""
        rows = self._once("sample", lambda: likeness.sample(self.tokens.real_queries))
        step = max(1, _SAMPLED // (self.h * self.n))
        width, cells = likeness.ranges(self.n)
        masses = self._empty(len(rows), self.h, cells)
        cosines = []
        for low in range(0, len(rows), step):
            some = slice(low, low + step)
            weights = self._whole_rows(rows[some], numbers, masses[some], width)
            cosines.append(self._cosines(weights))

        average = self._once("averaging", lambda: likeness.averaging(len(rows)).astype(np.float32))
        return sum(cosines) / len(rows), average @ masses.transpose(0, 1)

    def _whole_rows(self, rows: Array, numbers: Array, masses: Array, width: int) -> Array:
        size = len(rows)
        weights = self._empty(size, self.h, self.n, dtype=torch.float16)
        cells = masses.shape[-1]
        _launch(
            whole_rows, (cells, self.h, -(-size // _ROWS)),
            self.q, self.k, weights, masses, numbers, rows, self.mask, self.bias,
            *_strides(self.q), *_strides(self.k), *self.mask_strides, *self.bias_strides,
            self.h, self.t, self.n, self.d, self.heads.group, *self.logit_numbers,
            size, width, cells,
            M=_ROWS, N=_KEYS, D=_power(self.d), **self.kinds,
        )  # fmt: skip
        return weights

    def _cosines(self, weights: Array) -> Float[Array, "h h"]:
        """Between every two heads, summed over the rows of `weights` (s, h, n)."""
        size = len(weights)
        H = min(max(16, _power(self.h)), _HEADS)
        parts = -(-self.h // H)
        splits = -(-self.n // _PRODUCTS)
        split = self._empty(splits, size, self.h, self.h)
        numbers = (weights, split, self.h, self.n, parts)
        _launch(products_of_heads, (size, parts * parts, splits), *numbers, H=H, N=128, K=_PRODUCTS)
        products = split.sum(0)
        lengths = products.diagonal(dim1=1, dim2=2).sqrt()
        return (products / (lengths[:, :, None] * lengths[:, None, :])).sum(0)

    def _seen(self) -> Array:
        causal = self.heads.causal
        rows = np.minimum(np.arange(self.t) + 1, self.n) if causal else np.full(self.t, self.n)
        return self._once(f"seen, causal {causal}", lambda: rows.astype(np.int32)[None, :])

    def _empty(self, *shape: int, dtype: Any = torch.float32) -> Array:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def _placed(self, name: str) -> Array:
        return self.tokens.beside(name, self.q).view(torch.uint8)

    def _once(self, name: str, make: Any) -> Array:
        """What depends on the tokens alone is copied to the device once: every copy waits for
        it."""

        def copied() -> Array:
            return torch.as_tensor(np.ascontiguousarray(make())).to(self.device)

        return self.tokens.once((name, str(self.device)), copied)


def _launch(kernel: Any, grid: tuple[int, ...], *arguments: Any, **words: Any) -> None:
    kernel[grid](*arguments, **words)


def _in_one_piece(x: Array) -> Array:
    """With neighbouring entries along the last axis, as the kernels read them."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _strides(x: Array | None) -> tuple[int, int]:
    """From head to head (none, where all share one) and from row to row."""
    if x is None:
        return (0, 0)
    return (0 if x.shape[0] == 1 else x.stride(0), x.stride(1))


def _float(x: float | None) -> float | None:
    return None if x is None else float(x)


def _power(size: int) -> int:
    """The next power of two; products on a GPU have sides of 16 or more."""
    return max(16, 1 << (size - 1).bit_length())
