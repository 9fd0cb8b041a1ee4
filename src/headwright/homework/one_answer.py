"""From a located answer to a verdict: one table from the bank's `test` to the function that
computes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from headwright.exercise.bank import Bank
from headwright.homework.confidence import confidence
from headwright.homework.judges.condition.judge import judge_condition
from headwright.homework.judges.distribution import judge_distribution
from headwright.homework.judges.matrix import judge_matrix
from headwright.homework.judges.output import judge_output
from headwright.homework.judges.permutation.equivariance import (
    check_equations,
    judge_equivariance,
)
from headwright.homework.judges.permutation.positions import judge_positions
from headwright.homework.judges.points.judge import judge_prose
from headwright.homework.judges.query.judge import judge_queries, judge_query
from headwright.homework.judges.selfattention import judge_self_matrices, judge_self_output
from headwright.homework.judges.steps.check import Step, check_steps
from headwright.homework.judges.variation.judge import judge_variation
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.locating.locate import Located
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import parse
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.reading.document import Document
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.queries import WrittenQueries
from headwright.homework.showing.quoting import aligned_as_one, shortened, without_markup
from headwright.homework.verdict import Outcome, Span, Verdict, our_fault

MOST_QUOTED = 600  # characters of an answer
MOST_LOOKED_AT = 5 * MOST_QUOTED  # of which markup may be the larger part
MOST_SPELLED = 300  # characters of one statement


JUDGES: dict[str, Callable[[Answer], Judged]] = {
    "distribution": judge_distribution,
    "condition": judge_condition,
    "output": judge_output,
    "matrix": judge_matrix,
    "query": judge_query,
    "queries": judge_queries,
    "variation": judge_variation,
    "self_output": judge_self_output,
    "self_matrices": judge_self_matrices,
    "equivariance": judge_equivariance,
    "positions": judge_positions,
    "prose": judge_prose,
}
# Tests whose intermediate formulas are checked, too.
STEPS: dict[str, Callable[[Answer, Judged], Iterable[Step]]] = {
    "query": check_steps,
    "queries": check_steps,
    "variation": check_steps,
    "equivariance": check_equations,
}


def judge_answer(
    located: Located,
    bank: Bank,
    document: Document,
    pieces: list[Piece],
    heads: dict[str, WrittenQueries],
) -> Verdict:
    """The verdict on one answer. `heads` collects the queries that later answers build on."""
    question = bank[located.question]
    wanted = set(located.segments)
    own = tuple(piece for piece in pieces if piece.segment in wanted)
    answer = Answer(question, located, document, own, tuple(pieces), heads)
    judged = _missing(located) if located.empty else _computed(answer)
    if judged.heads is not None:
        heads[question.id] = judged.heads
    outcome = judged.outcome
    return Verdict(
        question=question.id,
        answer=_text(answer, judged),
        status=outcome.status,
        reason=outcome.reason,
        counterexample=outcome.counterexample,
        repair=outcome.repair,
        span=_span(answer, judged),
        steps=_steps(answer, judged),
        remarks=(*outcome.remarks, *_remarks_on_candidates(judged)),
        confidence=confidence(located.confidence, question.test, judged),
    )


def _missing(located: Located) -> Judged:
    reason = located.why or "the question stands here and nothing is written under it"
    return Judged(Outcome("missing", reason))


def _computed(answer: Answer) -> Judged:
    """The bank's test. What numbers cannot decide (overflow, a singular matrix) stays unread."""
    judge = JUDGES[answer.question.test]
    try:
        return judge(answer)
    except (Unknown, Mismatch, ArithmeticError, np.linalg.LinAlgError) as error:
        return unread(f"the formula could not be evaluated: {error}")
    except (MemoryError, RecursionError):
        raise
    except Exception as fault:  # ours; it must not cost the other answers their verdicts
        return unread(our_fault(fault))


def _remarks_on_candidates(judged: Judged) -> list[str]:
    return [
        f"also offered: {_spelled(statement)} ({outcome.status}: {outcome.reason})"
        for statement, outcome in judged.others
    ]


# -------------------------------------------------------------------------------- steps


# Of several steps of one kind the worst is reported.
_WORST = ("wrong", "incomplete", "correct", "unread")


def _steps(answer: Answer, judged: Judged) -> tuple[Verdict, ...]:
    found: dict[str, Verdict] = {}
    for step in _checked_steps(answer, judged):
        verdict = _verdict_on_step(answer, step)
        other = found.get(verdict.question)
        if other is None or _WORST.index(verdict.status) < _WORST.index(other.status):
            found[verdict.question] = verdict
    return tuple(found.values())


def _verdict_on_step(answer: Answer, step: Step) -> Verdict:
    name, statement, outcome = step
    place = answer.document.segments[statement.segment]
    return Verdict(
        question=f"{answer.question.id}/step:{name}",
        answer=_spelled(statement),
        status=outcome.status,
        reason=outcome.reason,
        counterexample=outcome.counterexample,
        repair=outcome.repair,
        span=Span(statement.start, statement.end, place.line_start, place.line_end),
        confidence=answer.located.confidence,
    )


def _checked_steps(answer: Answer, judged: Judged) -> list[Step]:
    check = STEPS.get(answer.question.test)
    if check is None:
        return []
    try:
        return list(check(answer, judged))
    except (MemoryError, RecursionError):
        raise
    except Exception as fault:  # ours; a step must not cost the answer its verdict
        unjudged = Outcome("unread", our_fault(fault))
        return [("unread", statement, unjudged) for statement in judged.chosen[:1]]


# --------------------------------------------------------------- the student's own words


_BETWEEN = re.compile(
    r"\\\\|\\q?quad|\\(?:Long)?[Rr]ightarrow|\\implies|\\therefore|\\text\s*\{[^}]*\}|[,;，；]|\s{3,}"
)
_OPENING = re.compile(r"\\[a-z]+\{$")  # a command whose end was cut off


def _spelled(statement: Statement) -> str:
    """The statement as typed: of a long formula only the piece that says it."""
    for piece in _BETWEEN.split(statement.source):
        items = parse(piece, quantity=words.large_number)
        if any(item == statement.chain for item in items):
            text = _OPENING.sub("", aligned_as_one(piece))
            return shortened(text.strip(), MOST_SPELLED)
    return shortened(aligned_as_one(statement.source), MOST_SPELLED)


def _text(answer: Answer, judged: Judged) -> str:
    """The deciding statements as written; the whole answer where none decides; nothing where
    nothing is written."""
    if answer.located.empty:
        return ""
    if judged.chosen:
        distinct = dict.fromkeys(_spelled(statement) for statement in judged.chosen)
        return shortened("; ".join(distinct), MOST_QUOTED)
    spoken = [answer.document.segments[k] for k in _spoken(answer)]
    start = spoken[0].start
    end = min(spoken[-1].end, start + MOST_LOOKED_AT)
    return shortened(without_markup(answer.document.text[start:end]), MOST_QUOTED)


def _spoken(answer: Answer) -> list[int]:
    """The segments in which the student speaks; all of them where none is marked."""
    numbered = [(k, answer.document.segments[k]) for k in answer.located.segments]
    own = [k for k, part in numbered if part.voice != "question" and part.kind != "heading"]
    return own or list(answer.located.segments)


def _span(answer: Answer, judged: Judged) -> Span:
    numbers = [statement.segment for statement in judged.chosen] or _spoken(answer)
    first = answer.document.segments[min(numbers)]
    last = answer.document.segments[max(numbers)]
    return Span(first.start, last.end, first.line_start, last.line_end)
