"""From a located answer to a verdict: one table from the bank's `test` to the function that
computes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from headwright.exercise.bank import Bank
from headwright.homework import limits
from headwright.homework.judges.condition import judge_condition
from headwright.homework.judges.distribution import judge_distribution
from headwright.homework.judges.equivariance import checked_equations, judge_equivariance
from headwright.homework.judges.matrix import judge_matrix
from headwright.homework.judges.output import judge_output
from headwright.homework.judges.positions import judge_positions
from headwright.homework.judges.query import judge_queries, judge_query
from headwright.homework.judges.selfattention import judge_self_matrices, judge_self_output
from headwright.homework.judges.steps import check_steps
from headwright.homework.judges.variation import judge_variation
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.locating.locate import Located
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import parse, symbols
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.reading.document import Document
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.queries import Heads
from headwright.homework.verdict import Outcome, Span, Verdict

QUOTE = 400
# Tests whose intermediate formulas are checked, too.
STEPS = ("query", "queries", "variation")


def _prose(answer: Answer) -> Judged:
    return unread("an answer in words: quoted, not judged")


def _computed(answer: Answer) -> Judged:
    """The bank's test. What numbers cannot decide (overflow, a singular matrix) stays unread."""
    try:
        return TESTS.get(answer.question.test, _prose)(answer)
    except (Unknown, Mismatch, ArithmeticError, np.linalg.LinAlgError) as error:
        return unread(f"the formula could not be evaluated: {error}")
    except (MemoryError, RecursionError):
        raise
    except Exception as fault:  # ours; it must not cost the other answers their verdicts
        return unread(
            f"{limits.OUR_FAULT} ({type(fault).__name__}: {str(fault)[:200]}); read it yourself"
        )


def _missing() -> Judged:
    return Judged(
        Outcome("missing", "the question is numbered here and nothing is written under it")
    )


TESTS: dict[str, Callable[[Answer], Judged]] = {
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
    "prose": _prose,
}


def judge(
    located: Located, bank: Bank, document: Document, pieces: list[Piece], heads: dict[str, Heads]
) -> Verdict:
    """The verdict on one answer. `heads` collects the queries that later answers build on."""
    question = bank[located.question]
    wanted = set(located.segments)
    own = tuple(p for p in pieces if p.segment in wanted)
    answer = Answer(question, located, document, own, tuple(pieces), heads)
    judged = _computed(answer) if not located.empty else _missing()
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
        steps=_steps(answer, judged),
        remarks=remarks,
        confidence=located.confidence,
    )


# Of several steps of one kind the worst is reported.
_WORST = ("wrong", "incomplete", "correct", "unread")


def _steps(answer: Answer, judged: Judged) -> tuple[Verdict, ...]:
    found: dict[str, Verdict] = {}
    for name, statement, outcome in _found_steps(answer, judged):
        id = f"{answer.question.id}/step:{name}"
        place = answer.document.segments[statement.segment]
        verdict = Verdict(
            question=id,
            answer=_spelled(statement),
            status=outcome.status,
            reason=outcome.reason,
            counterexample=outcome.counterexample,
            repair=outcome.repair,
            span=Span(statement.start, statement.end, place.line_start, place.line_end),
            confidence=answer.located.confidence,
        )
        if id not in found or _WORST.index(verdict.status) < _WORST.index(found[id].status):
            found[id] = verdict
    return tuple(found.values())


def _found_steps(answer: Answer, judged: Judged) -> Iterable[tuple[str, Statement, Outcome]]:
    try:
        return list(_checked_steps(answer, judged))
    except (MemoryError, RecursionError):
        raise
    except (
        Exception
    ) as fault:  # ours; a step that cannot be judged must not cost the answer its verdict
        reason = (
            f"{limits.OUR_FAULT} ({type(fault).__name__}: {str(fault)[:200]}); read it yourself"
        )
        return [("unread", statement, Outcome("unread", reason)) for statement in judged.chosen[:1]]


def _checked_steps(answer: Answer, judged: Judged) -> Iterable[tuple[str, Statement, Outcome]]:
    if answer.question.test == "equivariance":
        equations = [
            (s, o)
            for s, o, about in checked_equations(answer)
            if not about and s not in judged.chosen
        ]
        return [(_letter(s), s, o) for s, o in equations]
    return check_steps(answer, judged.chosen) if answer.question.test in STEPS else ()


def _letter(statement: Statement) -> str:
    """Equations about Q, K, V and S are reported under that letter; S is the scores."""
    found = symbols(statement.chain.terms[0])
    name = found[0].name[:1] if found else "equation"
    return "scores" if name == "S" else name


_BETWEEN = re.compile(
    r"\\\\|\\q?quad|\\(?:Long)?[Rr]ightarrow|\\implies|\\therefore|\\text\s*\{[^}]*\}|[,;，；]|\s{3,}"
)


def _spelled(statement: Statement) -> str:
    """The statement as typed: of a long formula only the piece that says it."""
    for piece in _BETWEEN.split(statement.source):
        if any(item == statement.chain for item in parse(piece, quantity=words.large_number)):
            return re.sub(r"\\[a-z]+\{$", "", " ".join(piece.split()))[:120].strip()
    return " ".join(statement.source.split())[:120]


def _text(answer: Answer, judged: Judged) -> str:
    """The deciding statements as written; the whole answer where none decides."""
    if judged.chosen:
        return "; ".join(dict.fromkeys(_spelled(s) for s in judged.chosen))[:QUOTE]
    spoken = [answer.document.segments[k] for k in _spoken(answer)]
    text = answer.document.text[spoken[0].start : spoken[-1].end]
    return " ".join(text.split())[:QUOTE]


def _spoken(answer: Answer) -> list[int]:
    """The segments in which the student speaks; all of them where none is marked."""
    segments = answer.document.segments
    own = [
        k
        for k in answer.located.segments
        if segments[k].voice != "question" and segments[k].kind != "heading"
    ]
    return own or list(answer.located.segments)


def _span(answer: Answer, judged: Judged) -> Span:
    segments = answer.document.segments
    numbers = [s.segment for s in judged.chosen] or _spoken(answer)
    first, last = segments[min(numbers)], segments[max(numbers)]
    return Span(first.start, last.end, first.line_start, last.line_end)
