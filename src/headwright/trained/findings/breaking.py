"""Which heads break first when the keys are stored in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.trained.cache.key_noise import CacheSetting, KeyNoise
from headwright.trained.cards import Card
from headwright.trained.findings.wording import number

# The output error up to which a head is not broken, and how many heads are named.
BROKEN = 0.05
_NAMED = 8


@dataclass(frozen=True)
class BreakingHead:
    """`why` in words, from the numbers in `numbers`."""

    card: Card
    why: str
    numbers: dict[str, float | None]

    def plain(self) -> dict[str, Any]:
        return {"head": self.card.name, "why": self.why} | self.numbers


@dataclass(frozen=True)
class Breaking:
    """Heads that break first, and `measured_by` what."""

    heads: tuple[BreakingHead, ...]
    measured_by: str


def breaking_first(cards: Sequence[Card], noise: KeyNoise | None) -> Breaking:
    """By rounded keys where they were tried, else by the gain of small errors, else by how near the
    second key is."""
    if noise is not None:
        return _by_bits(cards, noise)
    for order, says, measured_by in _WITHOUT_BITS:
        known = [card for card in cards if np.isfinite(card.measures.get(order, math.nan))]
        if known:
            sign = -1.0 if order == "noise_gain" else 1.0
            known.sort(key=lambda card: sign * card.measures[order])
            heads = [_by_measures(card, says) for card in known[:_NAMED]]
            return Breaking(tuple(heads), measured_by)
    return Breaking((), "")


_WITHOUT_BITS = (
    (
        "noise_gain",
        "an error of 1% in its keys moves its output by {noise_gain}%; margin {margin}",
        "noise gain, for small errors in the keys",
    ),
    (
        "margin",
        "its top key leads by a logit of {margin}",
        "margin: the smallest lead breaks first",
    ),
)


def _by_measures(card: Card, says: str) -> BreakingHead:
    names = [name for name in ("noise_gain", "margin") if name in card.measures]
    numbers = {name: _known(card.measures[name]) for name in names}
    said = {name: number(card.measures[name]) for name in names}
    return BreakingHead(card, says.format(**said), numbers)


def _by_bits(cards: Sequence[Card], noise: KeyNoise) -> Breaking:
    """Heads that need the most bits come first; among them the larger error does."""
    offered = [setting for setting in noise.settings if setting.per == "channel"]
    offered.sort(key=lambda setting: setting.bits)
    most = offered[-1]
    needed = [_needed(offered, i) for i in range(len(cards))]

    def urgency(i: int) -> tuple[float, float]:
        bits = needed[i]
        return (-math.inf if bits is None else -bits), -float(most.predicted[i])

    order = sorted(range(len(cards)), key=urgency)[:_NAMED]
    heads = []
    for i in order:
        heads.append(
            BreakingHead(cards[i], _bits_in_words(needed[i], offered, i), _errors(offered, i))
        )
    measured_by = f"the bits per channel that keep the predicted output error at {BROKEN:.0%}"
    return Breaking(tuple(heads), measured_by)


def _needed(offered: Sequence[CacheSetting], i: int) -> int | None:
    """The fewest bits of those offered, which come in ascending order; the head's own, whatever the
    others need that read the same keys."""
    return next((one.bits for one in offered if one.predicted[i] <= BROKEN), None)


def _bits_in_words(needed: int | None, offered: Sequence[CacheSetting], i: int) -> str:
    errors = [f"{setting.predicted[i]:.1%} at {setting.bits}" for setting in offered]
    wants = f"needs more than {offered[-1].bits} bits" if needed is None else f"needs {needed} bits"
    return f"{wants} (error {', '.join(errors)})"


def _errors(offered: Sequence[CacheSetting], i: int) -> dict[str, float | None]:
    predicted = {f"predicted_{one.bits}": _known(one.predicted[i]) for one in offered}
    measured = {f"measured_{one.bits}": _known(one.measured[i]) for one in offered}
    return predicted | measured


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
