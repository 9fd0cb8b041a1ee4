"""The audit: a model and texts in, one card per head out. Only wiring; every step has its own file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained import capture
from headwright.trained.batches import Batch, batches
from headwright.trained.cache import quantise
from headwright.trained.capture import Layer
from headwright.trained.cards import Audit, Card
from headwright.trained.library import torch, transformers
from headwright.trained.loading.load import load
from headwright.trained.measures.from_rows import Look
from headwright.trained.measures.sampled import ROW_SAMPLED, Sample, mean_and_error, reachable
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.stream import stream

# Tokens on which the tapped model is compared with the untouched one.
_COMPARED = 48


@dataclass(frozen=True)
class Plan:
    """What an audit does beside the measures of every row. `rows`: sampled rows per head (0: none
    of the dear measures); `key_bits`: bit widths of the key-cache table; `tokens`: read only so
    much of each text; `batch`: texts that go through the model together."""

    rows: int = 8
    key_bits: tuple[int, ...] = ()
    tokens: int | None = None
    batch: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        inputs.number("rows", self.rows, low=0)
        inputs.number("batch", self.batch, low=1)
        if self.tokens is not None:
            inputs.number("tokens", self.tokens, low=1)
        for bits in self.key_bits:
            inputs.number("key_bits", bits, low=1, high=16)


@dataclass
class _Gathered:
    """What is known of one layer so far."""

    tally: Tally = field(default_factory=Tally)
    sampled: dict[str, list[np.ndarray]] = field(default_factory=dict)
    errors: list[Any] = field(default_factory=list)


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
    `Plan`.
    """
    plan = Plan(**options)
    name, model, work = prepared(
        model, texts, tokenizer=tokenizer, limit=plan.tokens, size=plan.batch
    )
    difference = capture.verify(model, beginning(work[0]), output_only)
    rng, layers = np.random.default_rng(plan.seed), {}
    for batch in progress(work, "texts", len(work)) if progress else work:
        capture.run(model, batch.words, visitor(batch, plan, rng, layers))
    cards = _alike([card for place, one in layers.items() for card in _cards(place, one)])
    return Audit(
        model=name, texts=sum(b.size for b in work), tokens=sum(b.tokens for b in work),
        difference=difference, cards=cards,
        key_noise=quantise.table({place: one.errors for place, one in layers.items()}) if plan.key_bits else None,
    )  # fmt: skip


def prepared(
    model: Any, texts: Any, *, tokenizer: Any = None, limit: int | None = None, size: int = 1
) -> tuple[str, Any, list[Batch]]:
    """The model's name, the model itself and the batches it will see."""
    name = type(model).__name__
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        name = str(model)
        model, own = load(name)
        tokenizer = tokenizer or own
    model = getattr(model, "base_model", model)  # the head on top has no attention and can be large
    if not isinstance(model, transformers.PreTrainedModel):
        raise InputError(
            wanted="a transformers model, or where one lies",
            got=type(model).__name__,
            attempt="pass a folder",
        )
    return name, model, list(batches(model, texts, tokenizer, size=size, limit=limit))


def output_only(layer: Layer) -> Any:
    batch = Batch({"q": layer.q})
    looks = [stream(layer.text(b), batch.marks(layer, b)) for b in range(layer.q.shape[0])]
    return torch.stack([look.output for look in looks])


def beginning(batch: Batch) -> dict[str, Any]:
    """The first tokens of the first text, for the comparison with the untouched model."""
    ids = "input_ids" in batch.words
    if not ids:
        return {name: x[:1] for name, x in batch.words.items()}
    words = {name: x[:1, :_COMPARED] if x.ndim == 2 else x[:1] for name, x in batch.words.items()}
    return {
        name: x
        for name, x in words.items()
        if not name.endswith("attention_mask") or not bool(x.all())
    }


def visitor(
    batch: Batch, plan: Plan, rng: np.random.Generator | None, layers: dict[Any, _Gathered]
) -> capture.Visit:
    """What is done at each layer of one batch; `layers` gathers it. `rng` draws the sampled rows,
    if any."""

    def visit(layer: Layer) -> Any:
        one = layers.setdefault((layer.stack, layer.index), _Gathered())
        outputs = []
        for b in range(batch.size):
            heads, marks = layer.text(b), batch.marks(layer, b)
            rows = stream(heads, marks)
            one.tally.add(Look(heads, marks, rows))
            outputs.append(rows.output)
            if plan.rows and rng is not None:
                _sample(one, Sample.draw(heads, marks, rng, size=plan.rows), plan)
        return torch.stack(outputs) if len(outputs) > 1 else outputs[0][None]

    return visit


def _sample(one: _Gathered, sample: Sample, plan: Plan) -> None:
    heads = range(sample.heads.q.shape[0])
    rows = [[sample.row(h, int(i)) for i in sample.rows] for h in heads]
    for name, measure in ROW_SAMPLED.items():
        values = np.asarray([[measure(row) for row in one_head] for one_head in rows])
        one.sampled.setdefault(name, []).append(values)
    # In cross attention there may be more queries than keys: any sample of the keys will do.
    hull = [reachable(K, np.unique(sample.rows % len(K))) for K in sample.K]
    one.sampled.setdefault("reachable", []).append(
        np.repeat(np.asarray(hull), sample.heads.group, axis=0)
    )
    if plan.key_bits:
        few = [one_head[: quantise.KEY_ROWS] for one_head in rows]
        one.errors.append(quantise.measured(sample, few, plan.key_bits))


def _cards(place: tuple[str, int], one: _Gathered) -> list[Card]:
    measures, errors = one.tally.finish(), {}
    for name, parts in one.sampled.items():
        measures[name], errors[name] = mean_and_error(np.concatenate(parts, axis=1))
    picture = one.tally.picture
    return [
        Card(
            *place, h, {name: float(x[h]) for name, x in measures.items()},
            {name: float(x[h]) for name, x in errors.items()}, None if picture is None else to_numpy(picture[h]),
        )
        for h in range(len(measures["entropy"]))
    ]  # fmt: skip


def _alike(cards: list[Card]) -> tuple[Card, ...]:
    """All cards with the same measures: cross attention has no patterns, so they are NaN there."""
    names = dict.fromkeys(name for card in cards for name in card.measures)
    return tuple(
        replace(card, measures={name: card.measures.get(name, np.nan) for name in names})
        for card in cards
    )
