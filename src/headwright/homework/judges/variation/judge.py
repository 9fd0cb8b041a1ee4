"""The question says how many heads there are."""

from __future__ import annotations

from headwright.homework.judges.variation.one_head import judge_one_head
from headwright.homework.judges.variation.two_heads import judge_two_heads
from headwright.homework.locating.answer import Answer, Judged


def judge_variation(answer: Answer) -> Judged:
    heads = answer.question.parameters.get("heads")
    return judge_two_heads(answer) if heads == 2 else judge_one_head(answer)
