"""What the plain call sees, as far as agreement needs it: whether later tokens move earlier
outputs, and which keys each query sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options
from headwright.probes.rounding import apart

_STREAM = 90
_FEWEST = 4  # tokens
_PLAIN = Options()
_CHANGE = 3.0  # deviations


def changed(exam: Examination, given: Inputs, other: Inputs, token: int) -> Inputs:
    """One token replaced; for a function of q, k and v its key and value."""
    names = ("k", "v") if exam.layer.form == "qkv" else ("x",)
    far = other.each(lambda a: _CHANGE * a, *names)
    return given.with_token(token, far, *names)


def is_causal(exam: Examination, options: Options = _PLAIN) -> bool:
    """No output moves with the token after it."""
    sizes = replace(exam.layer.sizes, tokens=max(exam.layer.sizes.tokens, _FEWEST))
    given = exam.draw(_STREAM, sizes)
    other = exam.draw(_STREAM + 1, sizes)
    bound = exam.rounding(given, options).bound
    here = exam.layer.run(given, options)
    last = given.tokens - 1
    middle = given.tokens // 2
    for token in {middle, last}:
        there = exam.layer.run(changed(exam, given, other, token), options)
        if apart(there[..., :token, :], here[..., :token, :]) > bound:
            return False
    return True


def sees(exam: Examination) -> np.ndarray:
    """(1, 1, n, n), True where the plain call's output i moves with token j, and for i = j."""
    given = exam.draw(_STREAM)
    other = exam.draw(_STREAM + 1)
    n = given.tokens
    bound = exam.rounding(given).bound
    here = exam.layer.run(given)
    moves = np.eye(n, dtype=bool)
    for token in range(n):
        there = exam.layer.run(changed(exam, given, other, token))
        for row in range(n):
            moves[row, token] |= apart(there[..., row, :], here[..., row, :]) > bound
    return moves[None, None]
