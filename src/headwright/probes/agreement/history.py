"""A, then B, then A again: the first answer must come back, whatever B was. What a layer keeps from
earlier calls (rotary tables, caches, masks, buffers) shows here.

Where the layer can be copied, all calls are also made on a copy in the reverse order: what the
first call of its kind leaves for good is not seen by asking again.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.probes.agreement.asking.compared import Compared, compared, judged
from headwright.probes.agreement.asking.written import call_written
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
from headwright.probes.layer.library import is_torch_module
from headwright.probes.layer.signature import SWITCH_OF_CACHE, keywords_of
from headwright.probes.record import BROKEN, HOLDS, Finding
from headwright.probes.rounding import Rounding, apart, rounding

NAME = "history"
_STREAM = 800
_PLAIN = Options()
_LONG = 96  # tokens: longer than tables that start small
_FAR = 200  # a position far away
_LOUD = 30.0


@dataclass(frozen=True)
class _Call:
    """A call in between: B."""

    words: str
    sizes: Sizes
    options: Options = _PLAIN
    factor: float = 1.0
    stream: int = _STREAM + 1

    def drawn(self, exam: Examination) -> Inputs:
        return exam.draw(self.stream, self.sizes).each(lambda a: self.factor * a)

    def draw(self, exam: Examination) -> str:
        louder = "" if self.factor == 1 else f".each(lambda a: {self.factor:g} * a)"
        return f"{exam.draw_line(self.stream, self.sizes)}{louder}"


def probe(exam: Examination) -> Finding:
    pristine = copied(exam.layer)
    given = exam.draw(_STREAM)
    first = exam.layer.run(given)
    bound = _summing(exam, given, first) if pristine is None else _rounding(pristine, given)
    found: list[Compared] = []
    answers: list[tuple[_Call, np.ndarray]] = []
    for call in _numbered(exam):
        try:
            answers.append((call, exam.layer.run(call.drawn(exam), call.options)))
        except Refusal:
            continue
        found.append(_again(exam, call, (given, first), bound))
        if found[-1].status == BROKEN:
            break
    else:
        found += [] if pristine is None else _reversed(exam, pristine, answers)
    return judged(NAME, found, f"the first answer comes back after {len(answers)} other calls")


def copied(layer: Any) -> Any:
    """A copy of a layer with all that it keeps; None for a function, and where that fails."""
    if not is_torch_module(getattr(layer, "function", None)):
        return None
    try:
        return copy.deepcopy(layer)
    except (RuntimeError, TypeError, AttributeError, NotImplementedError):
        return None


@dataclass(frozen=True)
class _Forgetful:
    """A layer that has never been called, at every call."""

    pristine: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pristine, name)

    def run(self, given: Inputs, options: Options = _PLAIN) -> np.ndarray:
        return copy.deepcopy(self.pristine).run(given, options)


def _rounding(pristine: Any, given: Inputs, options: Options = _PLAIN) -> Rounding:
    """Measured without what the layer keeps, which would be taken for rounding."""
    layer: Any = _Forgetful(pristine)
    return rounding(layer, given, options)


def _summing(exam: Examination, given: Inputs, first: np.ndarray) -> Rounding:
    """For what cannot be copied: the input is the same to the last bit, so that sums in another
    order are all that may differ."""
    size = float(np.abs(first[np.isfinite(first)]).max(initial=0.0))
    return Rounding(exam.layer.eps * size * math.sqrt(given.terms))


def _again(
    exam: Examination, call: _Call, known: tuple[Inputs, np.ndarray], bound: Rounding
) -> Compared:
    """A after B."""
    given, first = known
    script = (
        f"a = {exam.draw_line(_STREAM)}\n"
        f"b = {call.draw(exam)}\n"
        "one = layer.run(a)\n"
        f"{call_written('b', call.options)}\n"
        "other = layer.run(a)\n"
    )
    words = f"the same input before and after {call.words}"
    found = compared(words, first, exam.layer.run(given), bound, script)
    # Nothing is unclear above the bound: the input is the same to the last bit.
    return found if found.status == HOLDS else replace(found, status=BROKEN)


def _reversed(
    exam: Examination, pristine: Any, answers: list[tuple[_Call, np.ndarray]]
) -> list[Compared]:
    """The calls in the other order, on a copy that has heard none of them."""
    other = copy.deepcopy(pristine)
    for call, answer in reversed(answers):
        given = call.drawn(exam)
        there = other.run(given, call.options)
        # Measured only where there is something to explain: it takes four runs.
        if apart(answer, there) > 0:
            bound = _rounding(pristine, given, call.options)
            if bound.verdict(apart(answer, there)) == BROKEN:
                return _blamed(exam, pristine, call, [call for call, _ in answers])
    return []


def _blamed(exam: Examination, pristine: Any, call: _Call, others: list[_Call]) -> list[Compared]:
    """The one call before it that changes its answer."""
    given = call.drawn(exam)
    bound = _rounding(pristine, given, call.options)
    alone = copy.deepcopy(pristine).run(given, call.options)
    for before in others:
        used = copy.deepcopy(pristine)
        used.run(before.drawn(exam), before.options)
        script = (
            "import copy\n\n"
            f"a = {call.draw(exam)}\n"
            f"b = {before.draw(exam)}\n"
            "fresh = copy.deepcopy(layer)\n"
            f"one = {call_written('a', call.options).replace('layer.', 'fresh.', 1)}\n"
            f"{call_written('b', before.options)}\n"
            f"other = {call_written('a', call.options)}\n"
        )
        words = f"{call.words} first, and after {before.words}"
        found = compared(words, alone, used.run(given, call.options), bound, script)
        if found.status == BROKEN:
            return [found]
    return []


def _numbered(exam: Examination) -> Iterator[_Call]:
    """Every call with numbers of its own."""
    for place, call in enumerate(_calls(exam)):
        yield replace(call, stream=_STREAM + 1 + place)


def _calls(exam: Examination) -> Iterator[_Call]:
    """From the least unusual on, so that the first that shows a break is the simplest."""
    usual = exam.layer.sizes
    n = usual.tokens
    longer = replace(usual, tokens=max(_LONG, 3 * n))
    yield _Call("another input", usual)
    yield _Call("a larger input", usual, factor=_LOUD)
    yield _Call("a batch of 3", replace(usual, batch=3))
    if n > 1:
        yield _Call(f"a text of {n // 2} tokens", replace(usual, tokens=n // 2))
    yield _Call(f"a text of {n + 1} tokens", replace(usual, tokens=n + 1))
    yield from _with_masks(exam.layer.takes, usual)
    yield from _with_switches(exam, usual)
    yield _Call(f"a text of {longer.tokens} tokens", longer)
    if POSITIONS in exam.layer.takes:
        far = np.arange(n)[None] + _FAR
        yield _Call(f"positions from {_FAR} on", usual, Options(positions=far))
        yield _Call("positions with gaps", usual, Options(positions=3 * np.arange(n)[None]))


def _with_masks(takes: frozenset[str], usual: Sizes) -> Iterator[_Call]:
    """Two of each kind and of the same shape: one may be taken for the other."""
    n = usual.tokens
    place = np.arange(n)
    if MASK in takes and n > 1:
        half = (place < (n + 1) // 2)[None]
        yield _Call("a text with padding", usual, Options(mask=half))
        yield _Call("a text with other padding", usual, Options(mask=(place < n - 1)[None]))
    if PAIRS in takes and n > 1:
        lower = np.tril(np.ones((1, 1, n, n), bool))
        near = lower & (place[:, None] - place < 2)
        yield _Call("a call with a mask", usual, Options(pairs=lower))
        yield _Call("a call with another mask", usual, Options(pairs=near))


def _with_switches(exam: Examination, usual: Sizes) -> Iterator[_Call]:
    takes = exam.layer.takes
    if CAUSAL in takes:
        yield _Call("a causal call", usual, Options(causal=True))
        yield _Call("a call that is not causal", usual, Options(causal=False))
    if WEIGHTS in takes:
        yield _Call("a call that returns weights", usual, Options(weights=True))
        yield _Call("a call that returns no weights", usual, Options(weights=False))
    if TRAINING in takes:
        yield _Call("a call in training mode", usual, Options(training=True, gradient=True))
    if CACHE in takes and SWITCH_OF_CACHE in keywords_of(exam.layer).names:
        yield _Call("a call that fills a cache", usual, Options(use_cache=True))
