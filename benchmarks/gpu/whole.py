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
from headwright.trained.measures.measured import measured
from headwright.trained.measures.rotary import EnergyTally, rotation
from headwright.trained.measures.tally import Tally, sent_to_host
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


def whole_audit(model: Any, tokens: int, repeats: int = 15) -> dict:
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
        "tapped": lambda: capture.run(model, batch.arguments, _sdpa),
        "audit": lambda: audited(model, batch),
        "with_energy": lambda: audited(model, batch, energy=True),
        "with_looks": lambda: audited(model, batch, queries=24),
    }
    first = seconds(calls["audit"])
    wanted = plain()
    difference = float((wanted - calls["audit"]()).float().norm() / wanted.float().norm())
    del wanted
    found: dict[str, float] = {}
    for name, call in calls.items():
        found |= _beside_plain(name, call, plain, repeats)
    loaded = torch.cuda.memory_allocated()
    peaks = {
        "plain": (peak(plain) - loaded) / 2**20,
        "audit": (peak(calls["audit"]) - loaded) / 2**20,
    }
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "parameters": sum(p.numel() for p in model.parameters()),
        **found,
        "first_audit_s": first,
        **{f"{name}_peak_mb": most for name, most in peaks.items()},
        "output_difference": difference,
    }


def _beside_plain(name: str, call: Any, plain: Any, repeats: int) -> dict[str, float]:
    """Medians of runs in turn. Each contestant has the plain forward to itself: one that leaves the
    GPU idle for a while lets it run the next one faster."""
    times: dict[str, list[float]] = {name: [], "plain": []}
    for _ in range(repeats):
        times["plain"].append(seconds(plain))
        times[name].append(seconds(call))
    middle = repeats // 2
    took = sorted(times[name])[middle]
    forward = sorted(times["plain"])[middle]
    return {f"{name}_s": took, f"{name}_plain_s": forward, f"{name}_ratio": took / forward}


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

    arrivals = []
    found = capture.run(
        model, batch.arguments, visit, before_waiting=lambda: arrivals.append(sent_to_host(tallies))
    )
    for arrival in arrivals:
        arrival()
    measured(tallies)
    for one in energies:
        one.measures()
    for one in looks:
        one.looks()
    return found.last_hidden_state
