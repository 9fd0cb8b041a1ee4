"""Does the place of a token enter, and how: into the logits by distance, or otherwise?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.record import BROKEN, HOLDS
from headwright.probes.structure.visible.found import found
from headwright.probes.structure.weights import weights

_STREAM = 420
NONE = "none"
RELATIVE = "relative"
ABSOLUTE = "absolute"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Places:
    """How places enter. `difference` is the largest departure from a function of the distance, in
    logarithms of weights, at `row` and `token`; `bound` is what rounding explains."""

    kind: str
    difference: float = 0.0
    bound: float = 0.0
    row: int = 0
    token: int = 0


def places(exam: Examination) -> Places:
    find = _of_function if exam.layer.form == "qkv" else _of_hidden
    return exam.once("places", lambda: find(exam))


def all_alike(given: Inputs) -> Inputs:
    """Every token is the first one."""
    return given.each(lambda a: np.repeat(a[..., :1, :], a.shape[-2], axis=-2))


def _of_function(exam: Examination) -> Places:
    """Equal queries and equal keys: logarithms of weights are g(i - j) + c_i, if places enter by
    distance alone, so that log W[i+1, j+1] - log W[i, j] does not depend on j."""
    sizes = found(exam).smallest.sizes
    given = exam.draw(_STREAM, sizes)
    matrix = weights(exam.layer, all_alike(given))
    # So that products and differences of weights keep their digits in half precision.
    smallest = 1e-3
    visible = np.isfinite(matrix) & (matrix > smallest)
    logs = np.log(np.where(visible, matrix, 1.0))
    bound = _roundings(exam, given)

    in_row = np.where(visible, logs, np.nan)
    spread = _spread(in_row)
    if spread.max(initial=0.0) <= bound:
        return Places(NONE, float(spread.max(initial=0.0)), bound)
    steps = in_row[..., 1:, 1:] - in_row[..., :-1, :-1]
    largest = _spread(steps)
    difference = float(largest.max(initial=0.0))
    kind = RELATIVE if difference <= bound else ABSOLUTE if difference > 6 * bound else UNKNOWN
    row = int(np.argmax(largest.max(axis=(0, 1)))) if largest.size else 0
    return Places(kind, difference, bound, row)


def _spread(rows: np.ndarray) -> np.ndarray:
    """Largest less smallest of each row, over what is there."""
    low = np.fmin.reduce(rows, axis=-1)
    high = np.fmax.reduce(rows, axis=-1)
    return np.nan_to_num(high - low)


def _roundings(exam: Examination, given: Inputs) -> float:
    """Logits of size |q| |k| / sqrt(d) and the weights themselves are each rounded a few times."""
    q = np.linalg.norm(given["q"], axis=-1).max()
    k = np.linalg.norm(given["k"], axis=-1).max()
    return float(8 * exam.layer.eps * (1 + q * k / np.sqrt(given["q"].shape[-1])))


def _of_hidden(exam: Examination) -> Places:
    """Two tokens that a row sees change places: does the row move? And do equal tokens give equal
    outputs? Then places enter the logits alone."""
    seen = found(exam).smallest
    given = exam.draw(_STREAM, seen.sizes)
    bound = exam.rounding(given)
    pair = _pair(seen.any_moved)
    if pair is None:
        return Places(UNKNOWN)
    row, one, other = pair
    order = np.arange(given.tokens)
    order[[one, other]] = other, one
    output = exam.layer.run(given)
    moved = np.abs(exam.layer.run(given.ordered(order)) - output)[:, row].max()
    if bound.verdict(float(moved)) == HOLDS:
        return Places(NONE, float(moved), bound.bound)
    alike = all_alike(given)
    rows = exam.layer.run(alike)
    differ = float(np.nanmax(np.abs(rows - rows[:, -1:]), initial=0.0))
    verdict = exam.rounding(alike).verdict(differ)
    if verdict == BROKEN:
        return Places(ABSOLUTE, differ, bound.bound, row, one)
    return Places(RELATIVE if verdict == HOLDS else UNKNOWN, differ, bound.bound, row, one)


def _pair(depends: np.ndarray) -> tuple[int, int, int] | None:
    """A row, and two other tokens that it sees."""
    for row in reversed(range(len(depends))):
        seen = [int(j) for j in np.flatnonzero(depends[row]) if j != row]
        if len(seen) >= 2:
            return row, seen[0], seen[1]
    return None
