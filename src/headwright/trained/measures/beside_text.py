"""What is asked about the heads beside the caller's texts: made texts, and the weights alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.trained.measures.probes import passes
from headwright.trained.weights.circuits import KINDS, composition, copying
from headwright.trained.weights.projections import Projections, projections
from headwright.trained.weights.watching import Place
from headwright.types import Float


@dataclass
class BesideText:
    """Of one layer: numbers by measure and head, and for measures that name an earlier head, its
    name."""

    measures: dict[str, Float[np.ndarray, "h"]] = field(default_factory=dict)
    sources: dict[str, list[str | None]] = field(default_factory=dict)

    def sources_of(self, head: int) -> dict[str, str | None]:
        return {name: sources[head] for name, sources in self.sources.items()}


@dataclass(frozen=True)
class Asked:
    """`needle`: True, or a sentence of one's own, for the retrieval score; `induction`: the score
    on random tokens repeated; `weights`: copying and composition."""

    needle: str | bool = False
    induction: bool = False
    weights: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.needle, (str, bool)) or self.needle == "":
            raise InputError(
                wanted="a needle: True, or a sentence",
                got=repr(self.needle),
                attempt='needle="The code of the blue tower is 4711."',
            )


def beside_text(model: Any, tokenizer: Any, asked: Asked) -> dict[Place, BesideText]:
    """Layer by layer what was asked for; empty where nothing was."""
    layers: dict[Place, BesideText] = {}

    def keep(name: str, scores: Iterable[tuple[Place, np.ndarray]]) -> None:
        for place, values in scores:
            layers.setdefault(place, BesideText()).measures[name] = values

    if asked.needle is not False:
        own = asked.needle if isinstance(asked.needle, str) else None
        found = passes.retrieval(model, tokenizer, needle=own, seed=asked.seed)
        keep("retrieval", found.items())
    if asked.induction:
        found = passes.induction_random(model, seed=asked.seed)
        keep("induction_random", found.items())
    if asked.weights:
        matrices = projections(model)
        keep("copying", [(place, copying(layer)) for place, layer in matrices.items()])
        for stack in dict.fromkeys(stack for stack, _ in matrices):
            _add_composition(layers, matrices, stack)
    return layers


def _add_composition(
    layers: dict[Place, BesideText], matrices: dict[Place, Projections], stack: str
) -> None:
    """The strongest score of each head with a head of an earlier layer, and which head that is."""
    found = composition(matrices, stack)
    if found is None:
        return
    of_layer = np.asarray([layer for layer, _ in found.heads])
    for kind in KINDS:
        best, sources = found.strongest(kind)
        for index in dict.fromkeys(of_layer.tolist()):
            own = np.flatnonzero(of_layer == index)
            layer = layers[stack, index]
            layer.measures[f"composition_{kind}"] = best[own]
            layer.sources[f"composition_{kind}_from"] = [sources[i] for i in own]
