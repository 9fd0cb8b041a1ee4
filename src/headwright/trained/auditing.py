"""The audit: a model and texts in, one card per head out. Only wiring; every step has its own
file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from headwright import inputs
from headwright.trained import capture, preparation
from headwright.trained.batches import Batch, fingerprint
from headwright.trained.cache import key_noise
from headwright.trained.cards import Card
from headwright.trained.gathering import Gathered
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.measures.beside_text import Asked, beside_text
from headwright.trained.measures.chance import EqualWeights
from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.measured import measured
from headwright.trained.measures.rotary import Rotation, rotation
from headwright.trained.measures.sampled import Sample
from headwright.trained.measures.tally import sent_to_host
from headwright.trained.passage.looks import Passage
from headwright.trained.passage.taking import passage
from headwright.trained.preparation import output_only, prepared
from headwright.trained.rows.stream import stream
from headwright.trained.table import Audit


@dataclass(frozen=True)
class AuditOptions:
    """What an audit does beside the measures of every row. `rows`: sampled rows per head, for the
    measures that are too slow for every row (0: leave these out); `key_bits`: bit widths of the
    key-cache table; `tokens`: read only so much of each text; `batch`: texts that go through the
    model together; `queries`: tokens of the first text whose heaviest keys are kept (0: none);
    `parts`: keep the measures on parts of the texts, which two audits are compared by. `needle`,
    `induction` and `weights` are those of `Asked`."""

    rows: int = 8
    key_bits: tuple[int, ...] = ()
    tokens: int | None = None
    batch: int = 1
    queries: int = 24
    parts: bool = True
    seed: int = 0
    needle: str | bool = False
    induction: bool = False
    weights: bool = False

    def __post_init__(self) -> None:
        inputs.number("rows", self.rows, low=0)
        inputs.number("batch", self.batch, low=1)
        inputs.number("queries", self.queries, low=0)
        if self.tokens is not None:
            inputs.number("tokens", self.tokens, low=1)
        for bits in self.key_bits:
            inputs.number("key_bits", bits, low=1, high=16)
        self.beside()

    def generators(self, first: int, count: int) -> list[np.random.Generator]:
        """One for every text by its number: what is drawn from a text depends on no other text."""
        numbers = range(first, first + count)
        return [np.random.default_rng([self.seed, number]) for number in numbers]

    def beside(self) -> Asked:
        """What is asked beside the texts."""
        return Asked(self.needle, self.induction, self.weights, self.seed)


# By the stack of a layer and its number there.
Layers = dict[tuple[str, int], Gathered]
# Told after every layer: how many are done, of how many.
Progress = Callable[[int, int], None]


def audit(
    model: Any,
    texts: Any,
    *,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Audit:
    """What every head of `model` does on `texts`.

    `model`: a folder, a GGUF file, an installed package, a name in the local cache, or a
    transformers model (its tokenizer then goes to `tokenizer`). `texts`: a string or several, token
    numbers, or a mapping of the model's own arguments (images, audio). `options` are those of
    `AuditOptions`.
    """
    chosen = AuditOptions(**options)
    given = prepared(model, texts, tokenizer=tokenizer, limit=chosen.tokens, size=chosen.batch)
    model = given.model
    work = given.batches
    difference, depth = compared(model, work[0])
    tell = _counting(progress, depth * len(work))

    turning = rotation(model)
    layers: Layers = {}
    arrivals: list[Callable[[], None]] = []
    texts = 0
    for batch in work:
        rngs = chosen.generators(texts, batch.size)
        visit = visitor(batch, chosen, rngs, layers, turning)
        # The sums of the last batch come to the host with the wait that ends its pass.
        ending = partial(_send, layers, arrivals) if batch is work[-1] else None
        capture.run(model, batch.arguments, tell(visit), before_waiting=ending)
        texts += batch.size
    for arrival in arrivals:
        arrival()
    for place, found in beside_text(model, given.tokenizer, chosen.beside()).items():
        layers[place].beside = found

    return finished(
        layers,
        chosen,
        model=given.name,
        texts=texts,
        token_count=sum(batch.token_count for batch in work),
        difference=difference,
        fingerprint=fingerprint(work),
    )


def _send(layers: Layers, arrivals: list[Callable[[], None]]) -> None:
    arrivals.append(sent_to_host([gathered.tally for gathered in layers.values()]))


def finished(layers: Layers, chosen: AuditOptions, **about: Any) -> Audit:
    """The table of what was gathered; `about` is what it says about the model and the texts."""
    return Audit(
        cards=_all_cards(layers),
        key_noise=_key_noise(layers) if chosen.key_bits else None,
        passages=_passages(layers),
        **about,
    )


def compared(model: Any, batch: Batch) -> tuple[float, int]:
    """How far the tapped model is from the untouched one, and how many attention layers it has."""
    passed = []

    def visit(layer: Layer) -> Any:
        passed.append(layer.index)
        return output_only(layer)

    return preparation.difference(model, batch, visit), len(passed)


def _counting(progress: Progress | None, total: int) -> Callable[[capture.Visit], capture.Visit]:
    """Visits that tell `progress` of every layer when it is done."""
    done = 0

    def told(visit: capture.Visit) -> capture.Visit:
        def visit_and_tell(layer: Layer) -> Any:
            nonlocal done
            output = visit(layer)
            done += 1
            if progress is not None:
                progress(done, total)
            return output

        return visit_and_tell

    return told


def visitor(
    batch: Batch,
    options: AuditOptions,
    rngs: Sequence[np.random.Generator],
    layers: Layers,
    turning: Rotation | None = None,
) -> capture.Visit:
    """What is done at each layer of one batch; `layers` gathers it. `rngs` draw the sampled rows
    of each text, if any; `turning` is the model's rotation, if it has one."""
    equal_weights = EqualWeights()
    passages: dict[str, Passage] = {}

    def visit(layer: Layer) -> Any:
        gathered = layers.setdefault((layer.stack, layer.index), Gathered(keep_parts=options.parts))
        if options.queries and gathered.passage is None:
            if layer.stack not in passages:
                passages[layer.stack] = passage(batch, layer, options.queries)
            gathered.add_passage(layer, passages[layer.stack])
        outputs = []
        for b in range(batch.size):
            heads = layer.text(b)
            tokens = batch.tokens_of(layer, b)
            rows = stream(heads, tokens)
            gathered.tally.add(LayerRows(heads, tokens, rows))
            if turning is not None:
                gathered.energy.add(heads, tokens, turning)
            gathered.add_chance(equal_weights.of(tokens, heads))
            outputs.append(rows.output)
            if options.rows and rngs:
                sample = Sample.draw(heads, tokens, rngs[b], size=options.rows)
                gathered.add_sample(sample, options.key_bits)
        return torch.stack(outputs) if len(outputs) > 1 else outputs[0][None]

    return visit


def _all_cards(layers: Layers) -> tuple[Card, ...]:
    """All with the same measures: cross attention has no patterns, so they are NaN there."""
    found = measured([gathered.tally for gathered in layers.values()])
    cards = []
    for (place, gathered), one in zip(layers.items(), found, strict=True):
        cards += gathered.cards(*place, one)
    names = dict.fromkeys(name for card in cards for name in card.measures)
    whole = []
    for card in cards:
        measures = {name: card.measures.get(name, np.nan) for name in names}
        whole.append(replace(card, measures=measures))
    return tuple(whole)


def _key_noise(layers: Layers) -> key_noise.KeyNoise:
    errors = {place: gathered.errors for place, gathered in layers.items()}
    return key_noise.table(errors)


def _passages(layers: Layers) -> dict[str, Passage]:
    """By stack."""
    found = {stack: one.passage for (stack, _), one in layers.items()}
    return {stack: one for stack, one in found.items() if one is not None and one.queries}
