"""The same text at other positions: does the output stay?

Layers that take positions are given them moved by 1, 7, 300 and 1000, each text of a batch by
another number. Functions of queries, keys and values are asked whether their logits depend on the
distance alone. Layers that count for themselves are given padding on the left.
"""

from __future__ import annotations

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import MASK, POSITIONS, Options, Refusal
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)
from headwright.probes.rounding import apart
from headwright.probes.structure.positions import ABSOLUTE, NONE, RELATIVE, Places, places
from headwright.probes.structure.visible.found import found

NAME = "shift"
_STREAM = 400
_BY = (1, 7, 300, 1000)
_PADDING = (1, 3)
# Far enough apart that positions show above the rounding of half precision.
_STRETCH = 7
# Angles of rotary positions are computed in single precision: p 2^-24 of a turn is rounding.
_ANGLE = 2.0**-23


def probe(exam: Examination) -> Finding:
    return exam.once(NAME, lambda: _found(exam))


def _found(exam: Examination) -> Finding:
    if POSITIONS in exam.layer.takes:
        return _by_positions(exam)
    if exam.layer.form == "qkv":
        return _by_distance(exam)
    return _by_padding(exam)


def _by_positions(exam: Examination) -> Finding:
    given = exam.draw(_STREAM, found(exam).smallest.sizes)
    plain = np.tile(np.arange(given.tokens), (given.batch, 1))
    first = exam.layer.run(given, Options(positions=plain))
    bound = exam.rounding(given, Options(positions=plain))
    stretched = exam.layer.run(given, Options(positions=_STRETCH * plain))
    if bound.verdict(apart(stretched, first)) == HOLDS:
        return Finding(NAME, NOT_APPLICABLE, "position numbers have no effect")

    worst = 0.0
    tried = []
    unclear = False
    for by in _BY:
        moved = plain + by * np.arange(1, given.batch + 1)[::-1, None]
        try:
            difference = apart(exam.layer.run(given, Options(positions=moved)), first)
        except Refusal:
            continue
        unit = max(exam.eps, moved.max() * _ANGLE)
        bound = exam.rounding(given, Options(positions=plain), unit=unit)
        verdict = bound.verdict(difference)
        if verdict == BROKEN:
            return _moved(exam, by, moved, difference, bound.bound)
        unclear |= verdict == UNCLEAR
        worst = max(worst, difference)
        tried.append(str(by))
    if not tried:
        return Finding(NAME, UNCLEAR, "the layer refused every position but its own")
    within = f"by up to {worst:.2g}, rounding explains {bound.bound:.2g}"
    words = f"positions moved by {', '.join(tried)}: the output moves {within}"
    return Finding(NAME, UNCLEAR if unclear else HOLDS, words)


def _moved(
    exam: Examination, by: int, moved: np.ndarray, difference: float, bound: float
) -> Finding:
    sizes = found(exam).smallest.sizes
    words = f"positions moved by {by} change the output by {difference:.2g}"
    plain = np.tile(np.arange(moved.shape[1]), (len(moved), 1))
    script = (
        f"x = {exam.draw_line(_STREAM, sizes)}\n"
        f"here = layer.run(x, Options(positions=np.array({plain.tolist()})))\n"
        f"there = layer.run(x, Options(positions=np.array({moved.tolist()})))\n"
        "difference = np.abs(there - here).max()\n"
        f'assert difference <= {bound:.3g}, f"moved by {by}: {{difference:.2g}}"\n'
    )
    shown = Counterexample(words, script, difference, bound)
    hint = "angles in low precision, or positions that end?" if by > 256 else "absolute positions?"
    return Finding(NAME, BROKEN, f"{words} (rounding {bound:.2g}): {hint}", shown)


def _by_distance(exam: Examination) -> Finding:
    """A function without positions of its own: do its logits depend on the distance alone?"""
    how = places(exam)
    if how.kind == NONE:
        return Finding(NAME, NOT_APPLICABLE, "no positions: equal tokens have equal weights")
    within = f"by up to {how.difference:.2g}, rounding explains {how.bound:.2g}"
    if how.kind == RELATIVE:
        words = "relative positions: logits of equal tokens depend on the distance alone"
        return Finding(NAME, HOLDS, f"{words} (they differ {within})")
    if how.kind != ABSOLUTE:
        return Finding(NAME, UNCLEAR, f"logits at one distance differ {within}")
    words = f"logits of equal tokens at the same distance differ {within}"
    shown = Counterexample(words, how.script, how.difference, how.bound)
    return Finding(NAME, BROKEN, f"absolute positions inside: {words}", shown)


def _by_padding(exam: Examination) -> Finding:
    """A layer that counts for itself: padding on the left moves the text."""
    how = places(exam)
    if how.kind == NONE:
        return Finding(NAME, NOT_APPLICABLE, "no positions: the order of the tokens has no effect")
    if MASK not in exam.layer.takes:
        return Finding(NAME, NOT_APPLICABLE, "it takes neither positions nor a padding mask")
    try:
        return _padded(exam, how)
    except Refusal as reason:
        return Finding(NAME, NOT_APPLICABLE, f"it refused padding on the left: {reason}")


def _padded(exam: Examination, how: Places) -> Finding:
    sizes = found(exam).smallest.sizes
    given = exam.draw(_STREAM, sizes)
    alone = exam.layer.run(given, Options(mask=np.ones((given.batch, given.tokens), bool)))
    bound = exam.rounding(given)
    worst = 0.0
    for by in _PADDING:
        padding = exam.draw(_STREAM + 1, sizes).cut(0, by)
        mask = np.ones((given.batch, by + given.tokens), bool)
        mask[:, :by] = False
        after = [
            exam.layer.run(_joined(pad, given), Options(mask=mask))[:, by:]
            for pad in (padding, padding.each(lambda a: -a))
        ]
        if bound.verdict(apart(*after)) != HOLDS:
            return Finding(NAME, NOT_APPLICABLE, "padding is seen, so that nothing can be moved")
        difference = apart(after[0], alone)
        verdict = bound.verdict(difference)
        if verdict == BROKEN:
            why = f"the same text after {by} tokens of padding gives another output, by"
            # Absolute positions are somebody's choice, and padding has a row of its own.
            words = f"{why} {difference:.2g}: absolute positions, or padding that is seen"
            return Finding(NAME, NOT_APPLICABLE, words)
        if verdict == UNCLEAR:
            return Finding(NAME, UNCLEAR, f"moved by {by}, the output moves by {difference:.2g}")
        worst = max(worst, difference)
    if how.kind not in (RELATIVE, ABSOLUTE):
        return Finding(NAME, NOT_APPLICABLE, "no positions were seen")
    within = f"by up to {worst:.2g}, rounding explains {bound.bound:.2g}"
    return Finding(NAME, HOLDS, f"after 1 and 3 tokens of padding the output moves {within}")


def _joined(left: Inputs, right: Inputs) -> Inputs:
    return Inputs({n: np.concatenate([left[n], right[n]], axis=-2) for n in left.arrays})
