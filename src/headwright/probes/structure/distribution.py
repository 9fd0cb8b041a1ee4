"""Are the weights a distribution: non-negative, with sum 1, and the output linear in the values?

Functions of queries, keys and values show their weights (`weights`); of layers on hidden states
only mixtures are seen (`mixtures`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Refusal, Sizes
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Counterexample, Finding
from headwright.probes.rounding import Rounding
from headwright.probes.structure.mixtures import of_hidden
from headwright.probes.structure.visible.found import found
from headwright.probes.structure.visible.logits import louder
from headwright.probes.structure.visible.scenes import IMPORT
from headwright.probes.structure.weights import weights

NAME = "distribution"
_STREAM = 100
# Tokens (None: a few), and the deviation of the logits.
_CASES = ((None, 1.0), (13, 1.0), (65, 1.0), (None, 10.0), (13, 60.0))


def probe(exam: Examination) -> Finding:
    if exam.layer.form != "qkv":
        return of_hidden(exam, NAME)
    said = []
    for tokens, factor in _CASES:
        sizes = found(exam).smallest.sizes
        sizes = sizes if tokens is None else replace(sizes, tokens=tokens)
        try:
            finding = _case(exam, sizes, factor)
        except Refusal:
            continue
        if finding is not None and finding.status == BROKEN:
            return finding
        said += [finding] if finding is not None else []
    if not said:
        return _without_weights(exam)
    unclear = [finding for finding in said if finding.status == UNCLEAR]
    return unclear[0] if unclear else said[0]


def _without_weights(exam: Examination) -> Finding:
    """No row has a weight: all of them are zero, or no numbers."""
    sizes = found(exam).smallest.sizes
    matrix = weights(exam.layer, exam.draw(_STREAM, sizes))
    if matrix.any():
        return Finding(NAME, UNCLEAR, "no row of weights could be read")
    words = "every weight is 0: no output moves with any value"
    script = f"{_lines(exam, sizes, 1.0)}assert w.any(), 'every weight is 0'\n"
    return Finding(NAME, BROKEN, words, Counterexample(words, script, 1.0, 0.0))


def _case(exam: Examination, sizes: Sizes, factor: float) -> Finding | None:
    """None where no row sees anything."""
    given = louder(exam.draw(_STREAM, sizes), factor)
    matrix = weights(exam.layer, given)
    rows = np.isfinite(matrix).all(axis=-1) & (matrix != 0).any(axis=-1)
    if not rows.any():
        return None
    # Each weight is rounded, and so is their sum, term by term.
    bound = Rounding(exam.eps * (2 + math.sqrt(matrix.shape[-1])))
    sums = matrix[rows].sum(axis=-1)
    lowest = float(matrix[rows].min())
    farthest = float(sums[np.argmax(np.abs(sums - 1))])
    linear, linear_bound = _departure(exam, given, rows)

    lines = _lines(exam, sizes, factor)
    for finding in (
        _sign(lines, lowest, bound),
        _total(lines, farthest, bound),
        _linearity(lines, linear, linear_bound),
    ):
        if finding is not None:
            return finding
    words = (
        f"smallest weight {lowest:.2g}, sums within {abs(farthest - 1):.1g} of 1 "
        f"(rounding {bound.bound:.1g}), linear in the values within {linear:.1g}"
    )
    return Finding(NAME, HOLDS, words)


def _departure(exam: Examination, given: Inputs, rows: np.ndarray) -> tuple[float, Rounding]:
    """f(2 v + v') - 2 f(v) - f(v') for random values, in the rows that see something. The factor is
    a power of two, so that it rounds nothing."""
    other = given["v"][..., ::-1, :]
    parts = [2 * given["v"] + other, given["v"], other]
    both, one, two = (exam.layer.run(given.replaced(v=values)) for values in parts)
    difference = np.abs(both - 2 * one - two).max(axis=-1)[rows]
    bound = 2 * exam.rounding(given.replaced(v=parts[0])).bound
    return float(np.nan_to_num(difference, nan=np.inf).max()), Rounding(bound)


def _sign(lines: str, lowest: float, bound: Rounding) -> Finding | None:
    status = bound.verdict(max(-lowest, 0.0))
    words = f"a weight is negative, {lowest:.2g}"
    script = (
        f'{lines}assert np.nanmin(w) >= {-bound.bound:.3g}, f"a weight of {{np.nanmin(w):.2g}}"\n'
    )
    return _said(status, words, script, -lowest, bound)


def _total(lines: str, farthest: float, bound: Rounding) -> Finding | None:
    status = bound.verdict(abs(farthest - 1))
    words = f"the weights of a row have the sum {farthest:.6g}, not 1"
    script = (
        f"{lines}sums = w.sum(axis=-1)\n"
        "seen = np.isfinite(sums) & (sums != 0)\n"
        f'assert (np.abs(sums - 1) <= {bound.bound:.3g})[seen].all(), f"sums of weights {{sums}}"\n'
    )
    hint = ": a sink, dropout, or no softmax?" if status == BROKEN else ""
    return _said(status, f"{words}{hint}", script, abs(farthest - 1), bound)


def _linearity(lines: str, departure: float, bound: Rounding) -> Finding | None:
    words = "the output is not linear in the values: f(2 v + v') departs from 2 f(v) + f(v') by"
    script = (
        f"{lines}v = x['v']\n"
        "u = v[..., ::-1, :]\n"
        "both, one, two = (layer.run(x.replaced(v=a)) for a in (2 * v + u, v, u))\n"
        "difference = np.nanmax(np.abs(both - 2 * one - two))\n"
        f'assert difference <= {bound.bound:.3g}, f"not linear in the values: {{difference:.2g}}"\n'
    )
    status = bound.verdict(departure)
    return _said(status, f"{words} {departure:.2g}", script, departure, bound)


def _said(
    status: str, words: str, script: str, difference: float, bound: Rounding
) -> Finding | None:
    if status == HOLDS:
        return None
    if status == UNCLEAR:
        return Finding(NAME, UNCLEAR, f"{words}, near what rounding explains ({bound.bound:.2g})")
    shown = Counterexample(words, script, difference, bound.bound)
    return Finding(NAME, BROKEN, words, shown)


def _lines(exam: Examination, sizes: Sizes, factor: float) -> str:
    return (
        f"{IMPORT} louder\n"
        "from headwright.probes.structure.weights import weights\n"
        f"x = louder({exam.draw_line(_STREAM, sizes)}, {factor})\n"
        "w = weights(layer, x)\n"
    )
