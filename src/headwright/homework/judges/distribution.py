"""Why the weights are a distribution (a.prob): both properties must be named, in signs or in words."""

from __future__ import annotations

from headwright.homework.judges.claims import length
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, tree, walk
from headwright.homework.meaning.shapes import tags
from headwright.homework.verdict import Outcome


def judge_distribution(answer: Answer) -> Judged:
    sums = [s for s in answer.statements if _normalised(s.chain)]
    bounded = [s for s in answer.statements if _nonnegative(s.chain)]
    says_sum, says_bound = (
        words.says("sums_to_one", answer.prose),
        words.says("nonnegative", answer.prose),
    )
    chosen = tuple(bounded + sums)
    if (sums or says_sum) and (bounded or says_bound):
        return Judged(
            Outcome(
                "correct", "both properties are named: no weight is negative and they sum to one"
            ),
            chosen,
        )
    if not chosen:
        return unread("no statement about the weights was found; words are not judged")
    lacking = "that no weight is negative" if sums else "that they sum to one"
    if _much_said(answer):
        return Judged(
            Outcome("unread", f"{lacking} may be said in words that were not understood"), chosen
        )
    example = {"weights": [1.5, -0.5]} if sums else {"weights": [0.9, 0.9]}
    return Judged(
        Outcome("incomplete", f"it is not said {lacking}", example, f"add {lacking}"), chosen
    )


def _much_said(answer: Answer) -> bool:
    """Enough other words that the lacking property may be among them."""
    return length(answer) > 8


def _normalised(chain: Chain) -> bool:
    if "weights sum to one" in tags(chain):
        return True
    return (
        any(isinstance(t, tree.Sum) for t in chain.terms)
        and chain.terms[-1] == tree.Number(1.0)
        and "=" in chain.relations
    )


def _nonnegative(chain: Chain) -> bool:
    """`alpha_i >= 0`, `0 <= alpha_i <= 1`, `alpha in [0, 1]`, `exp(...) > 0`."""
    if "weights bounded" in tags(chain):
        return any(t == tree.Number(0.0) for t in chain.terms) or "in" in chain.relations
    positive = any(
        isinstance(n, tree.Call) and n.function == "exp" for t in chain.terms for n in walk(t)
    )
    return (
        positive
        and tree.Number(0.0) in chain.terms
        and bool(set(chain.relations) & {">", ">=", "<", "<="})
    )
