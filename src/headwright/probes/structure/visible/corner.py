"""Fewer queries than keys, or more: at which corner is the mask aligned, and what does a row give
that sees nothing?

PyTorch's `is_causal` starts at the upper left corner, caches and flash kernels at the lower right
one. Neither is wrong; who mixes them up is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Options, Refusal
from headwright.probes.structure.visible.found import Found
from headwright.probes.structure.visible.picture import Picture, picture
from headwright.probes.structure.visible.scenes import scenes, sizes_of
from headwright.probes.structure.visible.shapes import Shape

_SIZES = ((1, 5), (2, 5), (5, 2))
UPPER = "the upper left corner"
LOWER = "the lower right corner"
_NEITHER = "neither corner"


@dataclass(frozen=True)
class Corner:
    """`places` has the corner for each (queries, keys) that tells the two apart."""

    places: dict[tuple[int, int], str]
    nothing: str  # what a row gives that sees nothing, "" where there is none

    @property
    def words(self) -> str:
        """For the evidence; empty where the layer takes one number of tokens only."""
        if not self.places:
            return ""
        if len(set(self.places.values())) == 1:
            sizes = [f"({t}, {n})" for t, n in self.places]
            place = next(iter(self.places.values()))
            return f"aligned at {place} when (queries, keys) are {', '.join(sizes)}"
        parts = [f"({t}, {n}) at {place}" for (t, n), place in self.places.items()]
        return f"aligned, for (queries, keys) = {', '.join(parts)}"


def corner(exam: Examination, seen: Found, options: Options) -> Corner:
    """For functions of queries, keys and values."""
    places: dict[tuple[int, int], str] = {}
    queries, keys = seen.smallest.any_moved.shape
    nothing = _policy(exam, seen.smallest, _empty(seen, queries, keys, 0))
    if exam.layer.form != "qkv" or not isinstance(seen.shape, Shape):
        return Corner(places, nothing)
    for queries, keys in _SIZES:
        offsets = {UPPER: 0, LOWER: keys - queries}
        matrices = {name: seen.shape.matrix(queries, keys, at) for name, at in offsets.items()}
        if np.array_equal(matrices[UPPER], matrices[LOWER]):
            continue
        try:
            sizes = sizes_of(exam, queries, keys)
            one = picture(exam, sizes, scenes(exam, sizes, range(keys)), options)
        except Refusal:
            continue
        fitting = [name for name, sees in matrices.items() if not one.violations(sees).any()]
        places[queries, keys] = fitting[0] if fitting else _NEITHER
        if fitting:
            empty = _empty(seen, queries, keys, offsets[fitting[0]])
            nothing = nothing or _policy(exam, one, empty)
    return Corner(places, nothing)


def _empty(seen: Found, queries: int, keys: int, offset: int) -> np.ndarray:
    if seen.shape is None:
        return np.zeros(queries, bool)
    return np.asarray(~seen.shape.matrix(queries, keys, offset).any(axis=1))


def _policy(exam: Examination, one: Picture, empty: np.ndarray) -> str:
    """What rows give that see nothing."""
    if not empty.any():
        return ""
    rows = one.output[..., empty, :]
    if np.isnan(rows).all():
        return "NaN"
    if not rows.any():
        return "zero"
    values = one.moves[-1].scene.x.arrays.get("v")
    if values is not None and values.shape[1] == one.output.shape[1]:
        mean = values.mean(axis=-2, keepdims=True)
        size = float(np.abs(values).max())
        if np.abs(rows - mean).max() <= 8 * exam.eps * size:
            return "the mean of all values"
    return "neither zero nor NaN"
