"""The weights of a design beside those of q = 0: the figure that a design draws of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright import attention
from headwright.report import style

SIZE = (6.4, 3.2)
MOST_KEYS = 24


def weights_figure(design: Any) -> Any:
    """Weights of q = 0 and of the designed queries, target keys first, then the strongest
    others."""
    shown = _shown(design)
    places = np.arange(len(shown))
    at_rest = attention.weights(logits_of(design, np.zeros(design.queries.shape[1])))
    wanted = design.target.dense(len(design.weights))[shown]
    inside = wanted > 0
    grey, blue, green = (style.ROLES[role] for role in ("muted", "query", "good"))
    with style.figure(*SIZE) as (drawing, axes):
        axes.bar(places - 0.2, at_rest[shown], 0.4, color=grey, label="q = 0")
        axes.bar(places + 0.2, design.weights[shown], 0.4, color=blue, label="designed")
        axes.scatter(
            places[inside],
            wanted[inside],
            marker="_",
            s=260,
            color=green,
            label="wanted",
            zorder=3,
        )
        title = f"{design.target}: {design.status}"
        axes.set(xlabel="key", ylabel="weight", title=title, ylim=(0, 1.05))
        axes.set_xticks(places, [str(i) for i in shown])
        axes.legend()
    return drawing


def logits_of(design: Any, queries: np.ndarray) -> np.ndarray:
    """The logits of these queries on the keys of the design."""
    want = design._wanted
    assert want is not None
    return attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)


def _shown(design: Any) -> np.ndarray:
    """The keys that a figure has room for."""
    target = design.target.support
    inside = list(target)[:MOST_KEYS]
    others = [int(i) for i in np.argsort(-design.weights) if i not in set(target)]
    room = max(0, MOST_KEYS - len(inside))
    return np.array([*inside, *others[:room]])
