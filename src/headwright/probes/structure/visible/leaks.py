"""Hidden tokens that are seen once logits are large.

A mask that adds -1e4 instead of minus infinity hides a key only while its logit is less than 1e4
above the others'. So visible keys get the logit -L and hidden ones +L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options
from headwright.probes.rounding import apart_by_row
from headwright.probes.structure.visible.found import Found
from headwright.probes.structure.visible.logits import holds_logit, with_logits
from headwright.probes.structure.visible.picture import Picture, base_of, moves_of
from headwright.probes.structure.visible.scenes import IMPORT, loud_scene

_STREAM = 210
_LOUD = 256.0
# Of logits, or of the squares of hidden states.
_FACTORS = (10.0, 60.0)
# For hidden states, whose logits cannot be designed. The numbers of float16 end at 65504, and masks
# with them: no mask hides larger logits there.
_HUGE = (1e4, 1e6)
_LOGITS = (1e4, 1e6, 1e10)
_ROUNDINGS = 8.0


@dataclass(frozen=True)
class Leak:
    """Output `row` moves with `token`, which it does not see at ordinary logits."""

    row: int
    token: int
    logit: float
    difference: float
    bound: float
    lines: str


def leak(exam: Examination, seen: Found, options: Options) -> Leak | None:
    """The first one found, at the smallest logits; looked for once."""
    return exam.once(f"leak {options.causal}", lambda: _leak(exam, seen, options))


def _leak(exam: Examination, seen: Found, options: Options) -> Leak | None:
    one = seen.smallest
    hides = np.asarray(one.still.all(axis=(0, 1)))
    if seen.shape is None or not hides.any():
        return None
    return _by_scale(exam, one, hides, options) or _by_design(exam, one, hides, options)


def _by_scale(exam: Examination, one: Picture, hides: np.ndarray, options: Options) -> Leak | None:
    """Random inputs made louder."""
    columns = [int(j) for j in np.flatnonzero(hides.any(axis=0))]
    huge = exam.layer.form == "hidden" and exam.layer.dtype != "float16"
    for factor in (*_FACTORS, *_HUGE) if huge else _FACTORS:
        scene = loud_scene(exam, one.sizes, columns, factor)
        base = base_of(exam, scene, options, exact=one.exact)
        moves = moves_of(exam, scene, base, options)
        largest = moves.difference.max(axis=(0, 1))
        # An overflow is not a leak: zero times infinity is no number in any row.
        wrong = hides & (largest > moves.bound) & np.isfinite(largest)
        if wrong.any():
            row, token = (int(place) for place in np.argwhere(wrong)[0])
            difference = float(largest[row, token])
            return Leak(row, token, factor, difference, moves.bound, scene.lines)
    return None


def _by_design(exam: Examination, one: Picture, hides: np.ndarray, options: Options) -> Leak | None:
    """For each row the visible keys at -L and the hidden ones at +L."""
    if exam.layer.form != "qkv":
        return None
    given = exam.draw(_STREAM, one.sizes)
    rows = [i for i in range(len(hides)) if hides[i].any() and one.any_moved[i].any()]
    for logit in _LOGITS:
        if not holds_logit(exam.layer.dtype, one.sizes.width, logit):
            continue
        for row in rows:
            x = with_logits(given, np.where(hides[row], 1.0, -1.0), logit)
            found = _seen_through(exam, x, row, np.flatnonzero(hides[row]), options)
            if found is not None:
                token, difference, bound = found
                lines = _lines(exam, one, hides[row], logit)
                return Leak(row, token, logit, difference, bound, lines)
    return None


def _seen_through(
    exam: Examination, x: Inputs, row: int, hidden: np.ndarray, options: Options
) -> tuple[int, float, float] | None:
    """The first hidden key whose value moves the row: all of them together are asked first."""
    before = exam.layer.run(x, options)
    loud = x.each(lambda a: _LOUD * a, "v")
    bound = _ROUNDINGS * exam.eps * float(np.abs(before[..., row, :]).max())
    everything = x["v"].copy()
    everything[..., hidden, :] = loud["v"][..., hidden, :]
    moved = _moved(exam, x.replaced(v=everything), before, row, options)
    if not bound < moved < np.inf:
        return None
    for token in (int(j) for j in hidden):
        moved = _moved(exam, x.with_token(token, loud, "v"), before, row, options)
        if bound < moved < np.inf:
            return token, moved, bound
    return None


def _moved(exam: Examination, y: Inputs, before: np.ndarray, row: int, options: Options) -> float:
    after = exam.layer.run(y, options)
    return float(apart_by_row(after, before)[..., row].max())


def _lines(exam: Examination, one: Picture, hidden: np.ndarray, logit: float) -> str:
    signs = np.where(hidden, 1, -1).tolist()
    return (
        f"{IMPORT} with_logits\n"
        f"x = with_logits({exam.draw_line(_STREAM, one.sizes)}, {signs}, {logit:g})\n"
        f'y = x.with_token(j, x.each(lambda a: {_LOUD} * a, "v"), "v")\n'
    )
