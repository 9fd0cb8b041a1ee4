"""Does the place of a token enter, and how: into the logits by distance, or otherwise?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Refusal
from headwright.probes.record import BROKEN, HOLDS
from headwright.probes.rounding import FAR
from headwright.probes.structure.visible.found import found
from headwright.probes.structure.weights import weights

_STREAM = 420
# Smaller weights have lost digits in half precision.
_SMALLEST = 1e-3
# Of usual numbers of heads: where heads are merged wrongly, some rows come out equal.
_MULTIPLES = (12, 16)
NONE = "none"
RELATIVE = "relative"
ABSOLUTE = "absolute"
UNEVEN = "uneven"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Places:
    """How places enter. `difference` is the largest departure from a function of the distance, in
    logarithms of weights, `bound` what rounding explains, and `script` shows it."""

    kind: str
    difference: float = 0.0
    bound: float = 0.0
    script: str = ""


def places(exam: Examination) -> Places:
    find = _of_function if exam.layer.form == "qkv" else _of_hidden
    return exam.once("places", lambda: find(exam))


def all_alike(given: Inputs, tokens: int | None = None) -> Inputs:
    """Every token is the first one; as many of them as there were, or `tokens`."""
    return given.each(lambda a: np.repeat(a[..., :1, :], tokens or a.shape[-2], axis=-2))


def _of_function(exam: Examination) -> Places:
    """Equal queries and equal keys: logarithms of weights are g(i - j) + c_i, if places enter by
    distance alone, so that log W[i+1, j+1] - log W[i, j] does not depend on j."""
    sizes = found(exam).smallest.sizes
    given = exam.draw(_STREAM, sizes)
    matrix = weights(exam.layer, all_alike(given))
    visible = np.isfinite(matrix) & (matrix > _SMALLEST)
    logs = np.log(np.where(visible, matrix, 1.0))
    bound = _roundings(exam, given)

    in_row = np.where(visible, logs, np.nan)
    spread = float(_spread(in_row).max(initial=0.0))
    if spread <= bound:
        return Places(NONE, spread, bound)
    difference = float(_spread(in_row[..., 1:, 1:] - in_row[..., :-1, :-1]).max(initial=0.0))
    if difference <= bound:
        return Places(RELATIVE, difference, bound)
    if difference <= FAR * bound:
        return Places(UNKNOWN, difference, bound)
    return Places(ABSOLUTE, difference, bound, _script(exam, bound))


def _script(exam: Examination, bound: float) -> str:
    sizes = found(exam).smallest.sizes
    return (
        "from headwright.probes.structure.positions import all_alike\n"
        "from headwright.probes.structure.weights import weights\n"
        f"x = all_alike({exam.draw_line(_STREAM, sizes)})\n"
        "w = weights(layer, x)\n"
        f"log = np.log(np.where(w > {_SMALLEST}, w, np.nan))\n"
        "steps = log[..., 1:, 1:] - log[..., :-1, :-1]\n"
        "spread = np.fmax.reduce(steps, axis=-1) - np.fmin.reduce(steps, axis=-1)\n"
        f"assert np.nanmax(spread) <= {bound:.3g}, "
        'f"at one distance, weights differ by a factor of {np.exp(np.nanmax(spread)):.3g}"\n'
    )


def _spread(rows: np.ndarray) -> np.ndarray:
    """Largest less smallest of each row, over what is there."""
    low = np.fmin.reduce(rows, axis=-1)
    high = np.fmax.reduce(rows, axis=-1)
    return np.nan_to_num(high - low)


def _roundings(exam: Examination, given: Inputs) -> float:
    """Logits of size |q| |k| / sqrt(d) and the weights themselves are each rounded a few times."""
    q = np.linalg.norm(given["q"], axis=-1).max()
    k = np.linalg.norm(given["k"], axis=-1).max()
    return float(8 * exam.eps * (1 + q * k / np.sqrt(given["q"].shape[-1])))


def _of_hidden(exam: Examination) -> Places:
    """Two tokens that a row sees change places: does the row move? And what do equal tokens
    give?"""
    seen = found(exam).smallest
    given = exam.draw(_STREAM, seen.sizes)
    bound = exam.rounding(given)
    output = exam.layer.run(given)
    moved = []
    for one, other in combinations(range(given.tokens), 2):
        rows = _seeing_both(seen.any_moved, one, other)
        if rows.size:
            order = np.arange(given.tokens)
            order[[one, other]] = other, one
            then = exam.layer.run(given.ordered(order))
            moved.append(float(np.abs(then - output)[:, rows].max()))
    if not moved:
        return Places(UNKNOWN)
    most = max(moved)
    if bound.verdict(most) == HOLDS:
        return Places(NONE, most, bound.bound)
    return Places(_of_equal_tokens(exam, given), most, bound.bound)


def _seeing_both(depends: np.ndarray, one: int, other: int) -> np.ndarray:
    """Rows of third tokens that see these two."""
    rows = np.flatnonzero(depends[:, one] & depends[:, other])
    return rows[(rows != one) & (rows != other)]


def _of_equal_tokens(exam: Examination, given: Inputs) -> str:
    """Equal outputs: places enter the logits alone. All different: they enter the values too. Some
    equal and some not: no positions do that, but heads and tokens that are mixed up, or one token
    that is treated in its own way."""
    kinds = set()
    for tokens in (given.tokens, *_MULTIPLES):
        alike = all_alike(given, tokens)
        try:
            rows = exam.layer.run(alike)[0]
            bound = exam.rounding(alike)
        except Refusal:
            continue
        apart = np.abs(rows[:, None] - rows[None, :]).max(axis=-1)
        apart = apart[np.triu_indices(len(rows), 1)]
        kinds |= {bound.verdict(float(one)) for one in apart}
    if kinds == {HOLDS}:
        return RELATIVE
    if kinds == {BROKEN}:
        return ABSOLUTE
    return UNEVEN if kinds == {HOLDS, BROKEN} else UNKNOWN
