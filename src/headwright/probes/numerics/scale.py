"""The factor of the logits: wanted 1 / sqrt(d), or what the user says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Refusal, Sizes
from headwright.probes.numerics.case import Judged
from headwright.probes.numerics.fitting import SPARE
from headwright.probes.numerics.law import Law
from headwright.probes.record import BROKEN, HOLDS, Counterexample

# Scales of real bugs differ by a quarter and more (d for sqrt(d), a base of 2 for e, a doubled
# scale); a fit in half precision is good to a per cent.
_CLOSE = 0.03
_NAMED = 0.01


def judged_scale(exam: Examination, law: Law, sizes: Sizes) -> Judged:
    """`sizes` are those that the law was fitted at."""
    found = law.scale
    if law.normalised:
        words = f"queries and keys are divided by their lengths, the scale is {found:.3g}"
        return Judged(HOLDS, words)
    usual = 1 / math.sqrt(sizes.width)
    wanted = usual if exam.scale is None else exam.scale
    cap = "" if law.cap is None else f", a soft cap at {law.cap:.4g}"
    sink = "" if law.sink is None else ", a sink in the sum"
    if law.head_scales is None and abs(found / wanted - 1) <= _CLOSE:
        said = f"{wanted:.3g}" if exam.scale is not None else f"1/sqrt({sizes.width})"
        return Judged(HOLDS, f"the scale is {said}{cap}{sink}")

    name = _name(found, sizes)
    meant = f"1/sqrt({sizes.width}) = {usual:.3g}" if exam.scale is None else f"{wanted:.3g}"
    where = "" if law.head_scales is None else _where(law.head_scales, found)
    words = f"the scale of the logits is {found:.3g}{where}{name}, wanted {meant}"
    advice = f"; say --scale {found:.4g} if it is meant"
    example = Counterexample(
        words, _script(exam, sizes, wanted), abs(found - wanted), _CLOSE * wanted
    )
    return Judged(BROKEN, words + advice, shown=example)


def _where(scales: np.ndarray, found: float) -> str:
    others = [f"{scale:.3g}" for scale in scales if scale != found]
    return f" in head {int(np.argmax(scales == found))}, {' and '.join(others)} in others"


def _name(found: float, sizes: Sizes) -> str:
    """What it looks like: " = 1/d"."""
    d = sizes.width
    keys = sizes.tokens if sizes.keys is None else sizes.keys
    forms = {
        "no scale": 1.0,
        "1/d": 1 / d,
        "sqrt(d)": math.sqrt(d),
        "1/sqrt(heads d)": 1 / math.sqrt(sizes.heads * d),
        "1/sqrt(d / heads)": math.sqrt(sizes.heads / d),
        "1/sqrt(keys)": 1 / math.sqrt(keys),
        "1/sqrt(value size)": 1 / math.sqrt(keys + SPARE),
        "1/d^(1/4)": d**-0.25,
        "ln(2)/sqrt(d), a power of 2 for one of e": math.log(2) / math.sqrt(d),
        "1/(ln(2) sqrt(d))": 1 / (math.log(2) * math.sqrt(d)),
    }
    close = [name for name, value in forms.items() if abs(found / value - 1) <= _NAMED]
    return f" ({' or '.join(close)})" if close else ""


def _script(exam: Examination, sizes: Sizes, wanted: float) -> str:
    """Two keys, one of them 0: the log-odds of their weights move by 2 scale when q changes its
    sign, whatever the positions add."""
    shape = (1, sizes.heads, 2, sizes.width)
    keys = sizes.tokens if sizes.keys is None else sizes.keys
    wide = (*shape[:3], keys + SPARE)
    taken = _takes(exam, sizes, keys + SPARE)
    return (
        f"q, k = np.zeros((2, *{shape}))\n"
        f"v = np.zeros({wide if taken else shape})\n"
        "q[..., 0] = 1\n"
        "k[..., 1, 0] = 1\n"
        "v[..., 0, 0] = 1\n"
        "v[..., 1, 1] = 1\n"
        "up = layer.run(Inputs({'q': q, 'k': k, 'v': v}))[..., 1, :]\n"
        "down = layer.run(Inputs({'q': -q, 'k': k, 'v': v}))[..., 1, :]\n"
        "odds = np.log(up[..., 1] / up[..., 0]) - np.log(down[..., 1] / down[..., 0])\n"
        f'assert np.allclose(odds / 2, {wanted!r}, rtol={_CLOSE}), f"scale {{odds.ravel() / 2}}"\n'
    )


def _takes(exam: Examination, sizes: Sizes, value_width: int) -> bool:
    """Values of another size than keys."""
    there = replace(sizes, tokens=2, value_width=value_width)
    try:
        exam.layer.run(exam.draw(0, there))
    except Refusal:
        return False
    return True
