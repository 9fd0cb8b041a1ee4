"""The same input twenty times: is the answer the same, to the last bit?

What a layer keeps from call to call changes its answer too, but by no chance: then all runs but the
first agree, or copies of the layer do. That is a matter of `history`.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Refusal
from headwright.probes.layer.library import is_torch_module
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Counterexample, Finding
from headwright.probes.rounding import apart

NAME = "determinism"
_STREAM = 1200
_RUNS = 20
_COPIES = 3
_KEEPS = "the answer changes from call to call, but by no chance: the layer keeps something"


def probe(exam: Examination) -> Finding:
    given = exam.draw(_STREAM)
    first = exam.layer.run(given)
    second = exam.layer.run(given)
    rest = [apart(exam.layer.run(given), second) for _ in range(_RUNS - 2)]
    worst = max(apart(second, first), *rest)
    # Not the measured bound: a random layer moves by chance when its input moves by rounding.
    size = float(np.abs(first).max())
    bound = exam.layer.eps * size * math.sqrt(given.terms)
    if worst == 0:
        return Finding(NAME, HOLDS, f"{_RUNS} runs on the same input agree to the last bit")

    differing = int(np.count_nonzero([apart(second, first), *rest]))
    words = f"{differing} of {_RUNS} runs on the same input differ, by up to {worst:.2g}"
    # Sums in another order differ by rounding; more than that is chance in the layer.
    if worst <= bound:
        return Finding(NAME, HOLDS, f"{words}: rounding, but not bit for bit")
    if max(rest) == 0 or _copies_agree(exam, given):
        return Finding(NAME, UNCLEAR, f"{_KEEPS}; see history")
    script = (
        f"x = {exam.draw_line(_STREAM)}\n"
        "first = layer.run(x)\n"
        f"runs = [np.abs(layer.run(x) - first).max() for _ in range({_RUNS})]\n"
        f'assert max(runs) <= {bound:.3g}, f"the same input, another output: {{max(runs):.2g}}"\n'
    )
    shown = Counterexample(words, script, worst, bound)
    return Finding(NAME, BROKEN, f"{words}: is dropout left on?", shown)


def _copies_agree(exam: Examination, given: Inputs) -> bool:
    """Fresh copies of a module, one call each: chance differs among them, a state does not."""
    function = getattr(exam.layer, "function", None)
    if not is_torch_module(function):
        return False
    try:
        copies = [copy.deepcopy(exam.layer) for _ in range(_COPIES)]
        answers = [one.run(given) for one in copies]
    except (Refusal, RuntimeError, TypeError):  # what cannot be copied tells nothing
        return False
    return all(apart(one, answers[0]) == 0 for one in answers)
