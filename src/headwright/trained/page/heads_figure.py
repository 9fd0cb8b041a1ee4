"""One measure of all heads in one picture: a row per layer, a column per head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headwright.report import charts
from headwright.trained.cards import Card, title


def heads_figure(cards: Sequence[Card], measure: str) -> Any:
    """Layers of several stacks stand below each other and bear the name of their stack."""
    layers = list(dict.fromkeys((card.stack, card.layer) for card in cards))
    several = len({stack for stack, _ in layers}) > 1
    table = np.full((len(layers), 1 + max(card.head for card in cards)), np.nan)
    for card in cards:
        row = layers.index((card.stack, card.layer))
        table[row, card.head] = card.measures[measure]
    return charts.shades(
        table,
        title=title(measure)[0],
        across="head",
        down="layer",
        rows=[f"{stack} {layer}" if several else str(layer) for stack, layer in layers],
    )
