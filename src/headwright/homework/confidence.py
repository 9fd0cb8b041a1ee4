"""How sure a verdict is: sure of the place, times how reliable this way of judging is.

An equation that is computed hardly errs once it is read; a claim is told by its cases and words; a
proof has many lines and a role to guess for every letter. The order of these matters, not their
size: `bench check_real` says whether errors are among the doubtful half.
"""

from __future__ import annotations

from headwright.homework.locating.answer import Judged

# By the bank's `test`
_RELIABLE = {
    "query": 1.0,
    "queries": 1.0,
    "output": 1.0,
    "matrix": 0.95,
    "self_output": 0.95,
    "self_matrices": 0.95,
    "distribution": 0.95,
    "condition": 0.9,
    "variation": 0.8,
    "equivariance": 0.75,
}
_WORDS = 0.75  # any other test reads words
_WITHOUT_FORMULA = 0.9  # no statement decided: the words of the answer did
_FAULT_FOUND = 0.97  # most answers are right, so a fault is a little more often ours


def confidence(of_place: float, test: str, judged: Judged) -> float:
    """Between 0 and 1; what is unread or missing is as sure as its place."""
    status = judged.outcome.status
    if status in ("unread", "missing"):
        return of_place
    sure = of_place * _RELIABLE.get(test, _WORDS)
    if not judged.chosen:
        sure *= _WITHOUT_FORMULA
    if status != "correct":
        sure *= _FAULT_FOUND
    return round(sure, 2)
