"""The templates of remarkable.toml held against the heads: every sentence whose condition holds,
with its heads and numbers. One function per kind of template; groups have a file of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from headwright.trained.cards import Card
from headwright.trained.findings.groups import (
    FEWEST_ROWS,
    Candidate,
    beyond_chance,
    group,
    places,
    rarity,
    templates,
)
from headwright.trained.findings.wording import joined, number

# Fewer heads have no typical one.
_FEWEST_HEADS = 16
# A head that spreads over more than this part of the keys it sees weighs them nearly equally, as
# does every other such head.
_SPREAD = 0.25
# A head that rests on the first token more than this is like every other that does.
_RESTS = 0.25
# Standard errors by which a sampled measure must pass its mark.
_SURE = 2.0


def candidates(cards: Sequence[Card]) -> list[Candidate]:
    found: list[Candidate] = []
    for template in templates()["group"]:
        found += group(template, cards, found)
    for kind, look in (("outlier", _outlier), ("alike", _alike), ("depth", _depth)):
        for template in templates()[kind]:
            found += look(template, cards, found)
    return found


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
    explained = best.place in places(before, template.get("but_not", ()))
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
            rarity=rarity(len(heads), len(cards)),
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
