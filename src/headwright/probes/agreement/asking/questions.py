"""One input, asked about in many ways: answers are kept, refusals are no break, and whatever the
layer writes into its input is seen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headwright.probes.agreement.asking.compared import Compared, compared, two_calls
from headwright.probes.agreement.asking.written import call_written, written
from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Refusal
from headwright.probes.record import BROKEN
from headwright.probes.rounding import Rounding


@dataclass
class Questions:
    """`draw` is the Python that makes `given`."""

    exam: Examination
    given: Inputs
    draw: str
    found: list[Compared] = field(default_factory=list)
    _answers: dict[str, np.ndarray | None] = field(default_factory=dict, repr=False)
    _bounds: dict[str, Rounding] = field(default_factory=dict, repr=False)

    def answer(self, options: Options) -> np.ndarray | None:
        """None where the layer refuses to be asked in this way."""
        key = written(options)
        if key not in self._answers:
            self._answers[key] = self._asked(options)
        return self._answers[key]

    def rounding(self, options: Options) -> Rounding:
        key = written(options)
        if key not in self._bounds:
            self._bounds[key] = self.exam.rounding(self.given, options)
        return self._bounds[key]

    def difference(
        self, words: str, one: Options, other: Options, start: int = 0
    ) -> Compared | None:
        """Of the outputs from `start` on; None where one of the two was refused."""
        here = self.answer(one)
        there = self.answer(other)
        if here is None or there is None:
            return None
        cut = f"[..., {start}:, :]" if start else ""
        script = two_calls(self.draw, one, other, cut)
        bound = self.rounding(one)
        return compared(words, here[..., start:, :], there[..., start:, :], bound, script)

    def agree(self, words: str, one: Options, other: Options, start: int = 0) -> None:
        """The two should be equal."""
        found = self.difference(words, one, other, start)
        if found is not None:
            self.found.append(found)

    def _asked(self, options: Options) -> np.ndarray | None:
        caller = getattr(self.exam.layer, "caller", None)
        before = caller is not None and caller.wrote
        if caller is not None:
            caller.wrote = False
        try:
            return self.exam.layer.run(self.given, options)
        except Refusal:
            return None
        finally:
            if caller is not None:
                if caller.wrote:
                    self._written_into(options, caller.change)
                caller.wrote |= before

    def _written_into(self, options: Options, change: float) -> None:
        how = written(options)
        words = f"it changes its input, with {how}" if how else "it changes its input"
        if any(one.words.startswith("it changes its input") for one in self.found):
            return
        script = (
            f"x = {self.draw}\n"
            "layer.caller.wrote = False\n"
            f"{call_written('x', options)}\n"
            'assert not layer.caller.wrote, "the layer writes into the arrays it is given"\n'
        )
        said = f"{words}: an array that it was given differs by {change:.2g} after the call"
        self.found.append(Compared(words, change, 0.0, BROKEN, script, said=said))
