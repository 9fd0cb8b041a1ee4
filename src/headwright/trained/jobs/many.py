"""Every model on every text: one job each, put together in order.

What is kept of a text is a list with one entry per text, or said by the first text alone; so what
several texts gave is their lists in a row, and the numbers are those of one audit of all texts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any

from headwright import crew
from headwright.crew.store.record import Store
from headwright.errors import HeadwrightError
from headwright.trained.auditing import AuditOptions, Layers, finished
from headwright.trained.batches import Batch, fingerprint
from headwright.trained.gathering import Gathered
from headwright.trained.jobs.as_values import read
from headwright.trained.jobs.same_weights import weights_digest
from headwright.trained.table import Audit

JOB = "headwright.trained.jobs.one_text:one_text"


def audits(
    models: Sequence[str],
    texts: Sequence[str],
    *,
    executor: Executor,
    store: Store | None = None,
    watch: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    **options: Any,
) -> Iterator[Audit]:
    """The audit of each model on all texts, in the order of the models. `watch` sees the outcomes
    as they come; `options` are those of `AuditOptions`."""
    chosen = AuditOptions(**options)
    # Every text is read alone.
    asked = dataclasses.asdict(dataclasses.replace(chosen, batch=1))
    points = _points(models, texts, asked)
    # Failed jobs are tried again: their reason may have been the machine.
    outcomes = iter(watch(crew.run(JOB, points, executor=executor, store=store, retry=True)))
    for model in models:
        yield _put_together(model, [_value(next(outcomes)) for _ in texts], chosen)


def _points(
    models: Sequence[str], texts: Sequence[str], asked: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for model in models:
        weights = weights_digest(model)
        for number, text in enumerate(texts):
            # Where queries look is shown of the first text only.
            options = asked if number == 0 else {**asked, "queries": 0}
            yield {
                "model": model,
                "weights": weights,
                "text": text,
                "number": number,
                "options": options,
            }


def _value(outcome: crew.Outcome) -> Any:
    if outcome.error:
        kind, _, words = outcome.error.partition(": ")
        raise HeadwrightError(words if kind == "InputError" else outcome.error)
    return outcome.value


def _put_together(model: str, found: list[dict[str, Any]], chosen: AuditOptions) -> Audit:
    layers: Layers = {}
    for one in found:
        for stack, number, plain in one["layers"]:
            gathered = read(plain)
            if (stack, number) in layers:
                join(layers[stack, number], gathered)
            else:
                layers[stack, number] = gathered
    return finished(
        layers,
        chosen,
        model=model,
        texts=len(found),
        token_count=sum(one["token_count"] for one in found),
        difference=found[0]["difference"],
        fingerprint=fingerprint([Batch(read(one["arguments"])) for one in found]),
    )


def join(first: Gathered, later: Gathered) -> None:
    """Take in what later texts gave, as if they had been read here."""
    first.add_chance(later.chance)
    for name, texts in later.sampled.items():
        first.sampled.setdefault(name, []).extend(texts)
    _extend(first, later)
    first.tally.middle = None  # the median of a single text's margins


def _extend(mine: Any, theirs: Any) -> None:
    """The lists of a dataclass, and of the dataclasses in it, by those of another."""
    for one in dataclasses.fields(mine):
        own = getattr(mine, one.name)
        other = getattr(theirs, one.name)
        if isinstance(own, list):
            own.extend(other)
        elif dataclasses.is_dataclass(own) and other is not None:
            _extend(own, other)
