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
    """One layer's heads. Sums of each text, by the rows they are taken among, stay where the model
    runs until the end: a copy from there waits for all work before it."""

    texts: list[dict[str, Float[Array, "m h p"]]] = field(default_factory=list)

    def add(self, layer: LayerRows) -> None:
        """Take one text in."""
        sums = {among: _sums(layer, among) for among in _AMONG}
        self.texts.append(sums)

    def finish(self) -> dict[str, Float[np.ndarray, "h p"]]:
        """Each measure's mean on each part; NaN where a part has no row to measure it on."""
        if not self.texts:
            return {}
        found = {}
        for among, measures in _AMONG.items():
            texts = [to_numpy(text[among]).astype(float) for text in self.texts]
            *sums, counts = np.sum(texts, axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                means = [total / counts for total in sums]
            found |= dict(zip((one.name for one in measures), means, strict=True))
        return found


# The measures, by the rows they are taken among.
_AMONG = {
    among: [measure for measure in ROW_MEASURES if measure.among == among]
    for among in ("real", "contested")
}


def _sums(layer: LayerRows, among: str) -> Float[Array, "m h p"]:
    """Of each measure, and as the last one the number of rows."""
    xp = layer.xp
    chosen = layer.real if among == "real" else layer.contested
    leak = layer.rows.leak
    values = [xp.broadcast_to(one.value(layer), leak.shape) for one in _AMONG[among]]
    values.append(xp.ones_like(leak))
    return _by_part(xp, xp.where(chosen, xp.stack(values), 0.0))


def _by_part(xp: Any, rows: Float[Array, "m h t"]) -> Float[Array, "m h p"]:
    """Sums over each part of the text."""
    *before, t = rows.shape
    missing = -t % PARTS
    if missing:
        nothing = xp.zeros((*before, missing), dtype=rows.dtype, device=compat.device(rows))
        rows = xp.concat([rows, nothing], axis=-1)
    return xp.sum(xp.reshape(rows, (*before, PARTS, -1)), axis=-1)
