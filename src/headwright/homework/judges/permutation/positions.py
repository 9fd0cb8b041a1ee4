"""Do positions help (p.help)? A formula that separates P X + Phi from P (X + Phi) is computed; a
bare yes is thin."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import SEED
from headwright.homework.judges.permutation.notation import Notation
from headwright.homework.judges.permutation.random_layer import SIZE, TOLERANCE
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Symbol
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.verdict import Outcome

REPAIR = "say that P X + Phi differs from P (X + Phi)"
BARE_YES = 4  # words, at most
_POSITIONS = ("Phi", "phi", "E", "PE")


def judge_positions(answer: Answer) -> Judged:
    tested = [(s, _outcome(s.chain)) for s in answer.statements]
    found = [(statement, outcome) for statement, outcome in tested if outcome is not None]
    if found:
        statement, outcome = found[-1]
        return Judged(outcome, (statement,))
    short = len(answer.prose.split()) <= BARE_YES and not answer.statements
    if short and words.says("yes", answer.prose):
        return Judged(Outcome("incomplete", "a bare yes: it is not said why", repair=REPAIR))
    return unread("an answer in words: quoted, not judged")


def _outcome(chain: Chain) -> Outcome | None:
    """`P X + Phi != P (X + Phi)`, or an equation that claims they are equal."""
    if chain.relations not in (("!=",), ("=",)):
        return None
    phi = np.random.default_rng(SEED + 1).standard_normal((SIZE, SIZE))
    positions = {Symbol(name): phi for name in _POSITIONS}
    notation = Notation(own={**positions})
    try:
        left, right = (evaluate(term, notation) for term in chain.terms)
    except (Unknown, Mismatch):
        return None

    equal = agree(left, right, TOLERANCE)
    claimed_equal = chain.relations == ("=",)
    if equal != claimed_equal:
        found = "equal" if equal else "different"
        reason = f"computed on random X, P and Phi, the two sides are {found}"
        return Outcome("wrong", reason, repair=REPAIR)
    if equal:
        return None  # true of any layer, so it says nothing about positions
    return Outcome("correct", "computed: positions break the symmetry")
