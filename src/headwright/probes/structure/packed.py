"""Several documents in one text: does a token see those of another document?

The layer is told the borders: by the number of each token's document, or by positions that start
again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import DOCUMENTS, POSITIONS, Options
from headwright.probes.structure.visible.found import Found, found
from headwright.probes.structure.visible.picture import Picture, picture
from headwright.probes.structure.visible.scenes import scenes, sizes_of
from headwright.probes.structure.visible.shapes import CAUSAL, Documents
from headwright.probes.structure.visible.witness import Wrong, first_wrong

# Of the documents in each text of a batch: other borders in each.
_LENGTHS = (((3, 3), (2, 4)), ((2, 4, 3), (5, 4)))


def tells_documents(exam: Examination) -> str:
    """How the layer is told: "documents", "positions", or not at all."""
    takes = exam.layer.takes
    return next((way for way in (DOCUMENTS, POSITIONS) if way in takes), "")


def packed_pictures(exam: Examination, way: str) -> Iterator[tuple[Picture, Documents]]:
    """What is seen of packed documents, text by text, and what should be: causal inside where it
    is."""
    for texts in _LENGTHS:
        tokens = sum(texts[0])
        sizes = sizes_of(exam, tokens, batch=len(texts))
        options = _told(way, texts)
        one = picture(exam, sizes, scenes(exam, sizes, range(tokens)), options)
        for text, lengths in enumerate(texts):
            alone = one.part(text=text)
            borders = tuple(int(b) for b in np.cumsum(lengths)[:-1])
            inside = Documents(borders, causal=False).matrix(tokens, tokens)
            future = inside & ~CAUSAL.matrix(tokens, tokens)
            causal = not (alone.any_moved & future).any()
            yield alone, Documents(borders, causal)


def _told(way: str, texts: tuple[tuple[int, ...], ...]) -> Options:
    if way == DOCUMENTS:
        numbers = [np.repeat(np.arange(len(lengths)), lengths) for lengths in texts]
        return Options(documents=np.stack(numbers))
    starting = [np.concatenate([np.arange(n) for n in lengths]) for lengths in texts]
    return Options(positions=np.stack(starting))


def wrong_with_documents(exam: Examination) -> tuple[Wrong | None, str]:
    """The smallest pair across a border, and how the layer was told of it."""
    way = tells_documents(exam)
    if not way:
        return _by_its_own_borders(found(exam)), "its own borders"
    for one, expected in packed_pictures(exam, way):
        wrong = first_wrong([one], expected.matrix)
        if wrong is not None:
            return wrong, way
    return None, way


def _by_its_own_borders(seen: Found) -> Wrong | None:
    """A layer that is told nothing must show blocks of its own."""
    if isinstance(seen.shape, Documents):
        return None
    tokens = seen.smallest.any_moved.shape[1]
    half = Documents((tokens // 2,), causal=True)
    return first_wrong(seen.pictures[:1], half.matrix)
