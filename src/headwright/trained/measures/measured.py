"""From sums over rows to one number per head. Layers of one kind are worked on together: one by one
they take some 0.1 ms each, for which a GPU's pass would wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.trained.measures.from_rows import LEAK, ROW_MEASURES
from headwright.trained.measures.sums import COPY
from headwright.trained.measures.tally import Tally, bring_to_host
from headwright.types import Float


@dataclass(frozen=True)
class Measured:
    """One layer: the measures of every head, and those of the rows on each part of the texts; NaN
    where there is no row to measure them on."""

    measures: dict[str, Float[np.ndarray, "h"]]
    parts: dict[str, Float[np.ndarray, "h p"]]


def measured(tallies: Sequence[Tally]) -> list[Measured]:
    """Of each layer, in the given order."""
    bring_to_host(tallies)
    kinds: dict[tuple, list[int]] = {}
    for place, tally in enumerate(tallies):
        kind = (tally.summed, tally.patterns, tally.texts[0].sums.shape)
        kinds.setdefault(kind, []).append(place)
    found: dict[int, Measured] = {}
    for places in kinds.values():
        layers = [tallies[place] for place in places]
        found |= zip(places, _of_one_kind(layers), strict=True)
    return [found[place] for place in range(len(tallies))]


def _of_one_kind(layers: list[Tally]) -> list[Measured]:
    alike = layers[0]
    sums = np.stack([layer.total("sums") for layer in layers], axis=1)  # (m, l, h, p)
    masses = np.stack([layer.total("masses") for layer in layers], axis=1)  # (k, l, h)
    similarity = np.stack([layer.total("similarity") / len(layer.texts) for layer in layers])
    margin = np.stack([layer.median_margin() for layer in layers]).astype(float)

    totals = sums @ np.ones(sums.shape[-1])  # over the parts; `sum` is slow along short axes
    with np.errstate(invalid="ignore", divide="ignore"):
        measures = _means(alike, totals, alike.among)
        parts = _means(alike, sums, [one.name for one in ROW_MEASURES])
        for i, name in enumerate(alike.patterns):
            rows_with = [sum(text.rows_with[i] for text in layer.texts) for layer in layers]
            measures[name] = masses[i] / np.asarray(rows_with, dtype=float)[:, None]
        copied, from_mean = totals[[alike.summed.index(name) for name in COPY]]
        measures["copy"] = 1.0 - np.sqrt(copied / from_mean)
        # A key that leads by Delta keeps 1 - eps of the weight iff n <= 1 + eps / (1 - eps)
        # e^Delta.
        measures["horizon"] = 1.0 + LEAK / (1.0 - LEAK) * np.exp(margin)
    measures |= _most_alike(similarity)
    return [
        Measured(_of_layer(measures, place), _of_layer(parts, place))
        for place in range(len(layers))
    ]


def _means(tally: Tally, sums: np.ndarray, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Of each measure: its sum over the number of rows it is taken among."""
    at = {name: place for place, name in enumerate(tally.summed)}
    return {name: sums[at[name]] / sums[at[tally.among[name]]] for name in names}


def _most_alike(similarity: Float[np.ndarray, "l h h"]) -> dict[str, np.ndarray]:
    """Of each head the most similar other head of the layer, and how similar it is."""
    layers, heads, _ = similarity.shape
    if heads == 1:
        return {"redundancy": np.full((layers, 1), np.nan), "twin": np.full((layers, 1), -1)}
    itself = np.arange(heads)
    similarity[:, itself, itself] = -1.0
    return {"redundancy": similarity.max(axis=-1), "twin": similarity.argmax(axis=-1)}


def _of_layer(columns: dict[str, np.ndarray], place: int) -> dict[str, np.ndarray]:
    return {name: values[place] for name, values in columns.items()}
