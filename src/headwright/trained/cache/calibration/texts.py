"""What a model does on the calibration texts, kept text by text: a plan can be made from all of
them, or without some, which then are texts that it has not seen.

A prediction needs several (`decoded/unseen`): a single text is cut into halves for that, and each
half goes through the model as a text of its own, with a first token of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headwright.errors import InputError
from headwright.trained import capture
from headwright.trained.cache.calibration.directions import in_directions
from headwright.trained.cache.calibration.fisher import Fisher
from headwright.trained.cache.calibration.ranges import measured
from headwright.trained.cache.calibration.sensitivity import Sensitivity, mean_sensitivity
from headwright.trained.cache.calibration.signals import LayerSeen, Watch
from headwright.trained.cache.coding.channels import Channels, LayerChannels
from headwright.trained.cache.coding.turning import Turning
from headwright.types import Array

# Parts of a single text, and their least number of rounded tokens.
_HALVES = 2
_SHORTEST = 32

Pair = tuple[Sensitivity, Sensitivity]
Look = Callable[[list[Array], Sensitivity, int], Channels]
Progress = Callable[[Iterable[Any], str, int | None], Iterable[Any]]


def refuse_short(rows: Sequence[Array], keep_first: int) -> None:
    shortest = min(row.shape[1] for row in rows)
    if shortest < keep_first + 2:
        raise InputError(
            wanted=f"calibration texts of at least {keep_first + 2} tokens",
            got=f"one of {shortest}",
            attempt="a longer text, or a smaller --keep-first",
        )


def several(rows: list[Array], keep_first: int) -> list[Array]:
    """The texts (1, n), or the halves of a single one that is long enough."""
    if len(rows) > 1 or rows[0].shape[1] < _HALVES * (keep_first + _SHORTEST):
        return rows
    return list(rows[0].tensor_split(_HALVES, dim=1))


@dataclass(frozen=True)
class Calibration:
    """Keys and values of every layer, and the sensitivities by `[text][layer]`, in the unit of
    their signal."""

    layers: list[LayerSeen]
    sensitivities: list[list[Pair]]

    def channels(
        self, texts: Sequence[int], *, keep_first: int, sizes: Sequence[float]
    ) -> list[LayerChannels]:
        """What these texts say of the channels of the keys, and of the values where there are two
        `sizes`: what a sensitivity of one costs in nats."""
        return self._layers(measured, texts, keep_first, sizes)

    def directions(
        self, texts: Sequence[int], *, keep_first: int, sizes: Sequence[float]
    ) -> list[LayerChannels]:
        """The same of directions instead of channels."""
        return self._layers(in_directions, texts, keep_first, sizes)

    def _layers(
        self, look: Look, texts: Sequence[int], keep_first: int, sizes: Sequence[float]
    ) -> list[LayerChannels]:
        known = []
        for index, layer in enumerate(self.layers):
            kinds = zip((layer.keys, layer.values), sizes, strict=False)
            channels = []
            for kind, (numbers, size) in enumerate(kinds):
                own = [self.sensitivities[text][index][kind] for text in texts]
                sensitivity = mean_sensitivity(own).times(size)
                channels.append(look([numbers[t] for t in texts], sensitivity, keep_first))
            known.append(tuple(channels))
        return known


def calibrated(
    model: Any,
    rows: Sequence[Array],
    *,
    signal: str,
    turned: Turning,
    seed: int,
    progress: Progress | None,
) -> Calibration:
    """One pass over the texts, and a backward pass for the Fisher signal."""
    watch = Watch(turned)
    count = model.config.get_text_config().num_hidden_layers
    fisher = Fisher(count, turning=turned, seed=seed)
    for ids in progress(rows, "calibration", len(rows)) if progress else rows:
        capture.run(model.base_model, {"input_ids": ids}, watch.visit)
        if signal == "fisher":
            fisher.add(model, ids)
    if len(watch.layers) != count:
        raise capture.Refused(
            wanted="a cache of keys and values in every layer",
            got=f"{len(watch.layers)} attention layers of {count} in {type(model).__name__}",
            attempt="a model without linear attention or shared caches",
        )
    layers = [watch.layers[index] for index in range(count)]
    if signal == "fisher":
        return Calibration(layers, fisher.texts)
    return Calibration(layers, [[x.energies(text) for x in layers] for text in range(len(rows))])
