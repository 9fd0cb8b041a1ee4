"""Weights of a layer on hidden states, seen from outside.

Equal tokens have equal values, so that weights with sum 1 give what one token alone gives, however
many there are. Sequences of two kinds of tokens give outputs between what each gives alone, if
there is one head and no positions enter the values: a point beyond the ends has a negative weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import WEIGHTS, Options, Refusal
from headwright.probes.layer.library import is_array, numbers
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)
from headwright.probes.rounding import FAR, Rounding, apart
from headwright.probes.structure.positions import NONE, all_alike, places
from headwright.probes.structure.visible.found import found

_STREAM = 110
_TOKENS = (1, 2, 3, 6, 9)
# Which of 4 tokens are of the second kind.
_KINDS = ((0, 1, 1, 0), (1, 1, 0, 1), (0, 0, 1, 0), (1, 0, 0, 0))


def of_hidden(exam: Examination, name: str) -> Finding:
    if not found(exam).moves_at_all:
        return Finding(name, UNCLEAR, "no output moves with another token: nothing is mixed")
    returned = _returned(exam, name)
    if returned is not None and returned.status == BROKEN:
        return returned
    alike = _equal_tokens(exam, name)
    if alike.status != HOLDS:
        return alike
    also = f"; {returned.evidence}" if returned is not None else ""
    kinds = _two_kinds(exam, name)
    if kinds.status != HOLDS:
        return kinds
    return Finding(name, HOLDS, f"{alike.evidence}; {kinds.evidence}{also}")


def _equal_tokens(exam: Examination, name: str) -> Finding:
    outputs: dict[int, np.ndarray] = {}
    bound = Rounding(0.0)
    one = exam.draw(_STREAM, found(exam).smallest.sizes)
    for tokens in _TOKENS:
        try:
            given = all_alike(one, tokens)
            outputs[tokens] = exam.layer.run(given)
            bound = exam.rounding(given)
        except Refusal:
            continue
    if len(outputs) < 2:
        return Finding(name, NOT_APPLICABLE, "it takes one number of tokens only")

    last = {tokens: output[:, -1:] for tokens, output in outputs.items()}
    fewest = min(last)
    within = max(
        apart(rows, np.broadcast_to(rows[:, -1:], rows.shape)) for rows in outputs.values()
    )
    if bound.verdict(within) != HOLDS and places(exam).kind != NONE:
        why = "equal tokens at different places give different outputs: positions enter the values"
        return Finding(name, NOT_APPLICABLE, why)
    worst = max(last, key=lambda tokens: apart(last[tokens], last[fewest]))
    difference = apart(last[worst], last[fewest])
    verdict = bound.verdict(difference)
    within = f"by {difference:.2g}, rounding explains {bound.bound:.2g}"
    if verdict == BROKEN:
        return _not_alike(exam, name, (fewest, worst), difference, bound.bound)
    shown = ", ".join(str(tokens) for tokens in outputs)
    words = f"{shown} equal tokens give the same output (they differ {within})"
    return Finding(name, verdict, words)


def _not_alike(
    exam: Examination, name: str, tokens: tuple[int, int], difference: float, bound: float
) -> Finding:
    sizes = found(exam).smallest.sizes
    few, many = tokens
    words = f"{many} equal tokens give another output than {few}, by {difference:.2g}"
    script = (
        "from headwright.probes.structure.positions import all_alike\n"
        f"x = {exam.draw_line(_STREAM, sizes)}\n"
        f"few = layer.run(all_alike(x, {few}))[:, -1]\n"
        f"many = layer.run(all_alike(x, {many}))[:, -1]\n"
        "difference = np.abs(many - few).max()\n"
        f'assert difference <= {bound:.3g}, f"{many} tokens for {few}: {{difference:.2g}}"\n'
    )
    shown = Counterexample(words, script, difference, bound)
    hint = "the sum of the weights is not 1 (a sink, or no softmax?)"
    return Finding(name, BROKEN, f"{words} (rounding {bound:.2g}): {hint}", shown)


def _two_kinds(exam: Examination, name: str) -> Finding:
    """Where are mixtures on the line through what each kind gives alone?"""
    sizes = replace(found(exam).smallest.sizes, tokens=len(_KINDS[0]))
    given = exam.draw(_STREAM + 1, sizes)
    ends = [exam.layer.run(all_alike(given.cut(kind)))[:, -1] for kind in (0, 1)]
    # f = f(a) + w (f(b) - f(a)) + rest
    direction = ends[1] - ends[0]
    length = (direction**2).sum(axis=-1)
    bound = exam.rounding(given).bound
    lowest = 0.0
    order = _KINDS[0]
    for kinds in _KINDS:
        away = exam.layer.run(given.ordered(kinds)) - ends[0][:, None]
        share = np.einsum("bnw,bw->bn", away, direction) / length[:, None]
        rest = np.abs(away - share[..., None] * direction[:, None]).max()
        if not rest <= FAR * bound:
            why = "the signs of the weights cannot be seen from outside"
            return Finding(name, HOLDS, why)
        outside = float(np.minimum(share, 1 - share).min())
        if outside < lowest:
            lowest = outside
            order = kinds
    span = float(np.abs(direction).max())
    if -lowest * span <= bound:
        return Finding(name, HOLDS, "mixtures of two tokens lie between what each gives")
    if -lowest * span <= FAR * bound:
        return Finding(name, UNCLEAR, f"a weight of {lowest:.2g} is near rounding")
    words = f"a mixture of two tokens has the weight {lowest:.2g}: it lies beyond both"
    return Finding(name, BROKEN, words, _beyond(exam, words, order, lowest, bound / span))


def _beyond(
    exam: Examination, words: str, order: tuple[int, ...], lowest: float, bound: float
) -> Counterexample:
    sizes = replace(found(exam).smallest.sizes, tokens=len(order))
    script = (
        "from headwright.probes.structure.positions import all_alike\n"
        f"x = {exam.draw_line(_STREAM + 1, sizes)}\n"
        "a = layer.run(all_alike(x))[:, -1:]\n"
        "b = layer.run(all_alike(x.cut(1)))[:, -1:]\n"
        f"mixed = layer.run(x.ordered({list(order)}))\n"
        "share = ((mixed - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1)\n"
        f'assert np.minimum(share, 1 - share).min() >= {-bound:.3g}, f"weights {{share}}"\n'
    )
    return Counterexample(words, script, -lowest, bound)


def _returned(exam: Examination, name: str) -> Finding | None:
    """The weights that the layer returns beside its output; None where it returns none."""
    if WEIGHTS not in exam.layer.takes:
        return None
    sizes = found(exam).smallest.sizes
    given = exam.draw(_STREAM + 2, sizes)
    try:
        made = exam.layer.raw(given, Options(weights=True))
    except Refusal:
        return None
    for matrix in _square(made, given.tokens):
        rows = matrix[np.isfinite(matrix).all(axis=-1) & (matrix != 0).any(axis=-1)]
        if not len(rows):
            return None
        sums = rows.sum(axis=-1)
        off = float(np.abs(sums - 1).max())
        bound = Rounding(exam.eps * (2 + np.sqrt(given.tokens)))
        lowest = float(rows.min())
        worst = max(off, -lowest)
        if bound.verdict(worst) != BROKEN:
            return Finding(name, HOLDS, f"the weights it returns have sums within {off:.1g} of 1")
        words = (
            f"the weights it returns have sums up to {off:.2g} from 1, the smallest {lowest:.2g}"
        )
        script = (
            f"x = {exam.draw_line(_STREAM + 2, sizes)}\n"
            "made = layer.raw(x, Options(weights=True))\n"
            f"w = [a for a in made[1:] if a is not None and a.shape[-1] == {given.tokens}][0]\n"
            "sums = np.array(w.tolist()).sum(axis=-1)\n"
            f"assert np.abs(sums - 1).max() <= {bound.bound:.3g}, sums\n"
        )
        return Finding(name, BROKEN, words, Counterexample(words, script, worst, bound.bound))
    return None


def _square(made: Any, tokens: int) -> Iterator[np.ndarray]:
    """Matrices of tokens by tokens beside the output."""
    parts = list(made)[1:] if isinstance(made, (tuple, list)) else []
    for part in parts:
        if is_array(part) and part.ndim >= 3 and tuple(part.shape[-2:]) == (tokens, tokens):
            yield numbers(part)
