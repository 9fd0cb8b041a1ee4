"""`numbers`: which function the layer computes, and how exactly.

The law behind it is fitted in the widest dtype that the layer takes; then the layer, in its own
dtype, is held against the law in double precision: usual logits, large ones, one key, equal logits,
ragged and long rows, rows that see nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.drawing import normal
from headwright.probes.layer.layer import Layer, Refusal, Sizes
from headwright.probes.numerics.alternatives import judged_alternatives
from headwright.probes.numerics.case import Case, Judged, drawn, judged
from headwright.probes.numerics.extremes import extremes, judged_large
from headwright.probes.numerics.fitting import fitted
from headwright.probes.numerics.law import Law
from headwright.probes.numerics.lengths import lengths
from headwright.probes.numerics.rows import rows
from headwright.probes.numerics.scale import judged_scale
from headwright.probes.numerics.twin import widest
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)

NAME = "numbers"
_STREAM = 1000
_DRAWS = 4
_SHARP = 8.0  # logits of this deviation besides those of 1
_MOST_TOKENS = 16
_FEW_TOKENS = 8


def probe(exam: Examination) -> Finding:
    if not _is_captured(exam) and not np.isfinite(exam.layer.run(exam.draw(_STREAM))).any():
        return _no_numbers(exam)
    if exam.layer.form != "qkv":
        reason = "queries, keys and values are made inside: their logits cannot be set"
        return Finding(NAME, NOT_APPLICABLE, reason)
    twin = widest(exam.layer)
    sizes = _sizes(twin)
    if sizes.tokens == 1:
        reason = "of one token the weight is 1 whatever the logits: give two or more tokens"
        return Finding(NAME, UNCLEAR, reason)
    law = _law(twin, exam.seed, sizes)
    if law is None:
        return _finding([judged_alternatives(exam, twin, sizes)])
    found = []
    for one in _all(exam, twin, law, sizes):
        found.append(one)
        if one.status == BROKEN:
            break
    return _finding(found)


def _is_captured(exam: Examination) -> bool:
    return getattr(exam.layer, "source", normal) is not normal


def _no_numbers(exam: Examination) -> Finding:
    words = "on ordinary inputs every output is NaN or infinite"
    script = (
        f"x = {exam.draw_line(_STREAM)}\n"
        'assert np.isfinite(layer.run(x)).any(), "no output is a number"\n'
    )
    return Finding(NAME, BROKEN, words, Counterexample(words, script, math.inf, 0.0))


def _sizes(layer: Layer) -> Sizes:
    """Small ones, where the layer was given large ones and takes small ones."""
    own = replace(layer.sizes, batch=_DRAWS, keys=None, value_width=None)
    if own.tokens <= _MOST_TOKENS:
        return own
    small = replace(own, tokens=_FEW_TOKENS)
    try:
        layer.run(layer.draw(np.random.default_rng(0), small))
    except Refusal:
        return own
    return small


def _law(twin: Layer, seed: int, sizes: Sizes) -> Law | None:
    """From normal numbers, whatever inputs were captured: logits must be small enough for all
    weights to be seen."""
    rng = np.random.default_rng([seed, _STREAM])
    usual = replace(twin, source=normal).draw(rng, sizes)  # pyright: ignore[reportArgumentType]
    large = usual.replaced(q=_SHARP * usual["q"])
    return fitted(twin, usual, large)


def _all(exam: Examination, twin: Layer, law: Law, sizes: Sizes) -> Iterator[Judged]:
    yield judged_scale(exam, law, sizes)
    case = drawn(exam, _STREAM + 1, "on the captured inputs", sizes)
    if _is_captured(exam):
        yield judged_large(exam, law, case)
    usual = _of_deviation_one(case, law)
    first = judged(exam, law, usual)
    if first.status == HOLDS:
        sharp = usual.scaled(q=_SHARP, words=f"with logits of deviation {_SHARP:g}")
        second = judged(exam, law, sharp)
        yield _stated(first, second, exam.layer.dtype)
        yield second
    yield first
    yield from extremes(exam, law, sizes)
    yield from rows(exam, law, sizes)
    yield from lengths(exam, twin, law, sizes)


def _of_deviation_one(case: Case, law: Law) -> Case:
    """To the next power of two."""
    spread = float(np.std(law.scale * law.products(case.given)))
    fits = law.normalised or spread == 0
    factor = 1.0 if fits else 2.0 ** round(-math.log2(spread))
    return case.scaled(q=factor, words="with logits of deviation 1")


def _stated(usual: Judged, sharp: Judged, dtype: str) -> Judged:
    """At least 1: a chance error below the best is not better than it."""
    factors = [max(found.factor or 1.0, 1.0) for found in (usual, sharp)]
    return Judged(HOLDS, f"the error is {max(factors):.1f} times the best possible in {dtype}")


def _finding(found: list[Judged]) -> Finding:
    for status in (BROKEN, UNCLEAR):
        worst = next((one for one in found if one.status == status), None)
        if worst is not None:
            return Finding(NAME, status, worst.words, worst.shown)
    said = "; ".join(one.words for one in found if one.words)
    return Finding(NAME, HOLDS, said)
