"""The same layer in two implementations of attention: do they agree, and where do they not?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import MASK, Layer, Options, Refusal
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Counterexample, Finding
from headwright.probes.rounding import apart

NAME = "paths"
_STREAM = 77
_TEXTS = 2
_HIDDEN = 2  # padding tokens of the second text


@dataclass(frozen=True)
class _Way:
    """One way to call both, and the tokens on which they are compared."""

    words: str
    mask: np.ndarray | None
    line: str  # of Python: what `mask` is
    real: np.ndarray


def compared(one: Examination, other: Examination, made_by: str) -> Finding:
    """`made_by`: a line of Python that makes the other layer, called `other`."""
    layer = one.layer
    sizes = replace(layer.sizes, batch=_TEXTS)
    given = one.draw(_STREAM, sizes)
    worst = 0.0
    bound = 0.0
    for way in _ways(layer, given):
        options = Options(mask=way.mask)
        try:
            apart_by = _difference(layer, other.layer, given, way)
        except Refusal as reason:
            return Finding(NAME, UNCLEAR, f"eager against sdpa, {way.words}: {reason}")
        rounding = max(
            one.rounding(given, options), other.rounding(given, options), key=lambda r: r.bound
        )
        status = rounding.verdict(apart_by)
        if status != HOLDS:
            words = (
                f"eager and sdpa differ by {apart_by:.2g} {way.words}; "
                f"rounding explains {rounding.bound:.2g}"
            )
            script = _script(one.draw_line(_STREAM, sizes), way, made_by, rounding.bound)
            shown = Counterexample(words, script, apart_by, rounding.bound)
            return Finding(NAME, status, words, shown if status == BROKEN else None)
        worst = max(worst, apart_by)
        bound = max(bound, rounding.bound)
    words = f"eager and sdpa agree to {worst:.2g}, where rounding explains {bound:.2g}"
    return Finding(NAME, HOLDS, words)


def _ways(layer: Layer, given: Inputs) -> Iterator[_Way]:
    shape = (given.batch, given.tokens)
    everything = np.ones(shape, bool)
    yield _Way("without a mask", None, "None", everything)
    if MASK not in layer.takes or given.tokens <= _HIDDEN:
        return
    yield _Way("with a mask of ones", everything, f"np.ones({shape}, bool)", everything)
    for side, place in (("right", f"-{_HIDDEN}:"), ("left", f":{_HIDDEN}")):
        mask = everything.copy()
        if side == "right":
            mask[1, -_HIDDEN:] = False
        else:
            mask[1, :_HIDDEN] = False
        line = f"np.ones({shape}, bool)\nmask[1, {place}] = False"
        yield _Way(f"with {_HIDDEN} tokens of padding on the {side}", mask, line, mask)


def _difference(one: Layer, other: Layer, given: Inputs, way: _Way) -> float:
    options = Options(mask=way.mask)
    first = one.run(given, options)
    second = other.run(given, options)
    return apart(first[way.real], second[way.real])


def _script(drawn: str, way: _Way, made_by: str, bound: float) -> str:
    real = "..." if way.mask is None else "mask"
    return (
        f"{made_by}\n"
        f"x = {drawn}\n"
        f"mask = {way.line}\n"
        f"one = layer.run(x, Options(mask=mask))[{real}]\n"
        f"two = other.run(x, Options(mask=mask))[{real}]\n"
        "difference = np.abs(one - two).max()\n"
        f'assert difference <= {bound:.3g}, f"eager and sdpa differ by {{difference:.2g}}"\n'
    )
