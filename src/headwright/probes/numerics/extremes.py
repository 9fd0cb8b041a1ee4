"""Inputs at which kernels fail: large logits, one key, equal logits, a hidden key above all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Refusal, Sizes
from headwright.probes.numerics.case import Case, Judged, drawn, judged
from headwright.probes.numerics.law import Law
from headwright.probes.record import BROKEN, HOLDS, Counterexample

_LARGE = 1e4
# With these a hidden key is set above the others; float16 ends at 65504.
_LARGEST = (1e4, 1e6, 1e10)
_LARGE_IN_HALF = (1e4,)
_WIDE = 128  # a usual head size, at which products pass 65504 before they are scaled
_STREAM = 1010
# In these the logits of size 1e4 themselves are not known to better than 1: the output is only
# asked to be finite and among the values.
_COARSE = ("bfloat16", "float16")


def extremes(exam: Examination, law: Law, sizes: Sizes) -> Iterator[Judged]:
    if law.sink is None:
        yield from _where_taken(_one_key, exam, law, sizes)
    if law.normalised:
        return  # its logits are never large, and zeros have no direction
    yield judged(exam, law, _equal(exam, sizes))
    yield judged_large(exam, law, _grown(drawn(exam, _STREAM, "", sizes), law, _LARGE))
    yield from _where_taken(_large_and_wide, exam, law, sizes)
    yield judged(exam, law, _set(exam, law, sizes, _LARGE, None))
    if not law.sees.all():
        column = int(np.argmin(law.sees.any(axis=0).sum(axis=0)))
        for most in _LARGE_IN_HALF if exam.layer.dtype == "float16" else _LARGEST:
            yield judged(exam, law, _set(exam, law, sizes, most, column))


def _where_taken(check, exam: Examination, law: Law, sizes: Sizes) -> Iterator[Judged]:
    """A size that the layer refuses says nothing."""
    try:
        yield check(exam, law, sizes)
    except Refusal:
        return


def _equal(exam: Examination, sizes: Sizes) -> Case:
    return drawn(exam, _STREAM + 1, "", sizes).scaled(q=0.0, words="with equal logits")


def _one_key(exam: Examination, law: Law, sizes: Sizes) -> Judged:
    alone = replace(sizes, tokens=1, keys=1)
    bias = np.zeros((law.bias.shape[0], 1, 1))
    return judged(exam, replace(law, bias=bias), drawn(exam, _STREAM + 2, "with one key", alone))


def _grown(case: Case, law: Law, target: float) -> Case:
    """Queries and keys times a power of two each, logits up to about the target."""
    most = float(np.abs(law.scale * law.products(case.given)).max())
    doublings = math.floor(math.log2(target / most))
    half = doublings // 2
    words = f"with logits to {most * 2.0**doublings:.0f}"
    return case.scaled(q=2.0 ** (doublings - half), k=2.0**half, words=words)


def judged_large(exam: Examination, law: Law, case: Case) -> Judged:
    """Overflow, or logits that are cut off."""
    if exam.layer.dtype not in _COARSE:
        return judged(exam, law, case)
    output = exam.layer.run(case.given)
    told = np.isfinite(law.output(case.given))
    if not np.isfinite(output[told]).all():
        strange = "NaN" if np.isnan(output[told]).any() else "infinite"
        return _shown(f"{case.words} the output is {strange}", case, "np.isfinite(y).all()")
    most = float(np.abs(case.given["v"]).max())
    if law.sink is None and np.abs(output[told]).max(initial=0.0) > 1.5 * most:
        words = f"{case.words} the output leaves the range of the values"
        return _shown(words, case, "np.abs(y).max() <= 1.5 * np.abs(x['v']).max()")
    return Judged(HOLDS)


def _shown(words: str, case: Case, claim: str) -> Judged:
    script = f"{case.script}y = layer.run(x)\nassert {claim}, {words!r}\n"
    return Judged(BROKEN, words, shown=Counterexample(words, script, math.inf, 0.0))


def _large_and_wide(exam: Examination, law: Law, sizes: Sizes) -> Judged:
    """Products beyond float16's largest number, whose scaled logits are not."""
    wide = replace(sizes, width=_WIDE, value_width=sizes.width)
    usual = abs(law.scale * math.sqrt(sizes.width) - 1) < 0.05
    there = replace(law, scale=1 / math.sqrt(_WIDE) if usual else law.scale)
    case = _grown(drawn(exam, _STREAM + 3, "", wide), there, 3 * _LARGE)
    products = float(np.abs(there.products(case.given)).max())
    words = f"{case.words} (products of queries and keys to {products:.0f}, head size {_WIDE})"
    return judged_large(exam, there, replace(case, words=words))


def _set(exam: Examination, law: Law, sizes: Sizes, target: float, above: int | None) -> Case:
    """All logits far below 0, but for one key's, which is as far above: where few queries see that
    key, a mask of -1e9 for one of -inf shows."""
    case = drawn(exam, _STREAM + 4, "", sizes)
    # Powers of two whose product brings the logits there or a little above.
    doublings = math.ceil(math.log2(target / abs(law.scale)))
    size = 2.0 ** (doublings // 2)
    q = np.zeros_like(case.given["q"])
    q[..., 0] = math.copysign(2.0 ** (doublings - doublings // 2), law.scale)
    k = np.zeros_like(case.given["k"])
    k[..., 0] = -size
    most = abs(law.scale) * 2.0**doublings
    words = f"with all logits at -{most:.2g}"
    script = (
        f"{case.script}q, k = 0 * x['q'], 0 * x['k']\n"
        f"q[..., 0] = {float(q[..., 0].flat[0])!r}\n"
        f"k[..., 0] = {-size!r}\n"
    )
    if above is not None:
        k[..., above, 0] = size
        words = f"where the key {above} has the logit {most:.2g} and all others -{most:.2g}"
        script += f"k[..., {above}, 0] = {size!r}\n"
    return Case(words, case.given.replaced(q=q, k=k), f"{script}x = x.replaced(q=q, k=k)\n")
