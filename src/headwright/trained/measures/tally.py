"""From rows to one number per head: sums over texts, so that many texts cost no more memory than
one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.measures.from_rows import LEAK, ROW_MEASURES, LayerRows, row_measures
from headwright.trained.measures.sums import COPY, row_sums, summed
from headwright.types import Array, Float


@dataclass
class Text:
    """What is kept of one text: the row measures' sums over its parts, the patterns' masses and how
    many rows have them, and how alike the heads are."""

    sums: Float[Array, "m h p"]
    masses: Float[Array, "k h"]
    rows_with: list[int]
    similarity: Float[Array, "h h"]


@dataclass
class Tally:
    """One layer's heads. A measure is the quotient of two sums over rows and texts; the sums of
    each text stay where the model runs until the end, since a copy from there waits for all work
    before it. The margins are one number per head and row, and go to the host when the next text
    comes. `middle` is the median of the margins of a single text, taken where the model runs."""

    among: dict[str, str] = field(default_factory=dict)
    summed: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    texts: list[Text] = field(default_factory=list)
    margins: list[Float[Array, "h t"]] = field(default_factory=list)
    middle: Float[Array, "h"] | None = None
    picture: Float[Array, "h a b"] | None = None

    def add(self, layer: LayerRows) -> None:
        """Take one text in."""
        rows = layer.rows
        self.among = {measure.name: measure.among for measure in row_measures(layer)}
        self.summed = summed(layer)
        self.patterns = tuple(rows.patterns)
        found = row_sums(layer)
        masses = [*rows.patterns.values(), layer.xp.zeros_like(rows.similarity[0, :])]
        rows_with = [layer.tokens.rows_with(name) for name in self.patterns]
        self.texts.append(Text(found.sums, layer.xp.stack(masses), rows_with, rows.similarity))
        self.margins = [to_numpy(earlier) for earlier in self.margins]
        self.margins.append(found.margins)
        if self.picture is None:
            self.picture = rows.picture

    def finish(self) -> dict[str, np.ndarray]:
        """The measures of every head, each (h,); NaN where the texts have no row to measure it
        on."""
        bring_to_host([self])
        totals = self._sums().sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            out = dict(zip(self.among, self._means(totals, list(self.among)), strict=True))
            masses = np.sum([text.masses for text in self.texts], axis=0, dtype=float)
            rows_with = np.sum([text.rows_with for text in self.texts], axis=0, dtype=float)
            for i, name in enumerate(self.patterns):
                out[name] = masses[i] / rows_with[i]
            copied, from_mean = totals[self._places(COPY)]
            out["copy"] = 1.0 - np.sqrt(copied / from_mean)
            margin = _median(self.margins) if self.middle is None else to_numpy(self.middle)
            # A key that leads by Delta keeps 1 - eps of the weight iff n <= 1 + eps / (1 - eps)
            # e^Delta.
            out["horizon"] = 1.0 + LEAK / (1.0 - LEAK) * np.exp(margin.astype(float))
        alike = np.mean([text.similarity for text in self.texts], axis=0)
        return out | _most_alike(alike)

    def parts(self) -> dict[str, Float[np.ndarray, "h p"]]:
        """Each measure's mean on each part of the texts; NaN where a part has no row to measure it
        on."""
        bring_to_host([self])
        names = [one.name for one in ROW_MEASURES]
        with np.errstate(invalid="ignore", divide="ignore"):
            return dict(zip(names, self._means(self._sums(), names), strict=True))

    def _sums(self) -> Float[np.ndarray, "m h p"]:
        """Over all texts, in the order of `summed`."""
        return np.sum([text.sums for text in self.texts], axis=0, dtype=float)

    def _means(self, sums: np.ndarray, names: list[str]) -> np.ndarray:
        """Of each measure: its sum over the number of rows it is taken among."""
        rows = [self.among[name] for name in names]
        return sums[self._places(names)] / sums[self._places(rows)]

    def _places(self, names: Iterable[str]) -> list[int]:
        return [self.summed.index(name) for name in names]


def bring_to_host(tallies: Iterable[Tally]) -> None:
    """All sums of several layers in one copy per device: each copy from a GPU waits for it."""
    waiting: dict[str, list[Tally]] = {}
    for tally in tallies:
        if not isinstance(tally.texts[-1].sums, np.ndarray):
            device = str(compat.device(tally.texts[-1].sums))
            waiting.setdefault(device, []).append(tally)

    for together in waiting.values():
        _take_medians(together)
        arrays = []
        for tally in together:
            for text in tally.texts:
                arrays += [text.sums, text.masses, text.similarity]
            if tally.middle is not None:
                arrays.append(tally.middle)
        host = iter(_copied(arrays))
        for tally in together:
            for text in tally.texts:
                text.sums = next(host)
                text.masses = next(host)
                text.similarity = next(host)
            if tally.middle is not None:
                tally.middle = next(host)


def _copied(arrays: list[Array]) -> list[np.ndarray]:
    """Every array on the host, in one copy."""
    xp = compat.array_namespace(*arrays)
    flat = to_numpy(xp.concat([xp.reshape(one, (-1,)) for one in arrays]))
    ends = np.cumsum([math.prod(one.shape) for one in arrays])
    parts = np.split(flat, ends[:-1])
    return [part.reshape(one.shape) for part, one in zip(parts, arrays, strict=True)]


def _take_medians(tallies: list[Tally]) -> None:
    """The median of a single text's margins, where the model runs on a GPU: for all layers of one
    shape at once, since a layer alone has too few heads to fill it."""
    alike: dict[tuple[int, ...], list[Tally]] = {}
    for tally in tallies:
        alone = tally.margins[0]
        on_gpu = compat.is_torch_array(alone) and alone.device.type != "cpu"
        if on_gpu and len(tally.margins) == 1:
            alike.setdefault(tuple(alone.shape), []).append(tally)
    for together in alike.values():
        xp = compat.array_namespace(together[0].margins[0])
        margins = xp.concat([tally.margins[0] for tally in together])
        # The middle number, or the mean of the two: torch gives the lower one.
        low = margins.nanmedian(dim=-1).values
        high = -(-margins).nanmedian(dim=-1).values
        middles = ((low + high) / 2).reshape(len(together), -1)
        for tally, middle in zip(together, middles, strict=True):
            tally.middle = middle


def _most_alike(alike: Float[np.ndarray, "h h"]) -> dict[str, np.ndarray]:
    """Of each head the most similar other head of the layer, and how similar it is."""
    if len(alike) == 1:
        return {"redundancy": np.full(1, np.nan), "twin": np.full(1, -1)}
    np.fill_diagonal(alike, -1.0)
    return {"redundancy": alike.max(axis=1), "twin": alike.argmax(axis=1)}


def _median(margins: list[Array]) -> Float[np.ndarray, "h"]:
    """Of each head's numbers that are there; NaN where none is."""
    rows = np.concatenate([to_numpy(one) for one in margins], axis=1)
    known = [row[~np.isnan(row)] for row in rows]
    medians = [np.median(row) if row.size else np.nan for row in known]
    return np.asarray(medians)
