"""Why the weights are a distribution (a.prob): both properties must be named, in signs or words."""

from __future__ import annotations

from headwright.homework.judges.claims import has_exponential, words_spent
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, tree
from headwright.homework.meaning.shapes import shapes_of
from headwright.homework.verdict import Outcome

MUCH_SAID = 8  # words among which the lacking property may be
_ZERO = tree.Number(0.0)
_ONE = tree.Number(1.0)


def judge_distribution(answer: Answer) -> Judged:
    sums = [s for s in answer.statements if _sums_to_one(s.chain)]
    bounds = [s for s in answer.statements if _bounds_below(s.chain)]
    chosen = tuple(bounds + sums)

    sum_is_named = sums or words.says("sums_to_one", answer.prose)
    bound_is_named = bounds or words.says("nonnegative", answer.prose)
    if sum_is_named and bound_is_named:
        reason = "both properties are named: no weight is negative and they sum to one"
        return Judged(Outcome("correct", reason), chosen)
    if not chosen:
        return unread("no statement about the weights was found; words are not judged")

    lacking = "that no weight is negative" if sums else "that they sum to one"
    if words_spent(answer) > MUCH_SAID:
        reason = f"{lacking} may be said in words that were not understood"
        return Judged(Outcome("unread", reason), chosen)
    example = {"weights": [1.5, -0.5] if sums else [0.9, 0.9]}
    incomplete = Outcome("incomplete", f"it is not said {lacking}", example, f"add {lacking}")
    return Judged(incomplete, chosen)


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
