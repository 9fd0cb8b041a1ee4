"""Why the weights are a distribution (a.prob): both properties must be named, in signs or words."""

from __future__ import annotations

from dataclasses import replace

from headwright.homework.judges.claims import has_exponential
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.locating.answer import Answer, Judged
from headwright.homework.meaning.formula import Chain, tree
from headwright.homework.meaning.shapes import shapes_of

_ZERO = tree.Number(0.0)
_ONE = tree.Number(1.0)
# Weights that have the property that is named and lack the other.
_EXAMPLES = {"sum": [1.5, -0.5], "nonnegative": [0.9, 0.9]}


def judge_distribution(answer: Answer) -> Judged:
    shown = {}
    for statement in answer.statements:
        if _bounds_below(statement.chain):
            shown["nonnegative"] = statement
        if _sums_to_one(statement.chain):
            shown["sum"] = statement
    reading = read(answer, "a.prob", shown)
    judged = judged_by_points(reading)
    if judged.outcome.status != "incomplete":
        return judged
    named = next((name for name in _EXAMPLES if name in reading.said), None)
    if named is None:  # nothing but "it is a softmax"
        return judged
    example = {"weights": _EXAMPLES[named]}
    return replace(judged, outcome=replace(judged.outcome, counterexample=example))


def _sums_to_one(chain: Chain) -> bool:
    if "weights sum to one" in shapes_of(chain):
        return True
    summed = any(isinstance(term, tree.Sum) for term in chain.terms)
    return summed and chain.terms[-1] == _ONE and "=" in chain.relations


def _bounds_below(chain: Chain) -> bool:
    """`alpha_i >= 0`, `0 <= alpha_i <= 1`, `alpha in [0, 1]`, `exp(...) > 0`."""
    if "weights bounded" in shapes_of(chain):
        return _ZERO in chain.terms or "in" in chain.relations
    ordered = set(chain.relations) & {">", ">=", "<", "<="}
    return bool(ordered) and _ZERO in chain.terms and has_exponential(chain.terms)
