"""The job: one text through one model, and everything that was gathered of its layers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from headwright.trained import capture
from headwright.trained.auditing import AuditOptions, Layers, compared, visitor
from headwright.trained.jobs.as_values import written
from headwright.trained.jobs.same_weights import insist_on
from headwright.trained.loading.load import load
from headwright.trained.measures.beside_text import beside_text
from headwright.trained.measures.rotary import rotation
from headwright.trained.preparation import prepared


def one_text(
    *, model: str, weights: str, text: str, number: int, options: dict[str, Any]
) -> dict[str, Any]:
    """`number` counts the texts from 0. With the first one comes what is said once for all: the
    difference to the untouched model, and what was asked beside the texts."""
    live, tokenizer = _loaded(model, weights)
    chosen = AuditOptions(**{**options, "key_bits": tuple(options["key_bits"])})
    given = prepared(live, [text], tokenizer=tokenizer, limit=chosen.tokens)
    (batch,) = given.batches
    layers: Layers = {}
    found: dict[str, Any] = {}
    if number == 0:
        found["difference"], _ = compared(given.model, batch)
    rngs = chosen.generators(number, 1)
    visit = visitor(batch, chosen, rngs, layers, rotation(given.model))
    capture.run(given.model, batch.arguments, visit)
    if number == 0:
        for place, beside in beside_text(given.model, tokenizer, chosen.beside()).items():
            layers[place].beside = beside
    found["layers"] = [[*place, written(gathered)] for place, gathered in layers.items()]
    found["token_count"] = batch.token_count
    found["arguments"] = written(batch.arguments)
    return found


@lru_cache(maxsize=1)
def _loaded(model: str, weights: str) -> Any:
    """Read once, for all texts that this process gets."""
    insist_on(model, weights)
    return load(model)
