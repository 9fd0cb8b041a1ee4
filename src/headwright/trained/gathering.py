"""What is kept of one attention layer, text after text, and the cards of its heads at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.result import to_numpy
from headwright.trained.cache import quantise
from headwright.trained.cards import Card
from headwright.trained.heads import Layer
from headwright.trained.measures.beside_text import BesideText
from headwright.trained.measures.chance import Chance
from headwright.trained.measures.measured import Measured
from headwright.trained.measures.rotary import EnergyTally
from headwright.trained.measures.sampled import ROW_SAMPLED, Sample, mean_and_error, reachable
from headwright.trained.measures.tally import Tally
from headwright.trained.passage.looks import Heaviest, Passage, heaviest


@dataclass
class Gathered:
    """What is known of one layer so far: sums over rows, the sampled measures (each text's values
    by head and row), the squared errors of rounded keys, the energy of rotary pairs, what was
    measured beside the texts, whether the measures on parts of the texts are asked for, what equal
    weights would score, and where the queries of the passage look."""

    tally: Tally = field(default_factory=Tally)
    sampled: dict[str, list[np.ndarray]] = field(default_factory=dict)
    errors: list[quantise.SquaredErrors] = field(default_factory=list)
    energy: EnergyTally = field(default_factory=EnergyTally)
    beside: BesideText = field(default_factory=BesideText)
    keep_parts: bool = True
    chance: dict[str, Chance] = field(default_factory=dict)
    passage: Passage | None = None
    heaviest: Heaviest | None = None

    def add_chance(self, found: dict[str, Chance]) -> None:
        for name, one in found.items():
            before = self.chance.get(name)
            self.chance[name] = one if before is None else before.joined(one)

    def add_passage(self, layer: Layer, one: Passage) -> None:
        self.passage = one
        if one.queries:
            self.heaviest = heaviest(layer.text(0), np.asarray(one.queries))

    def add_sample(self, sample: Sample, key_bits: tuple[int, ...]) -> None:
        heads = range(sample.heads.q.shape[0])
        rows = [[sample.row(h, int(i)) for i in sample.rows] for h in heads]
        for name, measure in ROW_SAMPLED.items():
            values = [[measure(row) for row in one_head] for one_head in rows]
            self._add_sampled(name, values)

        # In cross attention there may be more queries than keys: any sample of the keys will do.
        per_key_head = [reachable(K, np.unique(sample.rows % len(K))) for K in sample.K]
        per_head = np.repeat(np.asarray(per_key_head), sample.heads.group, axis=0)
        self._add_sampled("reachable", per_head)

        if key_bits:
            few = [one_head[: quantise.KEY_ROWS] for one_head in rows]
            self.errors.append(quantise.squared_errors(sample, few, key_bits))

    def _add_sampled(self, name: str, values: Any) -> None:
        self.sampled.setdefault(name, []).append(np.asarray(values))

    def cards(self, stack: str, layer: int, measured: Measured) -> list[Card]:
        """One for each head; `measured` is what came of the tally."""
        measures = dict(measured.measures)
        parts = measured.parts if self.keep_parts else {}
        looks = None if self.heaviest is None else self.heaviest.looks()
        chance = dict(self.chance)
        errors = {}
        for name, texts in self.sampled.items():
            values = np.concatenate(texts, axis=1)
            measures[name], errors[name] = mean_and_error(values)
            chance[name] = Chance(np.nan, values.shape[1])

        measures |= self.energy.measures() | self.beside.measures
        energy = self.energy.per_pair()
        picture = self.tally.picture
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
                sources=self.beside.sources_of(head),
                parts={name: values[head] for name, values in parts.items()},
                chance=chance,
                looks=None if looks is None else looks[head],
            )
            cards.append(card)
        return cards


def _of_head(columns: dict[str, np.ndarray], head: int) -> dict[str, float]:
    return {name: float(values[head]) for name, values in columns.items()}
