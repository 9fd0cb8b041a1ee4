"""The same input twenty times: is the answer the same, to the last bit?"""

from __future__ import annotations

import math

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.record import BROKEN, HOLDS, Counterexample, Finding
from headwright.probes.rounding import apart

NAME = "determinism"
_STREAM = 1
_RUNS = 20


def probe(exam: Examination) -> Finding:
    given = exam.draw(_STREAM)
    first = exam.layer.run(given)
    differences = [apart(exam.layer.run(given), first) for _ in range(_RUNS - 1)]
    worst = max(differences)
    # Not the measured bound: a random layer moves by chance when its input moves by rounding.
    size = float(np.abs(first).max())
    bound = exam.layer.eps * size * math.sqrt(given.terms)
    if worst == 0:
        return Finding(NAME, HOLDS, f"{_RUNS} runs on the same input agree to the last bit")

    differing = int(np.count_nonzero(differences))
    words = f"{differing} of {_RUNS} runs on the same input differ, by up to {worst:.2g}"
    # Sums in another order differ by rounding; more than that is chance in the layer.
    if worst <= bound:
        return Finding(NAME, HOLDS, f"{words}: rounding, but not bit for bit")
    script = (
        f"x = {exam.draw_line(_STREAM)}\n"
        "first = layer.run(x)\n"
        f"runs = [np.abs(layer.run(x) - first).max() for _ in range({_RUNS})]\n"
        f'assert max(runs) <= {bound:.3g}, f"the same input, another output: {{max(runs):.2g}}"\n'
    )
    shown = Counterexample(words, script, worst, bound)
    return Finding(NAME, BROKEN, f"{words}: is dropout left on?", shown)
