"""The audit: a model and texts in, one card per head out. Only wiring; every step has its own
file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.result import to_numpy
from headwright.trained import capture
from headwright.trained.batches import Batch
from headwright.trained.cache import key_noise, quantise
from headwright.trained.cards import Card
from headwright.trained.heads import Layer
from headwright.trained.library import torch
from headwright.trained.measures.beside_text import Asked, BesideText, beside_text
from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.rotary import EnergyTally, Rotation, rotation
from headwright.trained.measures.sampled import ROW_SAMPLED, Sample, mean_and_error, reachable
from headwright.trained.measures.tally import Tally
from headwright.trained.preparation import difference, opened, prepared
from headwright.trained.rows.stream import stream
from headwright.trained.table import Audit


@dataclass(frozen=True)
class AuditOptions:
    """What an audit does beside the measures of every row. `rows`: sampled rows per head, for the
    measures that are too slow for every row (0: leave these out); `key_bits`: bit widths of the
    key-cache table; `tokens`: read only so much of each text; `batch`: texts that go through the
    model together. `needle`, `induction` and `weights` are those of `Asked`."""

    rows: int = 8
    key_bits: tuple[int, ...] = ()
    tokens: int | None = None
    batch: int = 1
    seed: int = 0
    needle: str | bool = False
    induction: bool = False
    weights: bool = False

    def __post_init__(self) -> None:
        inputs.number("rows", self.rows, low=0)
        inputs.number("batch", self.batch, low=1)
        if self.tokens is not None:
            inputs.number("tokens", self.tokens, low=1)
        for bits in self.key_bits:
            inputs.number("key_bits", bits, low=1, high=16)
        self.beside()

    def beside(self) -> Asked:
        """What is asked beside the texts."""
        return Asked(self.needle, self.induction, self.weights, self.seed)


@dataclass
class _Gathered:
    """What is known of one layer so far: sums over rows, the sampled measures (each text's values
    by head and row), and the squared errors of rounded keys."""

    tally: Tally = field(default_factory=Tally)
    sampled: dict[str, list[np.ndarray]] = field(default_factory=dict)
    errors: list[quantise.SquaredErrors] = field(default_factory=list)
    energy: EnergyTally = field(default_factory=EnergyTally)
    beside: BesideText = field(default_factory=BesideText)

    def add_sampled(self, name: str, values: Any) -> None:
        self.sampled.setdefault(name, []).append(np.asarray(values))


# By the stack of a layer and its number there.
Layers = dict[tuple[str, int], _Gathered]
Progress = Callable[[Iterable[Any], str, int | None], Iterable[Any]]


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
    name, model, tokenizer = opened(model, tokenizer)
    _, model, work = prepared(
        model, texts, tokenizer=tokenizer, limit=chosen.tokens, size=chosen.batch
    )
    compared = difference(model, work[0])

    rng = np.random.default_rng(chosen.seed)
    turning = rotation(model)
    layers: Layers = {}
    for batch in progress(work, "texts", len(work)) if progress else work:
        capture.run(model, batch.arguments, visitor(batch, chosen, rng, layers, turning))
    for place, found in beside_text(model, tokenizer, chosen.beside()).items():
        layers[place].beside = found

    return Audit(
        model=name,
        texts=sum(batch.size for batch in work),
        tokens=sum(batch.token_count for batch in work),
        difference=compared,
        cards=_all_cards(layers),
        key_noise=_key_noise(layers) if chosen.key_bits else None,
    )


def visitor(
    batch: Batch,
    options: AuditOptions,
    rng: np.random.Generator | None,
    layers: Layers,
    turning: Rotation | None = None,
) -> capture.Visit:
    """What is done at each layer of one batch; `layers` gathers it. `rng` draws the sampled rows,
    if any; `turning` is the model's rotation, if it has one."""

    def visit(layer: Layer) -> Any:
        gathered = layers.setdefault((layer.stack, layer.index), _Gathered())
        outputs = []
        for b in range(batch.size):
            heads = layer.text(b)
            tokens = batch.tokens_of(layer, b)
            rows = stream(heads, tokens)
            gathered.tally.add(LayerRows(heads, tokens, rows))
            if turning is not None:
                gathered.energy.add(heads, tokens, turning)
            outputs.append(rows.output)
            if options.rows and rng is not None:
                sample = Sample.draw(heads, tokens, rng, size=options.rows)
                _add_sample(gathered, sample, options.key_bits)
        return torch.stack(outputs) if len(outputs) > 1 else outputs[0][None]

    return visit


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
    errors = {}
    for name, texts in gathered.sampled.items():
        values = np.concatenate(texts, axis=1)
        measures[name], errors[name] = mean_and_error(values)

    measures |= gathered.energy.measures() | gathered.beside.measures
    energy = gathered.energy.per_pair()
    stack, layer = place
    picture = gathered.tally.picture
    pictures = None if picture is None else to_numpy(picture)
    cards = []
    for head in range(len(measures["entropy"])):
        card = Card(
            stack=stack,
            layer=layer,
            head=head,
            measures=_of_head(measures, head),
            errors=_of_head(errors, head),
            picture=None if pictures is None else pictures[head],
            rotary_energy=None if energy is None else energy[head],
            sources=gathered.beside.sources_of(head),
        )
        cards.append(card)
    return cards


def _of_head(columns: dict[str, np.ndarray], head: int) -> dict[str, float]:
    return {name: float(values[head]) for name, values in columns.items()}


def _key_noise(layers: Layers) -> key_noise.KeyNoise:
    errors = {place: gathered.errors for place, gathered in layers.items()}
    return key_noise.table(errors)
