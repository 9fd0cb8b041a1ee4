"""Two ways of asking for the same numbers, how far the answers are apart, and the finding that
follows from many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwright.probes.agreement.asking.written import call_written
from headwright.probes.layer.layer import Options
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Counterexample, Finding
from headwright.probes.rounding import Rounding, apart


@dataclass(frozen=True)
class Compared:
    """`words` say what was different about the second question: "in training mode"."""

    words: str
    difference: float
    bound: float
    status: str
    script: str = ""
    why: str = ""  # what the break looks like, where that is known
    said: str = ""  # the whole sentence, where it is another

    @property
    def sentence(self) -> str:
        """For readers: what was done, and what happened."""
        if self.said:
            return self.said
        if math.isinf(self.difference):
            happened = "one output has numbers where the other has none"
        else:
            happened = f"outputs differ by {self.difference:.2g}"
        reason = f"; {self.why}" if self.why else ""
        return f"{self.words}: {happened}, where rounding explains {self.bound:.2g}{reason}"


def compared(
    words: str, one: np.ndarray, other: np.ndarray, rounding: Rounding, script: str = ""
) -> Compared:
    """`script` is completed by the assertion: it has defined `one` and `other`."""
    difference = apart(one, other)
    full = script + assertion(words, rounding.bound)
    return Compared(words, difference, rounding.bound, rounding.verdict(difference), full)


def assertion(words: str, bound: float) -> str:
    """The end of a script that has defined `one` and `other`."""
    said = words.replace('"', "'").replace("{", "(").replace("}", ")")
    return (
        "apart = np.abs(one - other).max()\n"
        f'assert apart <= {bound:.3g}, f"{said}: outputs differ by {{apart:.2g}}"\n'
    )


def two_calls(draw: str, one: Options, other: Options, rows: str = "") -> str:
    """The script of two runs on the same input, up to the assertion."""
    return (
        f"x = {draw}\n"
        f"one = {call_written('x', one)}{rows}\n"
        f"other = {call_written('x', other)}{rows}\n"
    )


def judged(name: str, found: Sequence[Compared], held: str) -> Finding:
    """Broken where one comparison is: the first of them, for the simplest come first. `held` is
    the sentence for the table where none is."""
    broken = [one for one in found if one.status == BROKEN]
    if broken:
        first = broken[0]
        others = list(dict.fromkeys(one.words for one in broken[1:] if one.words != first.words))
        also = f"; also {', '.join(others[:3])}" if others else ""
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        shown = Counterexample(first.sentence, first.script, first.difference, first.bound)
        return Finding(name, BROKEN, f"{first.sentence}{also}{more}", shown)
    between = [one for one in found if one.status == UNCLEAR]
    if between:
        return Finding(name, UNCLEAR, between[0].sentence)
    return Finding(name, HOLDS, f"{held}; {largest(found)}")


def largest(found: Sequence[Compared]) -> str:
    """The largest difference beside what rounding explains."""
    worst = max(found, key=lambda one: one.difference)
    if worst.difference == 0:
        return "equal to the last bit"
    return f"largest difference {worst.difference:.2g}, rounding explains {worst.bound:.2g}"
