"""The audit on one GPU: the fused kernel's numbers, its time beside SDPA's, and the whole audit of
a random LLaMA of a billion parameters against its plain forward.

    python benchmarks/audit_gpu.py [--tokens 8192,32768] [--dtype bfloat16] [--try-tiles]
                                   [--only correct,kernel,audit]

Rows are printed as they come, one JSON object each; the last line is one JSON object with all of
them. A row that fails says why, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

TITLE = "Audit on a GPU"
NOTES = [
    "peaks are over the loaded model",
    "correct: largest relative difference from the present path in float32, same inputs",
    "ratios: median of interleaved repetitions",
]
# The layer of the timings: heads, key heads, head size.
LAYER = (32, 8, 64)
HEAD_SIZES = (32, 64, 80, 96, 112, 128, 256)
# Queries, keys, warps, stages.
CANDIDATES = (
    (64, 128, 4, 3), (64, 128, 4, 2), (64, 128, 4, 4), (64, 64, 4, 3), (64, 64, 4, 4),
    (128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 3), (128, 128, 8, 2), (64, 128, 8, 3),
    (64, 32, 4, 3), (128, 32, 8, 3), (64, 32, 8, 2), (64, 64, 8, 2),
)  # fmt: skip


def layer(tokens: int, dtype: str, sizes=LAYER, *, sharp: float = 1.0, seed: int = 0, **words):
    """Random heads, laid out as a model lays them out."""
    import torch

    from headwright.trained.heads import Heads

    h, hk, d = sizes
    made = torch.Generator("cuda").manual_seed(seed)

    def normal(heads: int):
        x = torch.randn((tokens, heads, d), device="cuda", generator=made)
        return x.to(getattr(torch, dtype)).transpose(0, 1)

    return Heads(normal(h), normal(hk), normal(hk), scale=sharp * d**-0.5, **words)


def known_tokens(n: int, vocabulary: int = 32_000):
    """Random token numbers, a tenth of them separators."""
    import numpy as np

    from headwright.trained.rows.tokens import Tokens

    rng = np.random.default_rng(0)
    ids = rng.integers(1, vocabulary, n)
    real = np.ones(n, dtype=bool)
    return Tokens(real, real, (ids % 10 == 0) & (np.arange(n) > 0), ids)


# Correctness -------------------------------------------------------------------------------------


def correct_rows() -> Iterator[tuple[str, Callable[[], dict]]]:
    n = 1000
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
    yield "one head each", lambda: compare(n, "bfloat16", (4, 4, 64), {"causal": True})
    yield "causal 4096", lambda: compare(4096, "bfloat16", (8, 2, 64), {"causal": True})


def _window(n: int):
    import torch

    rows = torch.arange(n, device="cuda")
    away = rows[:, None] - rows[None, :]
    return ((away >= 0) & (away < 300))[None]


def _bias(n: int):
    import torch

    return torch.randn((1, n, n), device="cuda", generator=torch.Generator("cuda").manual_seed(3))


def compare(n: int, dtype: str, sizes, words: dict) -> dict:
    """The fused kernel against the present path in float32: rows and measures."""
    import torch

    from headwright.trained.rows.fused.launch import fused_rows
    from headwright.trained.rows.kernels import plain_kernel
    from headwright.trained.rows.stream import stream

    heads = layer(n, dtype, sizes, **words)
    wide = replace(heads, **{x: getattr(heads, x).float() for x in ("q", "k", "v")})
    tokens = known_tokens(n, 200)
    ours = fused_rows(heads, tokens)
    theirs = stream(wide, tokens, kernel=plain_kernel(host=False))

    entropy = [torch.log1p(x.leak) - x.shifted for x in (ours, theirs)]
    margins = [torch.where(x.margin.isinf(), 0.0, x.margin) for x in (ours, theirs)]
    row = {
        "entropy": _apart(*entropy),
        "margin": _apart(*margins),
        "leak": _apart(ours.leak, theirs.leak),
        "first": _apart(ours.first, theirs.first),
        "separators": _apart(ours.separators, theirs.separators),
        "similarity": _apart(ours.similarity, theirs.similarity),
        "picture": _apart(ours.picture, torch.as_tensor(theirs.picture, device="cuda")),
        "output": _apart(ours.output, theirs.output),
    }
    row |= {name: _apart(ours.patterns[name], theirs.patterns[name]) for name in theirs.patterns}
    # Where the margin exceeds rounding.
    clear = theirs.margin > 1e-4
    row["tops_wrong"] = int((ours.top != theirs.top)[clear].sum())
    row["tops_unclear"] = int((~clear).sum())
    row["measures"], row["worst_measure"] = _measures_apart(heads, wide, tokens, ours, theirs)
    return row


def _apart(a, b) -> float:
    """|a - b| / |b|, as vectors; NaN stays NaN."""
    a, b = a.double(), b.double()
    return float((a - b).norm() / b.norm())


def _measures_apart(heads, wide, tokens, ours, theirs) -> tuple[float, str]:
    import numpy as np

    measures = []
    for one, rows in ((heads, ours), (wide, theirs)):
        tally = _tally()
        tally.add(_layer_rows(one, tokens, rows))
        measures.append(tally.finish())
    a, b = measures
    names = [name for name in b if name != "twin"]
    worst = {x: float(np.max(np.abs(a[x] - b[x]) / np.maximum(np.abs(b[x]), 1e-3))) for x in names}
    name = max(worst, key=lambda x: worst[x] if worst[x] == worst[x] else np.inf)
    return worst[name], name


def _tally():
    from headwright.trained.measures.tally import Tally

    return Tally()


def _layer_rows(*parts):
    from headwright.trained.measures.from_rows import LayerRows

    return LayerRows(*parts)


# Time of one layer -------------------------------------------------------------------------------


def kernel_rows(lengths, dtype: str) -> Iterator[tuple[str, Callable[[], dict]]]:
    for n in lengths:
        yield f"one layer, {n}", lambda n=n: layer_times(n, dtype)
    n = lengths[min(1, len(lengths) - 1)]
    for d in (32, 128, 256):
        sizes = (LAYER[0] * 64 // d, LAYER[1] * 64 // d, d)
        yield f"one layer, {n}, head size {d}", lambda s=sizes: layer_times(n, dtype, s)
    yield f"one layer, {n}, full", lambda: layer_times(n, dtype, causal=False)


def layer_times(n: int, dtype: str, sizes=LAYER, *, causal: bool = True) -> dict:
    """Milliseconds: SDPA's two kernels, and each part of ours."""
    import torch

    from headwright.trained.rows.fused.launch import FusedLayer

    heads = layer(n, dtype, sizes, causal=causal)
    tokens = known_tokens(n)
    with torch.inference_mode():
        one = FusedLayer(heads, tokens)
        _, numbers, _, _ = one.over_all_keys(None)
        before = one.of_partners(numbers)[1]
        row = {name: _sdpa(heads, name) for name in ("FLASH_ATTENTION", "CUDNN_ATTENTION")}
        row["rows"] = _ms(lambda: one.over_all_keys(None))
        row["partners"] = _ms(lambda: one.of_partners(numbers))
        row["patterns"] = _ms(lambda: one.patterns(numbers, before))
        row["sampled"] = _ms(lambda: one.of_sampled_rows(numbers))
        rows = _fused(heads, tokens)
        row["tally"] = _ms(lambda: _tally().add(_layer_rows(heads, tokens, rows)))
        natural = FusedLayer(heads, _natural_tokens(n))
        row["patterns_of_natural_text"] = _ms(lambda: natural.patterns(numbers, before))
    flash = row["FLASH_ATTENTION"]
    row["rows_per_flash"] = row["rows"] / flash if isinstance(flash, float) else None
    return row


def _fused(heads, tokens):
    from headwright.trained.rows.fused.launch import fused_rows

    return fused_rows(heads, tokens)


def _natural_tokens(n: int):
    """Token numbers as frequent as words are: the k-th with weight 1 / k."""
    import numpy as np

    tokens = known_tokens(n)
    weights = 1.0 / np.arange(1, 32_001)
    tokens.ids = np.random.default_rng(0).choice(32_000, n, p=weights / weights.sum())
    return tokens


def _sdpa(heads, backend: str) -> float | str:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (x[None] for x in (heads.q, heads.k, heads.v))

    def call():
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=heads.causal, scale=heads.scale, enable_gqa=True
        )

    try:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return _ms(call)
    except RuntimeError as error:
        return str(error).splitlines()[0][:80]


def _ms(call: Callable[[], Any], repeats: int = 15) -> float:
    """Median milliseconds on the device."""
    import torch

    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times)[repeats // 2]


def tile_rows(n: int, dtype: str) -> Iterator[tuple[str, Callable[[], dict]]]:
    for d in (64, 128, 256):
        for candidate in CANDIDATES:
            sizes = (LAYER[0] * 64 // d, LAYER[1] * 64 // d, d)
            yield f"tile {candidate}, {d}", lambda c=candidate, s=sizes: tile_time(n, dtype, s, c)


def tile_time(n: int, dtype: str, sizes, candidate) -> dict:
    from headwright.trained.rows.fused.launch import FusedLayer, Tile

    one = FusedLayer(layer(n, dtype, sizes, causal=True), known_tokens(n))
    return {"rows": _ms(lambda: one.over_all_keys(Tile(*candidate)))}


# The whole audit ---------------------------------------------------------------------------------


def build(dtype: str):
    import torch
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=16,
        num_attention_heads=32,
        num_key_value_heads=8,
        vocab_size=32_000,
        max_position_embeddings=131_072,
    )
    torch.manual_seed(0)
    with torch.device("cuda"):
        return transformers.LlamaModel(config).to(getattr(torch, dtype)).eval()


def audit_rows(lengths, dtype: str) -> Iterator[tuple[str, Callable[[], dict]]]:
    kept: dict[str, Any] = {}

    def model():
        if "model" not in kept:
            kept["model"] = build(dtype)
        return kept["model"]

    for n in lengths:
        yield f"whole audit, {n}", lambda n=n: whole_audit(model(), n)


def whole_audit(model, tokens: int, repeats: int = 5) -> dict:
    """Every row measure of every head, to the finished numbers on the host; row-sampled measures
    are left out, as in the benchmark for a CPU."""
    import torch

    from headwright.trained.batches import Batch
    from headwright.trained.capture import run as run_tapped
    from headwright.trained.rows.stream import stream

    made = torch.Generator("cuda").manual_seed(0)
    ids = torch.randint(1, 32_000, (1, tokens), device="cuda", generator=made)
    batch = Batch({"input_ids": ids}, frozenset(range(0, 32_000, 10)))

    def plain():
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=False).last_hidden_state

    def audited():
        tallies = []

        def visit(layer):
            heads = layer.text(0)
            known = batch.tokens_of(layer, 0)
            rows = stream(heads, known)
            tallies.append(_tally())
            tallies[-1].add(_layer_rows(heads, known, rows))
            return rows.output[None]

        output = run_tapped(model, batch.arguments, visit).last_hidden_state
        for tally in tallies:
            tally.finish()
        return output

    first = _timed(audited)
    wanted = plain()
    difference = float((wanted - audited()).float().norm() / wanted.float().norm())
    del wanted
    calls = {"plain": plain, "audit": audited}
    seconds = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            seconds[name].append(_timed(call))
    loaded = torch.cuda.memory_allocated()
    peaks = {name: (_peak(call) - loaded) / 2**20 for name, call in calls.items()}
    median = {name: sorted(times)[repeats // 2] for name, times in seconds.items()}
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "parameters": sum(p.numel() for p in model.parameters()),
        "plain_s": median["plain"],
        "audit_s": median["audit"],
        "ratio": median["audit"] / median["plain"],
        "first_audit_s": first,
        "plain_peak_mb": peaks["plain"],
        "audit_peak_mb": peaks["audit"],
        "output_difference": difference,
    }


def _timed(call: Callable[[], Any]) -> float:
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def _peak(call: Callable[[], Any]) -> int:
    import torch

    torch.cuda.reset_peak_memory_stats()
    call()
    return torch.cuda.max_memory_allocated()


# All rows ----------------------------------------------------------------------------------------


def taken(work: Iterator[tuple[str, Callable[[], dict]]]) -> Iterator[dict]:
    """Each row as it comes; a failing one as its error."""
    import torch

    for name, call in work:
        start = time.perf_counter()
        try:
            row = {"row": name} | call()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
            row = {"row": name, "error": f"{type(error).__name__} at {where}: {str(error)[:300]}"}
        row["took_s"] = time.perf_counter() - start
        torch.cuda.empty_cache()
        yield {key: _short(value) for key, value in row.items()}


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def run(*, quick: bool) -> dict:
    """For `headwright bench audit_gpu`; a machine without a GPU gets a note instead of a number."""
    import torch

    if not torch.cuda.is_available():
        return {"title": TITLE, "rows": [], "notes": ["no GPU on this machine"]}
    rows = list(taken(audit_rows([1024 if quick else 8192], "bfloat16")))
    return {"title": TITLE, "rows": rows, "notes": NOTES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", default="8192,32768")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--only", default="correct,kernel,audit")
    parser.add_argument("--try-tiles", action="store_true")
    given = parser.parse_args()

    lengths = [int(n) for n in given.tokens.split(",")]
    kinds = {
        "correct": correct_rows,
        "kernel": lambda: kernel_rows([2048, *lengths], given.dtype),
        "audit": lambda: audit_rows(lengths, given.dtype),
    }
    rows = []
    chosen = [kinds[name]() for name in given.only.split(",") if name]
    if given.try_tiles:
        chosen.append(tile_rows(lengths[0], given.dtype))
    for work in chosen:
        for row in taken(work):
            print(json.dumps(row), flush=True)
            rows.append(row)
    print(json.dumps({"title": TITLE, "rows": rows, "notes": NOTES}))


if __name__ == "__main__":
    main()
