"""From a located answer to a verdict: one table from the bank's `test` to the function that computes it."""

from __future__ import annotations

from collections.abc import Callable

from headwright.exercise.bank import Bank
from headwright.homework.answer import Answer, Judged, unread
from headwright.homework.document import Document
from headwright.homework.judges.claims import judge_distribution, judge_output, judge_variation
from headwright.homework.judges.condition import judge_condition
from headwright.homework.judges.matrix import judge_matrix
from headwright.homework.judges.query import judge_queries, judge_query
from headwright.homework.locate import Located
from headwright.homework.queries import Heads
from headwright.homework.statements import Piece, Statement
from headwright.homework.verdict import Span, Verdict

QUOTE = 400


def _prose(answer: Answer) -> Judged:
    return unread("an answer in words: quoted, not judged")


TESTS: dict[str, Callable[[Answer], Judged]] = {
    "distribution": judge_distribution,
    "condition": judge_condition,
    "output": judge_output,
    "matrix": judge_matrix,
    "query": judge_query,
    "queries": judge_queries,
    "variation": judge_variation,
    "prose": _prose,
}


def judge(located: Located, bank: Bank, document: Document, pieces: list[Piece], heads: dict[str, Heads]) -> Verdict:
    """The verdict on one answer. `heads` collects the queries that later answers build on."""
    question = bank[located.question]
    wanted = set(located.segments)
    own = tuple(p for p in pieces if p.segment in wanted)
    answer = Answer(question, located, document, own, tuple(pieces), heads)
    judged = TESTS.get(question.test, _prose)(answer)
    if judged.heads is not None:
        heads[question.id] = judged.heads
    remarks = judged.outcome.remarks + tuple(
        f"earlier candidate: {_spelled(s)} ({o.status}: {o.reason})" for s, o in judged.earlier
    )
    return Verdict(
        question=question.id,
        answer=_text(answer, judged),
        status=judged.outcome.status,
        reason=judged.outcome.reason,
        counterexample=judged.outcome.counterexample,
        repair=judged.outcome.repair,
        span=_span(answer, judged),
        remarks=remarks,
        confidence=located.confidence,
    )


def _spelled(statement: Statement) -> str:
    return " ".join(statement.source.split())[:120]


def _text(answer: Answer, judged: Judged) -> str:
    """The deciding statements as written; the whole answer where none decides."""
    if judged.chosen:
        return "; ".join(dict.fromkeys(_spelled(s) for s in judged.chosen))[:QUOTE]
    start, end = answer.located.span
    return " ".join(answer.document.text[start:end].split())[:QUOTE]


def _span(answer: Answer, judged: Judged) -> Span:
    segments = answer.document.segments
    numbers = [s.segment for s in judged.chosen] or list(answer.located.segments)
    first, last = segments[min(numbers)], segments[max(numbers)]
    return Span(first.start, last.end, first.line_start, last.line_end)
