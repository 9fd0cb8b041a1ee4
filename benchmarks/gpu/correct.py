"""The fused kernels against the present path in float32, on the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from benchmarks.gpu.layers import LAYER, known_tokens, layer
from benchmarks.gpu.timing import Work

from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.measured import measured
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.fused.launch import fused_rows
from headwright.trained.rows.kernels import plain_kernel
from headwright.trained.rows.stream import stream

HEAD_SIZES = (32, 64, 80, 96, 112, 128, 256)
_TOKENS = 1000


def correct_rows() -> Iterator[Work]:
    n = _TOKENS
    causal = {"causal": True}
    settings: dict[str, Callable[[], dict[str, Any]]] = {
        "causal": lambda: {"causal": True},
        "full": dict,
        "masked": lambda: {"mask": _window(n)},
        "softcap": lambda: {"softcap": 5.0, "causal": True},
        "bias": lambda: {"bias": _bias(n), "causal": True},
        "sharp": lambda: {"causal": True, "sharp": 6.0},
    }
    for dtype in ("bfloat16", "float16"):
        for name, words in settings.items():
            yield f"{name} {dtype} 64", lambda w=words, dtype=dtype: compare(n, dtype, LAYER, w())
        for d in HEAD_SIZES:
            sizes = (8, 2, d)
            yield f"causal {dtype} {d}", lambda s=sizes, dtype=dtype: compare(n, dtype, s, causal)
    yield "one head each", lambda: compare(n, "bfloat16", (4, 4, 64), causal)
    yield "causal 4096", lambda: compare(4096, "bfloat16", (8, 2, 64), causal)


def _window(n: int):
    rows = torch.arange(n, device="cuda")
    away = rows[:, None] - rows[None, :]
    return ((away >= 0) & (away < 300))[None]


def _bias(n: int):
    return torch.randn((1, n, n), device="cuda", generator=torch.Generator("cuda").manual_seed(3))


def compare(n: int, dtype: str, sizes, words: dict) -> dict:
    """Rows and measures."""
    heads = layer(n, dtype, sizes, **words)
    wide = replace(heads, **{x: getattr(heads, x).float() for x in ("q", "k", "v")})
    tokens = known_tokens(n, 200)
    ours = fused_rows(heads, tokens)
    theirs = stream(wide, tokens, kernel=plain_kernel(host=False))

    entropy = [torch.log1p(x.leak) - x.shifted for x in (ours, theirs)]
    margins = [torch.where(x.margin.isinf(), 0.0, x.margin) for x in (ours, theirs)]
    row: dict[str, Any] = {
        "entropy": _apart(*entropy),
        "margin": _apart(*margins),
        "picture": _apart(ours.picture, torch.as_tensor(theirs.picture, device="cuda")),
    }
    for name in ("leak", "first", "separators", "similarity", "output"):
        row[name] = _apart(getattr(ours, name), getattr(theirs, name))
    row |= {name: _apart(ours.patterns[name], theirs.patterns[name]) for name in theirs.patterns}
    # Where the margin exceeds rounding.
    clear = theirs.margin > 1e-4
    row["tops_wrong"] = int((ours.top != theirs.top)[clear].sum())
    row["tops_unclear"] = int((~clear).sum())
    a = _measures(LayerRows(heads, tokens, ours))
    b = _measures(LayerRows(wide, tokens, theirs))
    row["measures"], row["worst_measure"] = _worst(a, b)
    return row


def _apart(a, b) -> float:
    """|a - b| / |b|, as vectors; NaN stays NaN."""
    a, b = a.double(), b.double()
    return float((a - b).norm() / b.norm())


def _measures(rows: LayerRows) -> dict[str, np.ndarray]:
    tally = Tally()
    tally.add(rows)
    return measured([tally])[0].measures


def _worst(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> tuple[float, str]:
    """The largest relative difference, and of which measure it is."""
    apart = {}
    for name in b:
        if name != "twin":
            size = np.maximum(np.abs(b[name]), 1e-3)
            apart[name] = float(np.max(np.abs(a[name] - b[name]) / size))
    worst = max(apart, key=lambda name: np.inf if np.isnan(apart[name]) else apart[name])
    return apart[worst], worst
