"""The templates of remarkable.toml held against the heads: every sentence whose condition holds,
with its heads and numbers.

One function per kind of template. A candidate's score is its strength times its rarity; a head's
own score, for the order of a table, is its own strength times the rarity of what it is.
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

from headwright.trained.cards import Card
from headwright.trained.findings.wording import joined, layers_in_words, number, share

# A mean over fewer queries says nothing about a head, and fewer heads have no typical one.
FEWEST_ROWS = 16
_FEWEST_HEADS = 16
_NAMED = 4
# A head that spreads over more than this part of the keys it sees weighs them nearly equally, as
# does every other such head.
_SPREAD = 0.25
# A head that rests on the first token more than this is like every other that does.
_RESTS = 0.25
# Standard errors by which a sampled measure must pass its mark.
_SURE = 2.0


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


def candidates(cards: Sequence[Card]) -> list[Candidate]:
    found: list[Candidate] = []
    for template in templates()["group"]:
        found += _group(template, cards, found)
    for kind, look in (("outlier", _outlier), ("alike", _alike), ("depth", _depth)):
        for template in templates()[kind]:
            found += look(template, cards, found)
    return found


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


def _rarity(count: int, total: int) -> float:
    """1 for one of many, 0 for all of them."""
    return 1.0 - math.log(count) / math.log(total) if total > 1 else 0.0


def _group(
    template: dict[str, Any], cards: Sequence[Card], before: Sequence[Candidate]
) -> list[Candidate]:
    measure = template["measure"]
    left_out = _places(before, template.get("but_not", ()))
    reached = []
    for card in cards:
        also = template.get("also", {}).items()
        too = all(card.measures.get(name, 0.0) >= least for name, least in also)
        strength = beyond_chance(card, measure)
        if strength >= template["at_least"] and too and card.place not in left_out:
            reached.append((min(strength, 1.0), card))
    if not reached or len(reached) > template.get("at_most", 1.0) * len(cards):
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
        where=layers_in_words(heads, cards),
    )
    strengths = tuple(strength for strength, _ in reached)
    rarity = _rarity(len(heads), len(cards))
    return [Candidate(template["label"], sentence, heads, numbers, strengths, rarity)]


def _places(found: Sequence[Candidate], labels: Sequence[str]) -> set[tuple[str, int, int]]:
    chosen = [one for one in found if one.label in labels]
    return {card.place for one in chosen for card in one.heads}


def _group_numbers(measure: str, heads: Sequence[Card], cards: Sequence[Card]) -> dict[str, Any]:
    best = heads[0]
    numbers = {
        "measure": measure,
        "count": len(heads),
        "of": len(cards),
        "strongest": best.measures[measure],
    }
    if measure in best.chance:
        numbers["equal_weights"] = best.chance[measure].value
    return numbers


def _outlier(
    template: dict[str, Any], cards: Sequence[Card], before: Sequence[Candidate]
) -> list[Candidate]:
    """The one head farthest from the median, if it is so many times as large, or so small a part of
    it, by more than its own sampling error."""
    measure = template["measure"]
    known = [card for card in cards if np.isfinite(card.measures.get(measure, math.nan))]
    if len(known) < _FEWEST_HEADS:
        return []
    values = np.asarray([card.measures[measure] for card in known])
    median = float(np.median(values))
    upward = "times" in template
    best = known[int(values.argmax() if upward else values.argmin())]
    value = best.measures[measure]
    slack = _SURE * np.nan_to_num(best.errors.get(measure, 0.0))
    passed = value - slack >= template.get("times", 0.0) * median
    if not upward:
        passed = value + slack <= template["below"] * median
    explained = best.place in _places(before, template.get("but_not", ()))
    if not passed or median <= 0.0 or explained:
        return []

    times = value / median
    # 1 at a hundred times the median, or a hundredth of it, on the scale of orders of magnitude
    distance = abs(math.log(max(times, 1e-2))) / math.log(100.0)
    strength = min(0.3 + 0.7 * distance, 1.0)
    sentence = template["one"].format(
        best=best.name, value=number(value), median=number(median), times=times
    )
    numbers = {"measure": measure, "value": value, "median": median}
    return [Candidate(template["label"], sentence, (best,), numbers, (strength,), 1.0)]


def _alike(
    template: dict[str, Any], cards: Sequence[Card], _: Sequence[Candidate]
) -> list[Candidate]:
    measure = template["measure"]
    by_place = {card.place: card for card in cards}
    pairs = {}
    for card in cards:
        twin = by_place.get((card.stack, card.layer, -1 if card.twin is None else card.twin))
        alike = card.measures.get(measure, 0.0)
        if twin is None or not alike >= template["at_least"]:
            continue
        if _looks_somewhere(card) and _looks_somewhere(twin):
            pair = tuple(sorted((card, twin), key=lambda one: one.place))
            pairs[pair[0].place, pair[1].place] = (alike, pair)
    if not pairs:
        return []

    closest = sorted(pairs.values(), key=lambda one: -one[0])
    alike, pair = closest[0]
    form = "one" if len(closest) == 1 else "many"
    names = joined([card.name for card in pair])
    sentence = template[form].format(count=len(closest), best=names, value=f"{alike:.2f}")
    heads = tuple(dict.fromkeys(card.place for _, both in closest for card in both))
    cosines = {card.place: value for value, both in reversed(closest) for card in both}
    numbers = {"measure": measure, "pairs": len(closest), "closest": alike}
    return [
        Candidate(
            label=template["label"],
            sentence=sentence,
            heads=tuple(by_place[place] for place in heads),
            numbers=numbers,
            strengths=tuple(_twin_strength(cosines[place], template) for place in heads),
            rarity=_rarity(len(heads), len(cards)),
        )
    ]


def _twin_strength(cosine: float, template: dict[str, Any]) -> float:
    """A half where the mark is just reached, 1 for the same weights."""
    return 1.0 - 0.5 * (1.0 - cosine) / (1.0 - template["at_least"])


def _looks_somewhere(card: Card) -> bool:
    """Neither at all keys nearly equally, nor at the first one alone: heads that do are all
    alike."""
    seen = card.chance.get("effective_keys")
    if seen is None or seen.rows < FEWEST_ROWS:
        return False
    spread = card.measures["effective_keys"] / seen.value
    return spread <= _SPREAD and beyond_chance(card, "first") < _RESTS


def _depth(
    template: dict[str, Any], cards: Sequence[Card], _: Sequence[Candidate]
) -> list[Candidate]:
    measure = template["measure"]
    layers = sorted({card.layer for card in cards})
    if len(layers) < 6 or len({card.stack for card in cards}) > 1:
        return []
    means = []
    for layer in layers:
        values = [card.measures.get(measure, math.nan) for card in cards if card.layer == layer]
        means.append(np.mean(values))
    third = len(layers) // 3
    first = float(np.mean(means[:third]))
    last = float(np.mean(means[-third:]))
    correlation = float(np.corrcoef(layers, means)[0, 1]) if np.ptp(means) > 0 else 0.0
    low, high = sorted((first, last))
    if not (abs(correlation) >= template["correlation"] and high >= template["times"] * low > 0):
        return []

    form = "falls" if correlation < 0 else "rises"
    sentence = template[form].format(first=number(first), last=number(last))
    numbers = {"measure": measure, "first": first, "last": last, "correlation": correlation}
    extreme = min(cards, key=lambda card: card.measures[measure])
    strength = abs(correlation) * min(1.0, math.log(high / low))
    return [Candidate(template["label"], sentence, (extreme,), numbers, (strength,), 0.5)]
