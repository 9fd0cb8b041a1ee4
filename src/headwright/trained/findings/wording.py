"""Numbers, names and places in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headwright.trained.cards import Card

# A range of layers is worth saying if it holds this part of the heads in this part of the layers.
_MOST = 0.75
_NARROW = 0.5
_FEWEST = 4


def share(value: float) -> str:
    """`93%`, `0.4%`; never 100 where something is missing."""
    if 0.0 < value < 0.01:
        return f"{100.0 * value:.1g}%"
    if not math.isfinite(value):
        return "-"
    whole = round(100.0 * value)
    return f"{99 if whole == 100 and value < 1.0 else whole}%"


def number(value: float) -> str:
    """Three digits: 0.0123, 1.25, 310, 12,300, 1.2e+07."""
    size = abs(value)
    if not math.isfinite(value) or size == 0.0:
        return f"{value:g}"
    if size >= 1e6 or size < 1e-3:
        return f"{value:.1e}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    return f"{value:,.{digits}f}"


def joined(parts: Sequence[str]) -> str:
    """`a, b and c`"""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def layers_in_words(heads: Sequence[Card], cards: Sequence[Card]) -> str:
    """`, all in layer 3` or `, 61 of them in layers 3 to 20`; nothing where they are everywhere."""
    if len({card.stack for card in cards}) > 1 or len(heads) < _FEWEST:
        return ""
    layers = sorted(card.layer for card in heads)
    depth = max(card.layer for card in cards) + 1
    if depth == 1:
        return ""
    if layers[0] == layers[-1]:
        return f", all in layer {layers[0]}"

    wanted = math.ceil(_MOST * len(layers))
    ranges = [(layers[i], layers[i + wanted - 1]) for i in range(len(layers) - wanted + 1)]
    low, high = min(ranges, key=lambda one: one[1] - one[0])
    if high - low + 1 > _NARROW * depth:
        return ""
    inside = sum(low <= layer <= high for layer in layers)
    amount = "all" if inside == len(layers) else f"{inside} of them"
    place = f"layer {low}" if low == high else f"layers {low} to {high}"
    return f", {amount} in {place}"
