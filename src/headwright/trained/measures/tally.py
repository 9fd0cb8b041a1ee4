"""What is kept of the rows: sums over texts, so that many texts cost no more memory than one. What
becomes of them is in `measured`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import array_api_compat as compat
import numpy as np

from headwright.result import to_numpy
from headwright.trained.measures.from_rows import LayerRows, row_measures
from headwright.trained.measures.sums import row_sums, summed
from headwright.types import Array, Float


@dataclass
class Text:
    """What is kept of one text: the row measures' sums over its parts, the patterns' masses and how
    many rows have them, and how alike the heads are."""

    sums: Float[Array, "m h p"]
    masses: Float[Array, "k h"]
    rows_with: list[int]
    similarity: Float[Array, "h h"]


# The arrays of a text.
_KEPT = ("sums", "masses", "similarity")


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
        masses = list(rows.patterns.values()) or [layer.xp.zeros_like(rows.similarity[0, :])]
        rows_with = [layer.tokens.rows_with(name) for name in self.patterns]
        self.texts.append(Text(found.sums, layer.xp.stack(masses), rows_with, rows.similarity))
        self.margins = [to_numpy(earlier) for earlier in self.margins]
        self.margins.append(found.margins)
        if self.picture is None:
            self.picture = rows.picture

    def arrays(self) -> list[Array]:
        """All that the measures are made of, in one order."""
        own = [getattr(text, name) for text in self.texts for name in _KEPT]
        return own if self.middle is None else [*own, self.middle]

    def replace_arrays(self, own: Iterable[Array]) -> None:
        """In the same order."""
        others = iter(own)
        for text in self.texts:
            for name in _KEPT:
                setattr(text, name, next(others))
        self.middle = next(others, None)

    def total(self, name: str) -> np.ndarray:
        """One of the arrays on the host, summed over all texts."""
        total, *others = (getattr(text, name).astype(float) for text in self.texts)
        for other in others:
            total += other
        return total

    def median_margin(self) -> Float[np.ndarray, "h"]:
        return _median(self.margins) if self.middle is None else to_numpy(self.middle)


def bring_to_host(tallies: Iterable[Tally]) -> None:
    """All sums of several layers, in one copy per device: each copy from a GPU waits for it."""
    arrival = sent_to_host(tallies)
    arrival()


def sent_to_host(tallies: Iterable[Tally]) -> Callable[[], None]:
    """What a device has to do for it is asked for now; the call of what is returned waits, and puts
    the sums in their places."""
    waiting: dict[str, list[Tally]] = {}
    for tally in tallies:
        if not isinstance(tally.texts[-1].sums, np.ndarray):
            device = str(compat.device(tally.texts[-1].sums))
            waiting.setdefault(device, []).append(tally)

    sent = []
    for together in waiting.values():
        _take_medians(together)
        sent.append((together, _in_one_array(together)))

    def arrival() -> None:
        for together, flat in sent:
            _put_in_place(together, to_numpy(flat))

    return arrival


def _in_one_array(tallies: list[Tally]) -> Float[Array, "x"]:
    arrays = [array for tally in tallies for array in tally.arrays()]
    xp = compat.array_namespace(*arrays)
    return xp.concat([xp.reshape(one, (-1,)) for one in arrays])


def _put_in_place(tallies: list[Tally], flat: Float[np.ndarray, "x"]) -> None:
    start = 0
    for tally in tallies:
        own = []
        for there in tally.arrays():
            stop = start + math.prod(there.shape)
            own.append(flat[start:stop].reshape(there.shape))
            start = stop
        tally.replace_arrays(own)


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


def _median(margins: list[Array]) -> Float[np.ndarray, "h"]:
    """Of each head's numbers that are there; NaN where none is."""
    rows = np.concatenate([to_numpy(one) for one in margins], axis=1)
    known = [row[~np.isnan(row)] for row in rows]
    medians = [np.median(row) if row.size else np.nan for row in known]
    return np.asarray(medians)
