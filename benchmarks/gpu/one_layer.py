"""One layer: each part of the fused pass beside SDPA's own kernels, and other tile sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from benchmarks.gpu.layers import LAYER, known_tokens, layer, natural_tokens, same_work
from benchmarks.gpu.timing import Work, milliseconds
from torch.nn.attention import SDPBackend, sdpa_kernel

from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.fused.launch import FusedLayer, Tile, fused_rows

# Queries, keys, warps, stages.
CANDIDATES = (
    (64, 128, 4, 3), (64, 128, 4, 2), (64, 64, 4, 3), (64, 64, 4, 2), (128, 64, 4, 2),
    (128, 64, 8, 3), (128, 128, 8, 3), (128, 128, 8, 2), (64, 32, 4, 3), (128, 32, 8, 3),
)  # fmt: skip


def kernel_rows(lengths: list[int], dtype: str) -> Iterator[Work]:
    for n in lengths:
        yield f"one layer, {n}", lambda n=n: layer_times(n, dtype)
    n = lengths[min(1, len(lengths) - 1)]
    for d in (32, 128, 256):
        yield f"one layer, {n}, head size {d}", lambda d=d: layer_times(n, dtype, same_work(d))
    yield f"one layer, {n}, full", lambda: layer_times(n, dtype, causal=False)


def layer_times(n: int, dtype: str, sizes=LAYER, *, causal: bool = True) -> dict:
    """Milliseconds: SDPA's two kernels, and each part of ours."""
    heads = layer(n, dtype, sizes, causal=causal)
    tokens = known_tokens(n)
    with torch.inference_mode():
        one = FusedLayer(heads, tokens)
        _, numbers, _, _ = one.over_all_keys(None)
        row: dict[str, Any] = {
            name: _sdpa(heads, name) for name in ("FLASH_ATTENTION", "CUDNN_ATTENTION")
        }
        row["rows"] = milliseconds(lambda: one.over_all_keys(None))
        row["patterns"] = milliseconds(lambda: one.patterns(numbers))
        row["sampled"] = milliseconds(lambda: one.of_sampled_rows(numbers))
        rows = LayerRows(heads, tokens, fused_rows(heads, tokens))
        row["tally"] = milliseconds(lambda: Tally().add(rows))
        natural = FusedLayer(heads, natural_tokens(n))
        row["patterns_of_natural_text"] = milliseconds(lambda: natural.patterns(numbers))
    flash = row["FLASH_ATTENTION"]
    row["rows_per_flash"] = row["rows"] / flash if isinstance(flash, float) else None
    return row


def _sdpa(heads, backend: str) -> float | str:
    q, k, v = (x[None] for x in (heads.q, heads.k, heads.v))

    def call():
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=heads.causal, scale=heads.scale, enable_gqa=True
        )

    try:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return milliseconds(call)
    except RuntimeError as error:
        return str(error).splitlines()[0][:80]


def tile_rows(n: int, dtype: str) -> Iterator[Work]:
    for d in (64, 32, 128, 256):
        for candidate in CANDIDATES:
            name = f"tile {candidate}, {d}"
            yield name, lambda c=candidate, d=d: tile_time(n, dtype, same_work(d), c)


def tile_time(n: int, dtype: str, sizes, candidate) -> dict:
    one = FusedLayer(layer(n, dtype, sizes, causal=True), known_tokens(n))
    return {"rows": milliseconds(lambda: one.over_all_keys(Tile(*candidate)))}
