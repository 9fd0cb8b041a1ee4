"""From rows to one number per head: sums over texts, so that many texts cost no more memory than
one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.measures.from_rows import LEAK, LayerRows, copy_parts, row_measures
from headwright.types import Array, Float


@dataclass
class Tally:
    """One layer's heads. A measure is the quotient of two sums over rows and texts; the sums of
    each text stay where the model runs until the end, since a copy from there waits for all work
    before it. They are two numbers per measure and head; the margins are one per head and row, and
    go to the host when the next text comes. `middle` is the median of the margins while there is
    one text."""

    names: tuple[str, ...] = ()
    texts: list[Float[Array, "2 m h"]] = field(default_factory=list)
    margins: list[Float[Array, "h r"]] = field(default_factory=list)
    middle: Float[Array, "h"] | None = None
    similarity: list[Float[Array, "h h"]] = field(default_factory=list)
    picture: Float[Array, "h a b"] | None = None

    def add(self, layer: LayerRows) -> None:
        """Take one text in."""
        xp = layer.xp
        rows = layer.rows
        found = _row_sums(layer) | _pattern_sums(layer) | {"copy": copy_parts(layer)}
        self.names = tuple(found)
        totals = xp.stack([total for total, _ in found.values()])
        counts = xp.stack([count for _, count in found.values()])
        self.texts.append(xp.stack([totals, counts]))

        self.margins = [to_numpy(earlier) for earlier in self.margins]
        self.margins.append(xp.where(layer.contested, rows.margin, xp.nan))
        self.middle = _median_there(self.margins)
        self.similarity.append(rows.similarity)
        if self.picture is None:
            self.picture = rows.picture

    def finish(self) -> dict[str, np.ndarray]:
        """The measures of every head, each (h,); NaN where the texts have no row to measure it
        on."""
        sums, alike, middle = _to_host([self.texts, self.similarity, [self.middle]])
        totals, counts = np.sum(sums, axis=0, dtype=float)
        with np.errstate(invalid="ignore", divide="ignore"):
            out = dict(zip(self.names, totals / counts, strict=True))
            out["copy"] = 1.0 - np.sqrt(out["copy"])
            margin = _median(self.margins) if self.middle is None else middle[0].astype(float)
            # A key that leads by Delta keeps 1 - eps of the weight iff n <= 1 + eps / (1 - eps)
            # e^Delta.
            out["horizon"] = 1.0 + LEAK / (1.0 - LEAK) * np.exp(margin)
        return out | _most_alike(np.mean(alike, axis=0))


def _to_host(groups: list[list[Array | None]]) -> list[list[np.ndarray]]:
    """Every array of every group, in one copy: each copy from a GPU waits for it."""
    known = [[one for one in group if one is not None] for group in groups]
    arrays = [one for group in known for one in group]
    xp = compat.array_namespace(*arrays)
    flat = to_numpy(xp.concat([xp.reshape(one, (-1,)) for one in arrays]))
    ends = np.cumsum([math.prod(one.shape) for one in arrays])
    parts = iter(np.split(flat, ends[:-1]))
    return [[next(parts).reshape(one.shape) for one in group] for group in known]


def _most_alike(alike: Float[np.ndarray, "h h"]) -> dict[str, np.ndarray]:
    """Of each head the most similar other head of the layer, and how similar it is."""
    if len(alike) == 1:
        return {"redundancy": np.full(1, np.nan), "twin": np.full(1, -1)}
    np.fill_diagonal(alike, -1.0)
    return {"redundancy": alike.max(axis=1), "twin": alike.argmax(axis=1)}


def _row_sums(layer: LayerRows) -> dict[str, tuple[Array, Array]]:
    """The row measures' sums over the rows each is taken among, and how many these are: (h,)."""
    xp = layer.xp
    shape = layer.rows.leak.shape
    sums = {}
    for among, chosen in {"real": layer.real, "contested": layer.contested}.items():
        measures = [measure for measure in row_measures(layer) if measure.among == among]
        # One selection and one sum for all of them.
        values = xp.stack([xp.broadcast_to(one.value(layer), shape) for one in measures])
        totals = xp.sum(xp.where(chosen, values, 0.0), axis=-1)
        count = xp.astype(xp.count_nonzero(chosen, axis=-1), totals.dtype)
        count = xp.broadcast_to(count, totals.shape[1:])
        for i, measure in enumerate(measures):
            sums[measure.name] = (totals[i, :], count)
    return {measure.name: sums[measure.name] for measure in row_measures(layer)}


def _pattern_sums(layer: LayerRows) -> dict[str, tuple[Array, Array]]:
    """The patterns' masses, and how many rows have them: (h,)."""
    sums = {}
    for name, total in layer.rows.patterns.items():
        rows = float(layer.tokens.rows_with(name))
        sums[name] = (total, layer.xp.full_like(total, rows))
    return sums


def _median_there(margins: list[Array]) -> Float[Array, "h"] | None:
    """The median of one text's margins, taken where the model runs; None where it is no GPU, or
    there are more texts."""
    alone = margins[0]
    if len(margins) > 1 or not compat.is_torch_array(alone) or alone.device.type == "cpu":
        return None
    # The middle number, or the mean of the two: torch gives the lower one.
    low = alone.nanmedian(dim=-1).values
    high = -(-alone).nanmedian(dim=-1).values
    return (low + high) / 2


def _median(margins: list[Array]) -> Float[np.ndarray, "h"]:
    """Of each head's numbers that are there; NaN where none is."""
    rows = np.concatenate([to_numpy(one) for one in margins], axis=1)
    known = [row[~np.isnan(row)] for row in rows]
    medians = [np.median(row) if row.size else np.nan for row in known]
    return np.asarray(medians)
