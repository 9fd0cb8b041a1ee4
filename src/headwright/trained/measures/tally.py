"""From rows to one number per head: sums over texts, so that many texts cost no more memory than
one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headwright.result import to_numpy
from headwright.trained.measures.from_rows import LEAK, ROW_MEASURES, LayerRows, copy_parts
from headwright.types import Float


@dataclass
class Tally:
    """One layer's heads. `sums[name]` and `counts[name]` are (h,); a measure is their quotient."""

    sums: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, np.ndarray] = field(default_factory=dict)
    margins: list[Float[np.ndarray, "h r"]] = field(default_factory=list)
    similarity: list[Float[np.ndarray, "h h"]] = field(default_factory=list)
    picture: Float[np.ndarray, "h a b"] | None = None

    def add(self, layer: LayerRows) -> None:
        """Take one text in."""
        xp = layer.xp
        rows = layer.rows
        among = {"real": layer.real, "contested": layer.contested}
        counts = {name: xp.count_nonzero(chosen, axis=-1) for name, chosen in among.items()}

        for measure in ROW_MEASURES:
            kept = xp.where(among[measure.among], measure.value(layer), 0.0)
            self._more(measure.name, xp.sum(kept, axis=-1), counts[measure.among])
        for name, total in rows.patterns.items():
            self._more(name, total, layer.tokens.rows_with(name))
        self._more("copy", *copy_parts(layer))

        contested = to_numpy(layer.contested)
        margins = np.where(contested, to_numpy(rows.margin), np.nan)
        self.margins.append(margins)
        self.similarity.append(to_numpy(rows.similarity))
        if self.picture is None:
            self.picture = rows.picture

    def _more(self, name: str, total: object, count: object) -> None:
        totals = np.asarray(to_numpy(total), dtype=float)
        counts = np.asarray(to_numpy(count), dtype=float)
        self.sums[name] = self.sums.get(name, 0.0) + totals
        self.counts[name] = self.counts.get(name, 0.0) + np.broadcast_to(counts, totals.shape)

    def finish(self) -> dict[str, np.ndarray]:
        """The measures of every head, each (h,); NaN where the texts have no row to measure it
        on."""
        with np.errstate(invalid="ignore", divide="ignore"):
            out = {name: self.sums[name] / self.counts[name] for name in self.sums}
            out["copy"] = 1.0 - np.sqrt(out["copy"])
            margin = _median(np.concatenate(self.margins, axis=1))
            # A key that leads by Delta keeps 1 - eps of the weight iff n <= 1 + eps / (1 - eps)
            # e^Delta.
            out["horizon"] = 1.0 + LEAK / (1.0 - LEAK) * np.exp(margin)
        return out | self._most_alike()

    def _most_alike(self) -> dict[str, np.ndarray]:
        """Of each head the most similar other head of the layer, and how similar it is."""
        alike = np.mean(self.similarity, axis=0)
        if len(alike) == 1:
            return {"redundancy": np.full(1, np.nan), "twin": np.full(1, -1)}
        np.fill_diagonal(alike, -1.0)
        return {"redundancy": alike.max(axis=1), "twin": alike.argmax(axis=1)}


def _median(rows: Float[np.ndarray, "h r"]) -> Float[np.ndarray, "h"]:
    """Of each head's numbers that are there; NaN where none is."""
    known = [row[~np.isnan(row)] for row in rows]
    medians = [np.median(row) if row.size else np.nan for row in known]
    return np.asarray(medians)
