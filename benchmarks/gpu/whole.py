"""The whole audit of a random LLaMA of a billion parameters against its plain forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import transformers
from benchmarks.gpu.timing import Work, peak, seconds

from headwright.trained import capture
from headwright.trained.batches import Batch
from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.rotary import EnergyTally, rotation
from headwright.trained.measures.tally import Tally, bring_to_host
from headwright.trained.passage.looks import chosen_queries, heaviest
from headwright.trained.rows.stream import stream


def build(dtype: str) -> Any:
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


def audit_rows(lengths: list[int], dtype: str) -> Iterator[Work]:
    kept: dict[str, Any] = {}

    def model():
        if "model" not in kept:
            kept["model"] = build(dtype)
        return kept["model"]

    for n in lengths:
        yield f"whole audit, {n}", lambda n=n: whole_audit(model(), n)


def whole_audit(model: Any, tokens: int, repeats: int = 7) -> dict:
    """Every row measure of every head, to the finished numbers on the host; then with the energy
    of rotary pairs, and with the passage's looks. Row-sampled measures are left out, as in the
    benchmark for a CPU."""
    made = torch.Generator("cuda").manual_seed(0)
    ids = torch.randint(1, 32_000, (1, tokens), device="cuda", generator=made)
    batch = Batch({"input_ids": ids}, frozenset(range(0, 32_000, 10)))

    def plain():
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=False).last_hidden_state

    calls = {
        "plain": plain,
        "tapped": lambda: capture.run(model, batch.arguments, _sdpa),
        "audit": lambda: audited(model, batch),
        "with_energy": lambda: audited(model, batch, energy=True),
        "with_looks": lambda: audited(model, batch, queries=24),
    }
    first = seconds(calls["audit"])
    wanted = plain()
    difference = float((wanted - calls["audit"]()).float().norm() / wanted.float().norm())
    del wanted
    times = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(seconds(call))
    loaded = torch.cuda.memory_allocated()
    peaks = {name: (peak(calls[name]) - loaded) / 2**20 for name in ("plain", "audit")}
    median = {name: sorted(of_one)[repeats // 2] for name, of_one in times.items()}
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "parameters": sum(p.numel() for p in model.parameters()),
        **{f"{name}_s": time for name, time in median.items()},
        **{f"{name}_ratio": time / median["plain"] for name, time in median.items()},
        "first_audit_s": first,
        **{f"{name}_peak_mb": most for name, most in peaks.items()},
        "output_difference": difference,
    }


def _sdpa(layer: Any) -> Any:
    """The attention of the plain model, through our tap."""
    return torch.nn.functional.scaled_dot_product_attention(
        layer.q, layer.k, layer.v, is_causal=layer.causal, scale=layer.scale, enable_gqa=True
    )


def audited(model: Any, batch: Batch, *, energy: bool = False, queries: int = 0) -> Any:
    """The output, with everything measured on the way; the measures on parts of the text come with
    the others."""
    tallies: list[Tally] = []
    energies: list[EnergyTally] = []
    looks = []
    turning = rotation(model) if energy else None

    def visit(layer):
        heads = layer.text(0)
        known = batch.tokens_of(layer, 0)
        if queries:
            chosen = known.once("queries", lambda: chosen_queries(known, queries))
            looks.append(heaviest(heads, chosen))
        rows = stream(heads, known)
        tallies.append(Tally())
        tallies[-1].add(LayerRows(heads, known, rows))
        if turning is not None:
            energies.append(EnergyTally())
            energies[-1].add(heads, known, turning)
        return rows.output[None]

    output = capture.run(model, batch.arguments, visit).last_hidden_state
    bring_to_host(tallies)
    for tally in tallies:
        tally.finish()
        tally.parts()
    for one in energies:
        one.measures()
    for one in looks:
        one.looks()
    return output
