"""The question says how many heads there are; on a sheet with letters of its own, an answer in
other letters speaks of other keys."""

from __future__ import annotations

from headwright.exercise.letters import USABLE
from headwright.homework.judges.claims import VALUE_ROLES, letters
from headwright.homework.judges.variation.one_head import judge_one_head
from headwright.homework.judges.variation.two_heads import judge_two_heads
from headwright.homework.locating.answer import Answer, Judged
from headwright.homework.verdict import Outcome


def judge_variation(answer: Answer) -> Judged:
    parameters = answer.question.parameters
    heads = parameters.get("heads")
    judged = judge_two_heads(answer) if heads == 2 else judge_one_head(answer)
    if judged.outcome.status in ("unread", "incomplete") and parameters.get("lettered"):
        return _of_other_keys(answer) or judged
    return judged


def _of_other_keys(answer: Answer) -> Judged | None:
    """Values are named, and none but those of keys that the sheet does not name."""
    named = {
        symbol.index
        for statement in answer.statements
        for symbol in letters(statement.chain.terms)
        if symbol.name in VALUE_ROLES
    }
    strange = sorted(named & set(USABLE))
    if not strange or named & {"a", "b"} == {"a", "b"}:
        return None
    values = " and ".join(f"v_{letter}" for letter in strange)
    reason = f"it speaks of {values}, which this sheet does not ask about"
    return Judged(Outcome("wrong", reason, repair="say it of v_a and v_b"))
