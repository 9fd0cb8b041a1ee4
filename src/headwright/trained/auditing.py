"""The audit: a model and texts in, one card per head out. Only wiring; every step has its own
file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.result import to_numpy
from headwright.trained import capture
from headwright.trained.batches import Batch, fingerprint
from headwright.trained.cache import key_noise, quantise
from headwright.trained.cards import Card
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.measures.chance import Chance, EqualWeights
from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.parts import Parts
from headwright.trained.measures.sampled import ROW_SAMPLED, Sample, mean_and_error, reachable
from headwright.trained.measures.tally import Tally
from headwright.trained.passage.looks import Heaviest, Passage, heaviest
from headwright.trained.passage.taking import passage
from headwright.trained.preparation import difference, output_only, prepared
from headwright.trained.rows.stream import stream
from headwright.trained.table import Audit


@dataclass(frozen=True)
class AuditOptions:
    """What an audit does beside the measures of every row. `rows`: sampled rows per head, for the
    measures that are too slow for every row (0: leave these out); `key_bits`: bit widths of the
    key-cache table; `tokens`: read only so much of each text; `batch`: texts that go through the
    model together; `queries`: tokens of the first text whose heaviest keys are kept (0: none);
    `parts`: keep the measures on parts of the texts, which two audits are compared by."""

    rows: int = 8
    key_bits: tuple[int, ...] = ()
    tokens: int | None = None
    batch: int = 1
    queries: int = 24
    parts: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        inputs.number("rows", self.rows, low=0)
        inputs.number("batch", self.batch, low=1)
        inputs.number("queries", self.queries, low=0)
        if self.tokens is not None:
            inputs.number("tokens", self.tokens, low=1)
        for bits in self.key_bits:
            inputs.number("key_bits", bits, low=1, high=16)


@dataclass
class _Gathered:
    """What is known of one layer so far: sums over rows, the sampled measures (each text's values
    by head and row), the squared errors of rounded keys, the measures on parts of the texts, what
    equal weights would score, and where the queries of the passage look."""

    tally: Tally = field(default_factory=Tally)
    sampled: dict[str, list[np.ndarray]] = field(default_factory=dict)
    errors: list[quantise.SquaredErrors] = field(default_factory=list)
    parts: Parts = field(default_factory=Parts)
    chance: dict[str, Chance] = field(default_factory=dict)
    passage: Passage | None = None
    heaviest: Heaviest | None = None

    def add_sampled(self, name: str, values: Any) -> None:
        self.sampled.setdefault(name, []).append(np.asarray(values))

    def add_chance(self, found: dict[str, Chance]) -> None:
        for name, one in found.items():
            before = self.chance.get(name)
            self.chance[name] = one if before is None else before.joined(one)


# By the stack of a layer and its number there.
Layers = dict[tuple[str, int], _Gathered]
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
    name, model, work = prepared(
        model, texts, tokenizer=tokenizer, limit=chosen.tokens, size=chosen.batch
    )
    compared, depth = _compared(model, work[0])
    tell = _counting(progress, depth * len(work))

    rng = np.random.default_rng(chosen.seed)
    layers: Layers = {}
    for batch in work:
        capture.run(model, batch.arguments, tell(visitor(batch, chosen, rng, layers)))

    return Audit(
        model=name,
        texts=sum(batch.size for batch in work),
        token_count=sum(batch.token_count for batch in work),
        difference=compared,
        cards=_all_cards(layers),
        key_noise=_key_noise(layers) if chosen.key_bits else None,
        passages=_passages(layers),
        fingerprint=fingerprint(work),
    )


def _compared(model: Any, batch: Batch) -> tuple[float, int]:
    """How far the tapped model is from the untouched one, and how many attention layers it has."""
    passed = []

    def visit(layer: Layer) -> Any:
        passed.append(layer.index)
        return output_only(layer)

    return difference(model, batch, visit), len(passed)


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
    batch: Batch, options: AuditOptions, rng: np.random.Generator | None, layers: Layers
) -> capture.Visit:
    """What is done at each layer of one batch; `layers` gathers it. `rng` draws the sampled rows,
    if any."""
    equal_weights = EqualWeights()
    passages: dict[str, Passage] = {}

    def visit(layer: Layer) -> Any:
        gathered = layers.setdefault((layer.stack, layer.index), _Gathered())
        if options.queries and gathered.passage is None:
            if layer.stack not in passages:
                passages[layer.stack] = passage(batch, layer, options.queries)
            _add_passage(gathered, layer, passages[layer.stack])
        outputs = []
        for b in range(batch.size):
            heads = layer.text(b)
            tokens = batch.tokens_of(layer, b)
            rows = stream(heads, tokens)
            measured = LayerRows(heads, tokens, rows)
            gathered.tally.add(measured)
            if options.parts:
                gathered.parts.add(measured)
            gathered.add_chance(equal_weights.of(tokens, heads))
            outputs.append(rows.output)
            if options.rows and rng is not None:
                sample = Sample.draw(heads, tokens, rng, size=options.rows)
                _add_sample(gathered, sample, options.key_bits)
        return torch.stack(outputs) if len(outputs) > 1 else outputs[0][None]

    return visit


def _add_passage(gathered: _Gathered, layer: Layer, one: Passage) -> None:
    gathered.passage = one
    if one.queries:
        gathered.heaviest = heaviest(layer.text(0), np.asarray(one.queries))


def _add_sample(gathered: _Gathered, sample: Sample, key_bits: tuple[int, ...]) -> None:
    heads = range(sample.heads.q.shape[0])
    rows = [[sample.row(h, int(i)) for i in sample.rows] for h in heads]
    for name, measure in ROW_SAMPLED.items():
        values = [[measure(row) for row in one_head] for one_head in rows]
        gathered.add_sampled(name, values)

    # In cross attention there may be more queries than keys: any sample of the keys will do.
    per_key_head = [reachable(K, np.unique(sample.rows % len(K))) for K in sample.K]
    per_head = np.repeat(np.asarray(per_key_head), sample.heads.group, axis=0)
    gathered.add_sampled("reachable", per_head)

    if key_bits:
        few = [one_head[: quantise.KEY_ROWS] for one_head in rows]
        gathered.errors.append(quantise.squared_errors(sample, few, key_bits))


def _all_cards(layers: Layers) -> tuple[Card, ...]:
    """All with the same measures: cross attention has no patterns, so they are NaN there."""
    cards = [card for place, gathered in layers.items() for card in _cards(place, gathered)]
    names = dict.fromkeys(name for card in cards for name in card.measures)
    whole = []
    for card in cards:
        measures = {name: card.measures.get(name, np.nan) for name in names}
        whole.append(replace(card, measures=measures))
    return tuple(whole)


def _cards(place: tuple[str, int], gathered: _Gathered) -> list[Card]:
    measures = gathered.tally.finish()
    parts = gathered.parts.finish()
    looks = None if gathered.heaviest is None else gathered.heaviest.looks()
    chance = dict(gathered.chance)
    errors = {}
    for name, texts in gathered.sampled.items():
        values = np.concatenate(texts, axis=1)
        measures[name], errors[name] = mean_and_error(values)
        chance[name] = Chance(np.nan, values.shape[1])

    stack, layer = place
    picture = gathered.tally.picture
    cards = []
    for head in range(len(measures["entropy"])):
        card = Card(
            stack=stack,
            layer=layer,
            head=head,
            measures=_of_head(measures, head),
            errors=_of_head(errors, head),
            picture=None if picture is None else to_numpy(picture[head]),
            parts={name: values[head] for name, values in parts.items()},
            chance=chance,
            looks=None if looks is None else looks[head],
        )
        cards.append(card)
    return cards


def _of_head(columns: dict[str, np.ndarray], head: int) -> dict[str, float]:
    return {name: float(values[head]) for name, values in columns.items()}


def _key_noise(layers: Layers) -> key_noise.KeyNoise:
    errors = {place: gathered.errors for place, gathered in layers.items()}
    return key_noise.table(errors)


def _passages(layers: Layers) -> dict[str, Passage]:
    """By stack."""
    found = {stack: one.passage for (stack, _), one in layers.items()}
    return {stack: one for stack, one in found.items() if one is not None and one.queries}
