"""A, then B, then A again: the first answer must come back, whatever B was. What a layer keeps from
earlier calls (rotary tables, caches, buffers) shows here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.agreement.compared import Compared, compared, judged
from headwright.probes.agreement.written import call_written
from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import (
    CACHE,
    CAUSAL,
    MASK,
    PAIRS,
    POSITIONS,
    TRAINING,
    WEIGHTS,
    Options,
    Refusal,
    Sizes,
)
from headwright.probes.record import BROKEN, HOLDS, Finding

NAME = "history"
_STREAM = 800
_PLAIN = Options()
_LONG = 96  # tokens: longer than tables that start small
_FAR = 200  # a position far away
_LOUD = 30.0


@dataclass(frozen=True)
class Between:
    """A call in between: B."""

    words: str
    sizes: Sizes
    options: Options = _PLAIN
    factor: float = 1.0


def probe(exam: Examination) -> Finding:
    given = exam.draw(_STREAM)
    first = exam.layer.run(given)
    bound = exam.rounding(given)
    found = []
    for place, between in enumerate(_calls(exam)):
        answer = _again(exam, given, between, place)
        if answer is None:
            continue
        words = f"the same input before and after {between.words}"
        script = _script(exam, between, place)
        found.append(_strict(compared(words, first, answer, bound, script)))
        if found[-1].status == BROKEN:
            break
    return judged(NAME, found, f"the first answer comes back after {len(found)} other calls")


def _strict(one: Compared) -> Compared:
    """Nothing is unclear above the bound: the input is the same to the last bit."""
    return one if one.status == HOLDS else replace(one, status=BROKEN)


def _calls(exam: Examination) -> Iterator[Between]:
    """From the least unusual on, so that the first that shows a break is the simplest."""
    usual = exam.layer.sizes
    n = usual.tokens
    longer = replace(usual, tokens=max(_LONG, 3 * n))
    yield Between("another input", usual)
    yield Between("a larger input", usual, factor=_LOUD)
    yield Between("a batch of 3", replace(usual, batch=3))
    if n > 1:
        yield Between(f"a text of {n // 2} tokens", replace(usual, tokens=n // 2))
    yield Between(f"a text of {n + 1} tokens", replace(usual, tokens=n + 1))
    yield from _with_options(exam.layer.takes, usual)
    yield Between(f"a text of {longer.tokens} tokens", longer)
    if POSITIONS in exam.layer.takes:
        far = np.arange(n)[None] + _FAR
        yield Between(f"positions from {_FAR} on", usual, Options(positions=far))


def _with_options(takes: frozenset[str], usual: Sizes) -> Iterator[Between]:
    n = usual.tokens
    half = (np.arange(n) < (n + 1) // 2)[None]
    if MASK in takes:
        yield Between("a text with padding", usual, Options(mask=half))
    if PAIRS in takes:
        lower = np.tril(np.ones((1, 1, n, n), bool))
        yield Between("a call with a mask", usual, Options(pairs=lower))
    if CAUSAL in takes:
        yield Between("a causal call", usual, Options(causal=True))
        yield Between("a call that is not causal", usual, Options(causal=False))
    if WEIGHTS in takes:
        yield Between("a call that returns weights", usual, Options(weights=True))
        yield Between("a call that returns no weights", usual, Options(weights=False))
    if TRAINING in takes:
        recorded = Options(training=True, gradient=True)
        yield Between("a call in training mode", usual, recorded)
    if CACHE in takes:
        yield Between("a call that fills a cache", usual, Options(use_cache=True))


def _again(exam: Examination, given: Inputs, between: Between, place: int) -> np.ndarray | None:
    """The answer to A after B; None where B is refused, which may still have left something."""
    other = exam.draw(_STREAM + 1 + place, between.sizes)
    other = other.each(lambda a: between.factor * a)
    try:
        exam.layer.run(other, between.options)
    except Refusal:
        return None
    return exam.layer.run(given)


def _script(exam: Examination, between: Between, place: int) -> str:
    louder = "" if between.factor == 1 else f".each(lambda a: {between.factor:g} * a)"
    draw = exam.draw_line(_STREAM + 1 + place, between.sizes)
    return (
        f"a = {exam.draw_line(_STREAM)}\n"
        f"b = {draw}{louder}\n"
        "one = layer.run(a)\n"
        f"{call_written('b', between.options)}\n"
        "other = layer.run(a)\n"
    )
