"""The audit on one GPU: a random LLaMA of a billion parameters at 8,192 tokens, against its plain
SDPA forward.

    python benchmarks/audit_gpu.py [--tokens 8192] [--dtype bfloat16]

Prints one JSON object: seconds and ratio (median of interleaved repetitions), peak memory over the
loaded model for both, and the largest relative difference between the two outputs.
"""

from __future__ import annotations

import argparse
import json
import time


def build(dtype):
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
        return transformers.LlamaModel(config).to(dtype).eval()


def measure(tokens: int, dtype: str, repeats: int = 5) -> dict:
    import torch

    from headwright.trained.batches import Batch
    from headwright.trained.capture import run
    from headwright.trained.measures.from_rows import LayerRows
    from headwright.trained.measures.tally import Tally
    from headwright.trained.rows.stream import stream

    model = build(getattr(torch, dtype))
    ids = torch.randint(
        1, 32_000, (1, tokens), device="cuda", generator=torch.Generator("cuda").manual_seed(0)
    )
    batch = Batch({"input_ids": ids})
    layers: dict[int, Tally] = {}

    def visit(layer):
        heads = layer.text(0)
        known = batch.tokens_of(layer, 0)
        rows = stream(heads, known)
        layers.setdefault(layer.index, Tally()).add(LayerRows(heads, known, rows))
        return rows.output[None]

    def plain():
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=False).last_hidden_state

    def audited():
        layers.clear()
        return run(model, batch.arguments, visit).last_hidden_state

    difference = float((plain() - audited()).abs().max() / plain().abs().max())
    seconds = {"plain": [], "audit": []}
    for _ in range(repeats):
        for name, call in (("plain", plain), ("audit", audited)):
            seconds[name].append(_timed(call))
    loaded = torch.cuda.memory_allocated()
    peaks = {name: _peak(call) - loaded for name, call in (("plain", plain), ("audit", audited))}
    median = {name: sorted(times)[repeats // 2] for name, times in seconds.items()}
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "dtype": dtype,
        "tokens": tokens,
        "parameters": sum(p.numel() for p in model.parameters()),
        "heads": 32 * len(layers),
        "plain_s": median["plain"],
        "audit_s": median["audit"],
        "ratio": median["audit"] / median["plain"],
        "plain_peak_mb": peaks["plain"] / 2**20,
        "audit_peak_mb": peaks["audit"] / 2**20,
        "output_difference": difference,
    }


def _timed(call) -> float:
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def _peak(call) -> int:
    import torch

    torch.cuda.reset_peak_memory_stats()
    call()
    return torch.cuda.max_memory_allocated()


def run(*, quick: bool) -> dict:
    """For `headwright bench audit_gpu`; a machine without a GPU gets a note instead of a number."""
    import torch

    if not torch.cuda.is_available():
        return {"title": "Audit on a GPU", "rows": [], "notes": ["no GPU on this machine"]}
    row = measure(1024 if quick else 8192, "bfloat16")
    return {"title": "Audit on a GPU", "rows": [row], "notes": ["peaks are over the loaded model"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--dtype", default="bfloat16")
    given = parser.parse_args()
    print(json.dumps(measure(given.tokens, given.dtype)))
