"""Keys that nobody sees get no gradient, and a query that sees nothing spoils no other's.

    0 * NaN = NaN

A softmax over nothing is NaN; cleaning it up afterwards leaves its gradient NaN. A layer whose
output for such a query is NaN anyway has said so; only one that hides it is broken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import MASK, PAIRS, Options, Refusal
from headwright.probes.numerics.case import Judged
from headwright.probes.numerics.gradients.recorded import gradient, output_of
from headwright.probes.numerics.gradients.slopes import GRADIENT
from headwright.probes.record import BROKEN, HOLDS, Counterexample

_STREAM = 1120


def masked_gradients(exam: Examination, layer: Any) -> Iterator[Judged]:
    """`layer` is the one under examination or a wider copy of it."""
    given = exam.draw(_STREAM)
    queries = given.tokens
    keys = given.arrays.get("k", given.arrays.get("x", np.empty(0))).shape[-2]
    if keys < 2:
        return
    if PAIRS in layer.takes:
        seen = np.ones((given.batch, 1, queries, keys), bool)
        seen[..., 1] = False
        yield from _judged(exam, layer, replace(GRADIENT, pairs=seen), "key 1 is hidden", 1)
        seen = seen.copy()
        seen[:, :, 0] = False
        yield from _judged(exam, layer, replace(GRADIENT, pairs=seen), "query 0 sees nothing", None)
    elif MASK in layer.takes:
        real = np.ones((given.batch, keys), bool)
        real[:, 0] = False
        yield from _judged(exam, layer, replace(GRADIENT, mask=real), "token 0 is padding", None)


def _judged(
    exam: Examination, layer: Any, options: Options, words: str, hidden: int | None
) -> Iterator[Judged]:
    given = exam.draw(_STREAM)
    try:
        output = output_of(layer, given, options)
        found = gradient(layer, given, np.ones_like(output), options)
    except Refusal:
        return
    if not np.isfinite(output).all():
        return  # NaN in the output is a policy, which `numbers` names
    strange = [n for n, g in found.inputs.items() if g is not None and not np.isfinite(g).all()]
    if strange:
        said = f"where {words} the output is finite, but the gradient with respect to {strange[0]}"
        yield _broken(exam, options, f"{said} is NaN", strange[0], "np.isfinite(g).all()")
        return
    for name in ("k", "v"):
        array = found.inputs.get(name)
        if hidden is None or array is None or not array[..., hidden, :].any():
            continue
        said = f"key {hidden}, which nobody sees, gets a gradient with respect to {name}"
        yield _broken(exam, options, said, name, f"not g[..., {hidden}, :].any()")
        return
    yield Judged(HOLDS)


def _broken(exam: Examination, options: Options, words: str, name: str, claim: str) -> Judged:
    pairs = options.pairs
    if pairs is None:
        shape = () if options.mask is None else options.mask.shape
        made = f"mask = np.ones({shape}, bool)\nmask[:, 0] = False\n"
        given = "Options(gradient=True, mask=mask)"
    else:
        made = f"pairs = np.ones({pairs.shape}, bool)\npairs[..., 1] = False\n"
        made += "" if pairs[:, :, 0].any() else "pairs[:, :, 0] = False\n"
        given = "Options(gradient=True, pairs=pairs)"
    script = (
        "from headwright.probes.numerics.gradients.recorded import gradient, output_of\n\n"
        f"x = {exam.draw_line(_STREAM)}\n"
        f"{made}"
        f"options = {given}\n"
        "u = np.ones_like(output_of(layer, x, options))\n"
        f"g = gradient(layer, x, u, options).inputs[{name!r}]\n"
        f"assert {claim}, {words!r}\n"
    )
    return Judged(BROKEN, words, shown=Counterexample(words, script, float("inf"), 0.0))
