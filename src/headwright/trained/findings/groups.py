"""Heads of one kind: those whose measure goes far enough beyond what equal weights would give.

A candidate's score is its strength times its rarity; a head's own score, for the order of a table,
is its own strength times the rarity of what it is.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from headwright.trained.cards import Card, title
from headwright.trained.findings.wording import joined, layers_in_words, number, share

# A mean over fewer queries says nothing about a head.
FEWEST_ROWS = 16
_NAMED = 4


@dataclass(frozen=True)
class Candidate:
    """One thing that is true of these `heads`, strongest first. `strengths` are 0 to 1, one per
    head."""

    label: str
    sentence: str
    heads: tuple[Card, ...]
    numbers: dict[str, Any]
    strengths: tuple[float, ...]
    rarity: float

    @property
    def score(self) -> float:
        return self.strengths[0] * self._weight

    def head_scores(self) -> Iterator[tuple[Card, float]]:
        for card, strength in zip(self.heads, self.strengths, strict=True):
            yield card, strength * self._weight

    @property
    def _weight(self) -> float:
        # What all heads do is still half as remarkable as what one of them does.
        return 0.5 + 0.5 * self.rarity


@cache
def templates() -> dict[str, Any]:
    source = files("headwright.trained.findings") / "remarkable.toml"
    return tomllib.loads(source.read_text("utf-8"))


def beyond_chance(card: Card, measure: str) -> float:
    """How far the measure has gone from what equal weights give to 1; NaN where that cannot be
    said."""
    value = card.measures.get(measure, math.nan)
    chance = card.chance.get(measure)
    if chance is None:
        return value
    if chance.rows < FEWEST_ROWS or chance.value >= 1.0:
        return math.nan
    return (value - chance.value) / (1.0 - chance.value)


def rarity(count: int, total: int) -> float:
    """1 for one of many, 0 for all of them."""
    return 1.0 - math.log(count) / math.log(total) if total > 1 else 0.0


def group(
    template: dict[str, Any], cards: Sequence[Card], before: Sequence[Candidate]
) -> list[Candidate]:
    measure = template["measure"]
    left_out = places(before, template.get("but_not", ()))
    reached = []
    for card in cards:
        also = template.get("also", {}).items()
        too = all(card.measures.get(name, 0.0) >= least for name, least in also)
        strength = _strength(card, template)
        if strength >= template["at_least"] and too and card.place not in left_out:
            reached.append((min(strength, 1.0), card))
    if not reached:
        return _nearest(template, cards)
    if len(reached) > template.get("at_most", 1.0) * len(cards):
        return []
    if np.nanmedian([_strength(card, template) for card in cards]) > template.get("typical", 1.0):
        return []

    reached.sort(key=lambda pair: -pair[0])
    heads = tuple(card for _, card in reached)
    numbers = _group_numbers(measure, heads, cards)
    form = "one" if len(heads) == 1 else "some" if len(heads) <= _NAMED else "many"
    shown = number if template.get("score") else share
    sentence = template[form].format(
        count=len(heads),
        total=len(cards),
        heads=joined([card.name for card in heads[:_NAMED]]),
        values=joined([shown(card.measures[measure]) for card in heads[:_NAMED]]),
        best=heads[0].name,
        value=shown(heads[0].measures[measure]),
        chance=shown(_chance(heads[0], measure)),
        where=layers_in_words(heads, cards),
    )
    interest = template.get("interest", 1.0)
    strengths = tuple(interest * strength for strength, _ in reached)
    rare = rarity(len(heads), len(cards))
    return [Candidate(template["label"], sentence, heads, numbers, strengths, rare)]


def _strength(card: Card, template: dict[str, Any]) -> float:
    if not template.get("of_seen"):
        return beyond_chance(card, template["measure"])
    seen = card.chance.get("effective_keys")
    if seen is None or seen.rows < FEWEST_ROWS:
        return math.nan
    return card.measures["effective_keys"] / seen.value


def _chance(card: Card, measure: str) -> float:
    chance = card.chance.get(measure)
    return math.nan if chance is None else chance.value


def _nearest(template: dict[str, Any], cards: Sequence[Card]) -> list[Candidate]:
    """No head is of this kind; the one that comes nearest, if it comes half as far."""
    measure = template["measure"]
    strengths = np.asarray([_strength(card, template) for card in cards])
    if "none" not in template or not np.isfinite(strengths).any():
        return []
    best = cards[int(np.nanargmax(strengths))]
    strength = float(np.nanmax(strengths))
    if strength < template["at_least"] / 2:
        return []
    sentence = template["none"].format(
        best=best.name,
        value=share(best.measures[measure]),
        chance=share(_chance(best, measure)),
    )
    numbers = _group_numbers(measure, (best,), cards) | {"count": 0}
    label = f"most {title(measure)[0]}"
    return [Candidate(label, sentence, (best,), numbers, (strength / 2,), 1.0)]


def places(found: Sequence[Candidate], labels: Sequence[str]) -> set[tuple[str, int, int]]:
    chosen = [one for one in found if one.label in labels]
    return {card.place for one in chosen for card in one.heads}


def _group_numbers(measure: str, heads: Sequence[Card], cards: Sequence[Card]) -> dict[str, Any]:
    best = heads[0]
    numbers: dict[str, Any] = {
        "measure": measure,
        "count": len(heads),
        "of": len(cards),
        "strongest": best.measures[measure],
    }
    if measure in best.chance:
        numbers["equal_weights"] = best.chance[measure].value
    return numbers
