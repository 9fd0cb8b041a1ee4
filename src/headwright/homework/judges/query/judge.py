"""A query is computed on several instances while its scale grows: do the weights tend to the
target? Then what was said about the scale is held against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwright.exercise.wanted import Wanted, wanted
from headwright.homework.judges.query.definitions import (
    Definition,
    attempts_at_two_heads,
    query_of_one_head,
)
from headwright.homework.judges.query.outcomes import (
    LONG,
    different,
    fails,
    fixed,
    no_means,
    no_scale,
    passes,
    random_keys,
    roles_of,
)
from headwright.homework.judges.query.scales import (
    are_equated,
    computed_size,
    noise_scaled,
    size_fault,
)
from headwright.homework.judges.query.written import INFINITE, read_queries
from headwright.homework.locating.answer import Answer, Judged, decide, tentative, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Node, Symbol, symbols, tree
from headwright.homework.meaning.notation import NOISE, PAIR
from headwright.homework.meaning.scale_size import size_of
from headwright.homework.meaning.statements import Statement
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.queries import WrittenQueries, reaches, reaches_times
from headwright.homework.scenes.roles import vector_roles
from headwright.homework.scenes.scene import spell
from headwright.homework.scenes.torn_symbols import glued
from headwright.homework.verdict import Outcome

MOST_LONE = 20  # expressions of which one may be the query


def judge_query(answer: Answer) -> Judged:
    """One head: of several statements `q = ...` the one offered as final decides."""
    found = [(s, query_of_one_head(s.chain)) for s in answer.statements]
    defined = {id(s): expression for s, expression in found if expression is not None}
    candidates = [s for s in answer.statements if id(s) in defined]
    if not candidates:
        return _lone_expression(answer)
    judged = decide(candidates, lambda s: _outcome(answer, [s], [defined[id(s)]]))
    return _with_heads(answer, judged, [defined[id(s)] for s in judged.chosen])


def _lone_expression(answer: Answer) -> Judged:
    """`beta (k_a + k_b)` without "q =": a right answer, where it is the only expression of its
    kind. What else it may be meant for cannot be told."""
    stated = [s for s in answer.statements if not s.chain.relations and not tentative(s)]
    distinct = {s.chain: s for s in stated if {t.index for t in symbols(s.chain)} >= set(PAIR)}
    lone = list(distinct.values())[:MOST_LONE]
    outcomes = {s.chain: (s, _outcome(answer, [s], [s.chain.terms[0]])) for s in lone}
    judged = [Judged(outcome, (s,)) for s, outcome in outcomes.values()]
    right = [one for one in judged if one.outcome.status == "correct"]
    if len(right) != 1:
        return unread("no statement of the form q = ... was found")
    return _with_heads(answer, right[0], [right[0].chosen[0].chain.terms[0]])


def judge_queries(answer: Answer) -> Judged:
    """Several heads: of several attempts at both queries the one offered as final decides."""
    attempts = attempts_at_two_heads(answer.statements)
    if not attempts:
        return unread("two queries q_1 = ..., q_2 = ... were not found")
    leads = _leads(attempts)
    leading = {id(lead): attempt for lead, attempt in zip(leads, attempts, strict=True)}
    judged = decide(leads, lambda lead: _outcome(answer, *_both(leading[id(lead)])))
    statements, expressions = _both(leading[id(judged.chosen[0])])
    return _with_heads(answer, replace(judged, chosen=tuple(statements)), expressions)


def _leads(attempts: list[list[Definition]]) -> list[Statement]:
    """The statement that opens each attempt: the first that belongs to no earlier one."""
    seen: set[int] = set()
    leads = []
    for attempt in attempts:
        statements = [statement for statement, _ in attempt]
        own = [s for s in statements if id(s) not in seen] or statements
        leads.append(min(own, key=lambda s: s.start))
        seen |= {id(s) for s in statements}
    return leads


def _both(attempt: list[Definition]) -> tuple[list[Statement], list[Node]]:
    # One statement may define both.
    statements = list({id(statement): statement for statement, _ in attempt}.values())
    return statements, glued([expression for _, expression in attempt])


def _with_heads(answer: Answer, judged: Judged, expressions: Sequence[Node]) -> Judged:
    """With the queries that later answers build on, where their letters can be told."""
    if not expressions:
        return judged
    try:
        roles = vector_roles(expressions, answer.question.parameters["vectors"])
    except Unknown:
        return judged
    return replace(judged, heads=WrittenQueries(tuple(expressions), roles))


def _outcome(answer: Answer, statements: list[Statement], expressions: list[Node]) -> Outcome:
    target = wanted(answer.question.parameters)
    try:
        heads = read_queries(expressions, answer)
        return _tested(answer, statements, heads, target)
    except Unknown as error:
        return Outcome("unread", f"could not determine {error}")
    except Mismatch as error:
        repair = "give a vector of the keys' length: a scale times keys or means"
        return Outcome("wrong", f"the formula has no value: {error}", repair=repair)


def _tested(
    answer: Answer, statements: list[Statement], heads: WrittenQueries, target: Wanted
) -> Outcome:
    about_means = answer.question.parameters["vectors"] == "means"
    roles = roles_of(heads)
    if "values" in roles and about_means:
        return Outcome("unread", "v may be a scanned mu; the formula was not judged")
    if Symbol(NOISE) in heads.scales and about_means:
        return noise_scaled(heads, target)
    if any("propto" in s.chain.relations for s in statements):
        if any(words.says("large", s.before + s.after) for s in statements):
            return Outcome("unread", "a direction, and words about a length that may belong to it")
        return _up_to_scale(heads, target)
    if not heads.scales and not heads.worded:
        return _in_words(heads, statements, target) or fixed(heads, target)
    several = len(heads.expressions) > 1
    if not reaches(heads, target):
        # One head may have a scale while the other has none.
        return _up_to_scale(heads, target) if several else fails(heads, target)

    faults = [*_unequal_scales(answer, heads, target), *_sizes(answer, heads, target)]
    if faults:
        return max(faults, key=lambda o: ("incomplete", "wrong").index(o.status))
    if several:
        return different(heads, target)
    if "keys" in roles and about_means:
        return random_keys()
    if "means" in roles and not about_means:
        return no_means()
    return passes(heads, target)


def _in_words(heads: WrittenQueries, statements: list[Statement], target: Wanted) -> Outcome | None:
    """`q = k_a + k_b`, "scaled by a large constant"."""
    last = statements[-1]
    scaled = words.says("scaled_up", last.after) and not words.says("negation", last.after)
    if not scaled or len(heads.expressions) > 1 or not reaches_times(heads, target, LONG):
        return None
    scaled_up = [tree.Multiply((INFINITE, e), (False,)) for e in heads.expressions]
    return passes(replace(heads, expressions=tuple(scaled_up)), target)


def _up_to_scale(heads: WrittenQueries, target: Wanted) -> Outcome:
    """The directions are right or not; a scale was not given either way."""
    right = reaches_times(heads, target, LONG)
    return no_scale(heads, target) if right else fails(heads, target)


def _sizes(answer: Answer, heads: WrittenQueries, target: Wanted) -> list[Outcome]:
    """Faults in what was said about the size of each scale."""
    faults = []
    for symbol in heads.scales:
        if symbol in heads.small:
            continue
        size = size_of(symbol, list(answer.pieces))
        if target.exact:
            size = computed_size(symbol, answer.statements, target) or size
            if size.said == "nothing" and any(sign.isdigit() for sign in answer.prose):
                raise Unknown(f"whether a number in the words is {spell(symbol)}")
        fault = size_fault(symbol, size, heads, target)
        if fault is not None:
            faults.append(fault)
    return faults


def _unequal_scales(answer: Answer, heads: WrittenQueries, target: Wanted) -> list[Outcome]:
    """Several scales inside one query must be equal."""
    if len(heads.scales) < 2 or reaches(heads, target, apart=True):
        return []
    if are_equated(heads.scales, answer.statements):
        return []
    names = [spell(symbol) for symbol in heads.scales]
    reason = f"works only if {' and '.join(names)} are equal, which is not said"
    repair = f"use one scale for all: {' = '.join(names)}"
    return [Outcome("incomplete", reason, repair=repair)]
