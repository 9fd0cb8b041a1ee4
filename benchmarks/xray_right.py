"""False alarms: the gallery's right layers under X-ray, over many seeds and in three dtypes.

    headwright bench xray_right            100 seeds in each dtype, every family: about an hour
    headwright bench xray_right --quick    10 seeds, one dtype each in turn: about a minute

"broken" and "unclear" count findings over all seeds and properties. The last rows measure what
rounding explains: the largest difference of two runs that mean the same, in units of the stated
bound (`headwright/probes/rounding.py`). A layer that compiles (JAX, FlexAttention) has a tenth of
the seeds. The layers are shared among the cores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from benchmarks.telling import as_they_come
from tests.probes.gallery.table import RIGHT, Entry

from headwright.crew import run as crew_run
from headwright.crew.executor import chosen
from headwright.probes.asking import xray
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.layer import Options, Refusal
from headwright.probes.rounding import apart, rounding

DTYPES = ("float32", "bfloat16", "float16")
_TITLE = "X-ray of right layers"
_JOB = "benchmarks.xray_right:alarm"
# One of each kind, so that ten seeds take about a minute.
_KINDS = (
    "masks:causal_right",
    "masks:window_right",
    "weights:soft_cap",
    "paths:bool_mask_right",
    "padding:CausalPaddingRight",
    "heads:grouped_right",
    "positions:RotaryRight",
    "positions:alibi_right",
    "positions:RelativeBiasRight",
    "caches:WindowCacheRight",
    "numerics:stable_right",
    "numerics:blockwise_right",
    "gradients:causal_backward_right",
    "libraries.numpy_functions:numpy_right",
    "libraries.torch_layers:sdpa",
    "libraries.torch_layers:multihead",
    "libraries.torch_layers:EncoderLayer",
    "libraries.torch_layers:ours",
    "libraries.families:bert_eager",
    "libraries.families:gpt2_sdpa",
    "libraries.families:llama_eager",
    "libraries.families:gemma3_sdpa",
    "libraries.families:gpt_oss_eager",
    "libraries.families:t5_eager",
)
_FAMILIES = tuple(
    name for name in RIGHT if name.startswith("libraries.families:") and " in " not in name
)
_SLOW = ("libraries.jax_functions:jax_right", "libraries.torch_layers:flex_causal")
_EAGER = "_eager"
_FUSED = "_sdpa"


def run(*, quick: bool) -> dict:
    seeds = 10 if quick else 100
    rows = list(as_they_come(chain(_alarms(seeds, quick=quick), _bounds(seeds))))
    notes = [f"{sum(row.get('broken', 0) for row in rows)} false alarms"]
    return {"title": _TITLE, "rows": rows, "notes": notes}


def _alarms(seeds: int, *, quick: bool) -> Iterator[dict]:
    with chosen() as executor:
        for outcome in crew_run(_JOB, _points(seeds, quick=quick), executor=executor):
            if outcome.error:
                raise RuntimeError(outcome.error)
            yield outcome.value


def _points(seeds: int, *, quick: bool) -> Iterator[dict]:
    layers = _KINDS if quick else dict.fromkeys((*_KINDS, *_FAMILIES))
    for name in (*layers, *_SLOW):
        few = seeds if name not in _SLOW else max(seeds // 10, 1)
        for place, dtype in enumerate(DTYPES):
            chosen_seeds = range(place, few, len(DTYPES)) if quick else range(few)
            if chosen_seeds and _taken(RIGHT[name], dtype):
                yield {"name": name, "dtype": dtype, "seeds": list(chosen_seeds)}


def alarm(name: str, dtype: str, seeds: list[int]) -> dict:
    import torch

    torch.set_num_threads(1)
    entry = RIGHT[name]
    count: Counter[str] = Counter()
    words = ""
    for seed in seeds:
        record = xray(*_made(entry, dtype), seed=seed, **_said(entry, dtype))
        for finding in record.properties:
            count[finding.status] += 1
            if finding.status in ("broken", "unclear"):
                words = f"{finding.name}, seed {seed}: {finding.evidence}"
    return {
        "layer": entry.layer,
        "dtype": dtype,
        "seeds": len(seeds),
        "findings": count.total(),
        "broken": count["broken"],
        "unclear": count["unclear"],
        "the last of them": words,
    }


def _taken(entry: Entry, dtype: str) -> bool:
    """NumPy has no bfloat16, and its products in float16 overflow before they are scaled, which is
    a finding and no false alarm."""
    in_numpy = "numpy" in entry.layer or entry.layer.endswith(":ours")
    return not (in_numpy and dtype != "float32")


def _made(entry: Entry, dtype: str) -> list[Any]:
    import torch

    made = entry.made()
    is_module = isinstance(made, torch.nn.Module)
    return [made.to(getattr(torch, dtype)) if is_module else made]


def _said(entry: Entry, dtype: str) -> dict[str, Any]:
    import torch

    words = {name: value for name, value in entry.words.items() if name != "dtype"}
    return words if isinstance(entry.made(), torch.nn.Module) else words | {"dtype": dtype}


def _bounds(seeds: int) -> Iterator[dict]:
    """Another batch, other texts beside it, strided memory; and the same weights in another
    kernel."""
    for dtype in DTYPES:
        same = 0.0
        kernels = 0.0
        for name in _KINDS:
            if not _taken(RIGHT[name], dtype):
                continue
            for seed in range(seeds):
                same = max(same, _apart_from_itself(RIGHT[name], dtype, seed))
        for name in RIGHT:
            fused = RIGHT.get(name.replace(_EAGER, _FUSED))
            if not name.endswith(_EAGER) or fused is None:
                continue
            for seed in range(seeds):
                kernels = max(kernels, _apart_from(RIGHT[name], fused, dtype, seed))
        yield {"layer": "two runs that mean the same", "dtype": dtype, "of the bound": same}
        yield {"layer": "eager and sdpa", "dtype": dtype, "of the bound": kernels}


def _layer(entry: Entry, dtype: str) -> Any:
    words = {name: value for name, value in _said(entry, dtype).items() if name != "expect"}
    return layer_of(*_made(entry, dtype), **words)


def _apart_from_itself(entry: Entry, dtype: str, seed: int) -> float:
    layer = _layer(entry, dtype)
    given = layer.draw(np.random.default_rng(seed), replace(layer.sizes, batch=3))
    output = layer.run(given)
    differences = [
        apart(layer.run(given.text(0)), output[:1]),
        apart(layer.run(given.text(2, 0, 1)), output[[2, 0, 1]]),
    ]
    with suppress(Refusal):  # a layer may want its memory in one piece
        differences.append(apart(layer.run(given, Options(strided=True)), output))
    return max(differences) / rounding(layer, given).bound


def _apart_from(one: Entry, other: Entry, dtype: str, seed: int) -> float:
    layer = _layer(one, dtype)
    given = layer.draw(np.random.default_rng(seed))
    difference = apart(layer.run(given), _layer(other, dtype).run(given))
    return difference / rounding(layer, given).bound
