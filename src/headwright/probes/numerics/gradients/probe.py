"""`gradients`: what autograd says against differences of the layer itself, in double precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Refusal, Sizes
from headwright.probes.layer.library import is_torch_module
from headwright.probes.numerics.case import Judged
from headwright.probes.numerics.gradients.masked import masked_gradients
from headwright.probes.numerics.gradients.recorded import NoBackward, NoRecord, gradient
from headwright.probes.numerics.gradients.slopes import GRADIENT, PARAMETERS, Slope, Slopes
from headwright.probes.numerics.twin import doubles, in_dtype
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)

NAME = "gradients"
_STREAM = 1100
_DIRECTIONS = 2
_GROUPED = (6, 2)  # query heads on key heads
_MOST_PARAMETERS = 20_000_000  # of a copy in double precision: 160 MB
_OWN = 0.5  # share by which a gradient in the layer's own dtype may be off


def probe(exam: Examination) -> Finding:
    if exam.layer.library == "numpy":
        return Finding(NAME, NOT_APPLICABLE, "NumPy records no gradients")
    given = exam.draw(_STREAM)
    with doubles(exam.layer):
        try:
            layer = copied(exam.layer, given)
            slopes = Slopes(layer, given, exam.seed)
        except NoRecord:
            reason = "the output carries no gradient (detached, or run without gradients)"
            return Finding(NAME, UNCLEAR, reason)
        except NoBackward as reason:
            return _no_backward(exam, reason)
        found = [*_all(exam, slopes, given), *_grouped(exam, slopes)]
    return _finding(found, slopes, layer.dtype)


def copied(layer: Layer, given: Inputs) -> Any:
    """In double precision, or in single where it takes no doubles; never the layer itself."""
    size = _parameters(layer)
    if size > _MOST_PARAMETERS:
        raise Refusal(f"{size} parameters are too many to be copied in double precision")
    last = Refusal("no dtype is wide enough for differences")
    for dtype in ("float64", "float32"):
        try:
            return compiled(in_dtype(layer, dtype), given)
        except Refusal as reason:
            last = reason
    raise last


def compiled(layer: Any, given: Inputs) -> Any:
    """JAX compiles a function once, where it can: step by step it compiles each step."""
    if layer.library == "jax":
        import jax

        whole = replace(layer, function=jax.jit(layer.function))
        try:
            whole.raw(given, GRADIENT)
        except Refusal:
            pass
        else:
            return whole
    layer.raw(given, GRADIENT)
    return layer


def _parameters(layer: Any) -> int:
    if not is_torch_module(layer.function):
        return 0
    return sum(p.numel() for p in layer.function.parameters())


def _all(exam: Examination, slopes: Slopes, given: Inputs) -> Iterator[Judged]:
    for name in given.arrays:
        yield _judged(exam, slopes, name)
    if slopes.gradient.parameters:
        together = _judged(exam, slopes, PARAMETERS)
        if together.status != HOLDS:
            for name in slopes.gradient.parameters:
                yield _judged(exam, slopes, name)
        yield together
    yield from masked_gradients(exam, slopes.layer)
    yield _in_own_dtype(exam, slopes, given)


def _grouped(exam: Examination, slopes: Slopes) -> Iterator[Judged]:
    """Fewer key heads than query heads, where the function takes that: the gradient of a key head
    is the sum over its query heads."""
    if exam.layer.form != "qkv":
        return
    sizes = replace(exam.layer.sizes, heads=_GROUPED[0], key_heads=_GROUPED[1])
    try:
        there = Slopes(slopes.layer, exam.draw(_STREAM, sizes), exam.seed)
    except Refusal:
        return
    for name in ("k", "v"):
        yield _judged(exam, there, name, sizes)


def _judged(exam: Examination, slopes: Slopes, name: str, sizes: Sizes | None = None) -> Judged:
    found = [slopes.along(name) for _ in range(_DIRECTIONS)]
    if not all(slope.size for slope in found):
        return Judged(UNCLEAR, f"the output does not move with {name}: nothing could be seen")
    worst = max(found, key=lambda slope: slope.difference / slope.size)
    if worst.status == HOLDS:
        return Judged(HOLDS, factor=worst.difference / worst.size)
    words = _words(name, found, worst)
    if sizes is not None:
        words = f"with {sizes.heads} query heads on {sizes.key_heads} key heads {words}"
    if worst.status == UNCLEAR:
        return Judged(UNCLEAR, words)
    return Judged(BROKEN, words, shown=_counterexample(exam, name, worst, words, sizes))


def _words(name: str, found: list[Slope], worst: Slope) -> str:
    subject = f"the gradient with respect to {name}"
    if not np.isfinite(worst.told):
        return f"{subject} is NaN, differences of the layer give {worst.measured:.3g}"
    if all(slope.told == 0 for slope in found):
        return f"{subject} is 0, differences of the layer give a slope of {worst.measured:.3g}"
    ratios = [slope.told / slope.measured for slope in found if slope.measured]
    if len(ratios) == len(found) and np.ptp(ratios) <= 0.01 * abs(ratios[0]):
        return f"{subject} is {ratios[0]:.3g} times what differences of the layer give"
    share = 100 * worst.difference / worst.size
    return (
        f"{subject} is off by {share:.2g}%: a slope of {worst.told:.3g}, where differences "
        f"of the layer give {worst.measured:.3g}"
    )


def _counterexample(
    exam: Examination, name: str, worst: Slope, words: str, sizes: Sizes | None
) -> Counterexample:
    script = (
        "from headwright.probes.numerics.gradients.probe import compared\n\n"
        f"x = {exam.draw_line(_STREAM, sizes)}\n"
        f"told, measured = compared(layer, x, {name!r}, seed={exam.seed})  # by autograd, by "
        "differences\n"
        f"assert abs(told - measured) <= {worst.bound:.3g}, "
        "f'autograd says {told:.4g}, differences {measured:.4g}'\n"
    )
    return Counterexample(words, script, worst.difference, worst.bound)


def compared(layer: Layer, given: Inputs, name: str, seed: int = 0) -> tuple[float, float]:
    """The slope of a random combination of outputs in a random direction of one input or parameter:
    as autograd says, and by differences in double precision; the worst of some directions."""
    with doubles(layer):
        slopes = Slopes(copied(layer, given), given, seed)
        found = [slopes.along(name) for _ in range(_DIRECTIONS)]
    worst = max(found, key=lambda slope: slope.difference / (slope.size or 1.0))
    return worst.told, worst.measured


def _in_own_dtype(exam: Examination, slopes: Slopes, given: Inputs) -> Judged:
    """A backward pass of its own for this dtype, or one that overflows in it."""
    if exam.layer.dtype == slopes.layer.dtype:
        return Judged(HOLDS)
    try:
        own = gradient(exam.layer, given, slopes.u, GRADIENT)
    except Refusal as reason:
        return Judged(UNCLEAR, f"in {exam.layer.dtype} there is no gradient: {reason}")
    for name, wide in slopes.gradient.inputs.items():
        narrow = own.inputs[name]
        if wide is None or narrow is None:
            continue
        size = max(float(np.linalg.norm(wide)), slopes.floor)
        if size == 0:
            continue  # the output does not move, which the slopes have told
        off = float(np.linalg.norm(narrow - wide)) / size
        if not off <= _OWN:
            dtype = exam.layer.dtype
            words = f"in {dtype} the gradient with respect to {name} is off by {100 * off:.2g}%"
            return Judged(BROKEN, words, shown=_own_counterexample(exam, name, words, off))
    return Judged(HOLDS)


def _own_counterexample(exam: Examination, name: str, words: str, off: float) -> Counterexample:
    script = (
        "from headwright.probes.numerics.gradients.recorded import gradient, output_of\n"
        "from headwright.probes.numerics.twin import in_dtype\n\n"
        f"x = {exam.draw_line(_STREAM)}\n"
        "options = Options(gradient=True)\n"
        "u = np.random.default_rng(0).standard_normal(output_of(layer, x, options).shape)\n"
        f"own = gradient(layer, x, u, options).inputs[{name!r}]\n"
        f"wide = gradient(in_dtype(layer, 'float64'), x, u, options).inputs[{name!r}]\n"
        f"assert np.linalg.norm(own - wide) <= {_OWN} * np.linalg.norm(wide), {words!r}\n"
    )
    return Counterexample(words, script, off, _OWN)


def _no_backward(exam: Examination, reason: NoBackward) -> Finding:
    """Arrays overwritten that the backward pass needs; a backward pass that does not exist is no
    fault."""
    said = str(reason)
    if "NotImplemented" in said or "not implemented" in said:
        return Finding(NAME, UNCLEAR, f"there is no backward pass: {said}")
    words = f"the backward pass fails: {said}"
    script = (
        "from headwright.probes.numerics.gradients.probe import compared\n\n"
        f"x = {exam.draw_line(_STREAM)}\n"
        "try:\n"
        f"    compared(layer, x, {next(iter(exam.draw(_STREAM).arrays))!r})\n"
        "except Exception as reason:\n"
        "    raise AssertionError(f'the backward pass fails: {reason}')\n"
    )
    return Finding(NAME, BROKEN, words, Counterexample(words, script, float("inf"), 0.0))


def _finding(found: list[Judged], slopes: Slopes, dtype: str) -> Finding:
    for status in (BROKEN, UNCLEAR):
        worst = next((one for one in found if one.status == status), None)
        if worst is not None:
            return Finding(NAME, status, worst.words, worst.shown)
    inputs = ", ".join(slopes.gradient.inputs)
    count = len(slopes.gradient.parameters)
    parameters = f" and {count} parameters" if count else ""
    most = max((one.factor for one in found if one.factor is not None), default=0.0)
    kind = "double" if dtype == "float64" else "single"
    words = f"slopes along {inputs}{parameters} agree with differences in {kind} precision"
    return Finding(NAME, HOLDS, f"{words} to {max(most, 1e-15):.0e}")
