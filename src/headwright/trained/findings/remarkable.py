"""What stands out in a model, in at most five sentences, and its heads by how much they stand
out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.trained.cards import Card, columns, title
from headwright.trained.findings.candidates import candidates
from headwright.trained.findings.groups import FEWEST_ROWS, Candidate, beyond_chance, templates
from headwright.trained.findings.wording import number, share

MOST_SENTENCES = 5
_RECORDS_NAMED = 2


@dataclass(frozen=True)
class Finding:
    """A sentence, the heads it is about (strongest first) and the numbers it rests on."""

    sentence: str
    heads: tuple[Card, ...]
    numbers: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Finding {self.sentence}>"

    def plain(self) -> dict[str, Any]:
        names = [card.name for card in self.heads]
        return {"sentence": self.sentence, "heads": names, "numbers": self.numbers}


@dataclass(frozen=True)
class RemarkableHead:
    """A head with what it is (`why`), and how much it stands out."""

    card: Card
    why: str
    score: float


@dataclass(frozen=True)
class Remarkable:
    """The sentences, and all heads that stand out in some way, most remarkable first; then those
    that have more of some measure than any other."""

    findings: tuple[Finding, ...]
    heads: tuple[RemarkableHead, ...]

    def __repr__(self) -> str:
        return f"<Remarkable: {len(self.findings)} sentences, {len(self.heads)} heads>"


def remarkable(cards: Sequence[Card]) -> Remarkable:
    found = sorted(candidates(cards), key=lambda one: -one.score)
    shown = [Finding(one.sentence, one.heads, one.numbers) for one in found[:MOST_SENTENCES]]
    heads = _ranked(found)
    return Remarkable(tuple(shown) or (_nothing(cards),), (*heads, *_records(cards, heads)))


def _ranked(found: Sequence[Candidate]) -> tuple[RemarkableHead, ...]:
    scores: dict[tuple[str, int, int], float] = {}
    whys: dict[tuple[str, int, int], dict[str, None]] = {}
    by_place: dict[tuple[str, int, int], Card] = {}
    for one in found:
        for card, score in one.head_scores():
            by_place[card.place] = card
            scores[card.place] = max(score, scores.get(card.place, 0.0))
            whys.setdefault(card.place, {})[one.label] = None
    order = sorted(scores, key=lambda place: -scores[place])
    return tuple(
        RemarkableHead(by_place[place], ", ".join(whys[place]), scores[place]) for place in order
    )


def _records(cards: Sequence[Card], before: Sequence[RemarkableHead]) -> tuple[RemarkableHead, ...]:
    """Heads that hold the largest number of some measure, and are not among those `before`."""
    known = {one.card.place for one in before}
    holders: dict[tuple[str, int, int], list[str]] = {}
    by_place = {card.place: card for card in cards}
    for name in columns(cards):
        values = np.asarray([card.measures[name] for card in cards])
        if np.isfinite(values).any() and np.nanmax(values) > np.nanmin(values):
            best = cards[int(np.nanargmax(values))]
            holders.setdefault(best.place, []).append(title(name)[0])
    found = []
    for place, titles in holders.items():
        if place not in known:
            why = f"largest {', '.join(titles[:_RECORDS_NAMED])}"
            found.append(RemarkableHead(by_place[place], why, 0.0))
    return tuple(found)


def _nothing(cards: Sequence[Card]) -> Finding:
    """That little stands out, with the numbers that say so."""
    words = templates()["nothing"]
    rows = [chance.rows for card in cards for chance in card.chance.values()]
    if rows and max(rows) < FEWEST_ROWS:
        sentence = words["short"].format(rows=FEWEST_ROWS)
        return Finding(sentence, (), {"rows": max(rows), "rows_needed": FEWEST_ROWS})

    sentences = [words["text"].format(total=len(cards))]
    numbers: dict[str, Any] = {"of": len(cards)}
    heads: tuple[Card, ...] = ()
    spread = _spread(cards)
    if spread is not None:
        keys, seen = spread
        sentences.append(words["keys"].format(keys=number(keys), seen=number(seen)))
        numbers |= {"effective_keys": keys, "seen": seen}
    nearest = _nearest(cards)
    if nearest is not None:
        card, measure = nearest
        value = card.measures[measure]
        chance = card.chance[measure].value
        name, _ = title(measure)
        sentences.append(
            words["nearest"].format(
                best=card.name, value=share(value), title=name, chance=share(chance)
            )
        )
        numbers |= {"measure": measure, "strongest": value, "equal_weights": chance}
        heads = (card,)
    return Finding(" ".join(sentences), heads, numbers)


def _spread(cards: Sequence[Card]) -> tuple[float, float] | None:
    """Keys the median head spreads over, and keys a query sees, in the mean."""
    known = [card for card in cards if "effective_keys" in card.chance]
    if not known:
        return None
    keys = [card.measures["effective_keys"] for card in known]
    seen = [card.chance["effective_keys"].value for card in known]
    return float(np.median(keys)), float(np.mean(seen))


def _nearest(cards: Sequence[Card]) -> tuple[Card, str] | None:
    """The head and the pattern that come farthest beyond equal weights."""
    strongest = 0.0
    found = None
    for template in templates()["group"]:
        measure = template["measure"]
        for card in cards:
            strength = beyond_chance(card, measure) if measure in card.chance else math.nan
            if strength > strongest:
                strongest = strength
                found = (card, measure)
    return found
