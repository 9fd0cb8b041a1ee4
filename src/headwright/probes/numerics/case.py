"""One input on which a layer's numbers are judged, with the lines of Python that make it again.

Factors are powers of two: they change no digit, so the numbers that the layer gets are those of the
reference in every dtype.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes
from headwright.probes.numerics.law import Law
from headwright.probes.numerics.precision import Accuracy, accuracy
from headwright.probes.record import BROKEN, HOLDS, Counterexample

_PLAIN = Options()


@dataclass(frozen=True)
class Case:
    """`words` complete a sentence: "with logits to 1e4"."""

    words: str
    given: Inputs
    script: str  # makes x

    def scaled(self, q: float = 1.0, k: float = 1.0, words: str = "") -> Case:
        changes = {"q": q, "k": k}
        named = [f"{n}={factor!r} * x['{n}']" for n, factor in changes.items() if factor != 1]
        if not named:
            return Case(words or self.words, self.given, self.script)
        given = self.given.replaced(q=q * self.given["q"], k=k * self.given["k"])
        line = f"x = x.replaced({', '.join(named)})\n"
        return Case(words or self.words, given, self.script + line)


@dataclass(frozen=True)
class Judged:
    """What one case showed. `words` are evidence as they stand."""

    status: str
    words: str = ""
    factor: float | None = None
    shown: Counterexample | None = None


def drawn(exam: Examination, stream: int, words: str, sizes: Sizes) -> Case:
    script = f"x = {exam.draw_line(stream, sizes)}\n"
    return Case(words, exam.draw(stream, sizes), script)


def judged(exam: Examination, law: Law, case: Case, options: Options = _PLAIN) -> Judged:
    """The layer's output on it against the law."""
    output = exam.layer.run(case.given, options)
    layer = exam.layer
    single = layer.library != "numpy"
    found = accuracy(output, law, case.given, layer.dtype, single=single)
    if found.status == HOLDS:
        return Judged(HOLDS, factor=found.factor)
    words = _wrong(output, found, law, case, layer.dtype)
    if found.status != BROKEN:
        return Judged(found.status, words, found.factor)
    return Judged(BROKEN, words, found.factor, _counterexample(words, law, case, found))


def _wrong(output: np.ndarray, found: Accuracy, law: Law, case: Case, dtype: str) -> str:
    told = np.isfinite(law.output(case.given))
    if not np.isfinite(output[told]).all():
        strange = "NaN" if np.isnan(output[told]).any() else "infinite"
        return f"{case.words} the output is {strange}"
    if found.status != BROKEN and found.single:
        return f"{case.words} the output is as inexact as in float32 ({found.error:.2g})"
    return (
        f"{case.words} the output is off by {found.error:.2g}, {found.factor:.2g} times the best "
        f"possible in {dtype}; rounding every step to {dtype} explains {found.stepwise:.2g}"
    )


def _counterexample(words: str, law: Law, case: Case, found: Accuracy) -> Counterexample:
    script = (
        f"{case.script}{law.line()}"
        "told = np.isfinite(exact)\n"
        "error = np.sqrt(np.mean((layer.run(x) - exact)[told] ** 2))\n"
        f'assert error <= {found.limit:.3g}, f"off by {{error:.2g}}"\n'
    )
    return Counterexample(words, script, found.error, found.bound)
