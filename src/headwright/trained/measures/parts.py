"""The measures on parts of the texts. How far a measure differs from part to part says how far it
would differ on other text; two audits of the same texts are compared part by part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.measures.from_rows import ROW_MEASURES, LayerRows
from headwright.types import Array, Float

# Each text is cut into so many parts of equal length.
PARTS = 8


@dataclass
class Parts:
    """One layer's heads. Sums and counts of each text stay where the model runs until the end: a
    copy from there waits for all work before it."""

    texts: list[Float[Array, "2 m h p"]] = field(default_factory=list)

    def add(self, layer: LayerRows) -> None:
        """Take one text in."""
        xp = layer.xp
        among = {"real": layer.real, "contested": layer.contested}
        chosen = xp.stack([among[measure.among] for measure in ROW_MEASURES])
        shape = layer.rows.leak.shape
        values = xp.stack([xp.broadcast_to(one.value(layer), shape) for one in ROW_MEASURES])
        sums = xp.where(chosen, values, 0.0)
        counts = xp.astype(chosen, values.dtype)
        self.texts.append(_by_part(xp, xp.stack([sums, counts])))

    def finish(self) -> dict[str, Float[np.ndarray, "h p"]]:
        """Each measure's mean on each part; NaN where a part has no row to measure it on."""
        texts = [to_numpy(text).astype(float) for text in self.texts]
        sums, counts = np.sum(texts, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / counts
        names = [measure.name for measure in ROW_MEASURES]
        return dict(zip(names, means, strict=True))


def _by_part(xp: Any, rows: Float[Array, "2 m h t"]) -> Float[Array, "2 m h p"]:
    """Sums over each part of the text."""
    *before, t = rows.shape
    missing = -t % PARTS
    if missing:
        nothing = xp.zeros((*before, missing), dtype=rows.dtype, device=compat.device(rows))
        rows = xp.concat([rows, nothing], axis=-1)
    return xp.sum(xp.reshape(rows, (*before, PARTS, -1)), axis=-1)
