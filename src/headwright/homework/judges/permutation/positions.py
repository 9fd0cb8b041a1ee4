"""Do positions help (p.help)? A formula that separates P X + Phi from P (X + Phi) is computed;
words are read as points, and a bare yes is thin."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import SEED
from headwright.homework.judges.permutation.notation import Notation
from headwright.homework.judges.permutation.random_layer import SIZE, TOLERANCE
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.judges.points.sentences import stated
from headwright.homework.locating.answer import Answer, Judged, tentative
from headwright.homework.meaning.formula import Chain, Symbol
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.verdict import Outcome

REPAIR = "say that P X + Phi differs from P (X + Phi)"
_POSITIONS = ("Phi", "phi", "E", "PE")


def judge_positions(answer: Answer) -> Judged:
    """A formula that separates the two decides before one that confuses them."""
    claimed = [statement for statement in stated(answer) if not tentative(statement)]
    tested = [(statement, _outcome(statement.chain)) for statement in claimed]
    for status in ("correct", "wrong"):
        for statement, outcome in tested:
            if outcome is not None and outcome.status == status:
                return Judged(outcome, (statement,))
    return judged_by_points(read(answer, "p.help"))


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
