"""Questions that ask for a query (b.q, c.q) or for one query per head (d.q)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwright.homework.judges.outcomes import (
    different,
    fails,
    fixed,
    no_scale,
    passes,
    random_keys,
)
from headwright.homework.judges.scales import noise_scaled, size_fault
from headwright.homework.locating.answer import Answer, Judged, decide, tentative, unread
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree
from headwright.homework.meaning.sizes import size_of
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.queries import (
    NOISE,
    SMALL,
    Heads,
    reaches,
    reaches_times,
)
from headwright.homework.scenes.roles import glued, rejoined, vector_roles
from headwright.homework.scenes.scene import spell
from headwright.homework.verdict import Outcome


def judge_query(answer: Answer) -> Judged:
    """One head: the last statement `q = ...` decides."""
    candidates = [s for s in answer.statements if defined(s.chain, one_head=True) is not None]
    if not candidates:
        return unread("no statement of the form q = ... was found")
    judged = decide(candidates, lambda s: _outcome(answer, [s], [defined(s.chain, one_head=True)]))  # type: ignore[list-item]
    return _with_heads(answer, judged, [defined(s.chain, one_head=True) for s in judged.chosen])


def judge_queries(answer: Answer) -> Judged:
    """Several heads: the last firm definition of each head's query."""
    found: dict[str, tuple[Statement, Node]] = {}
    for statement in _paired(answer.statements):
        for index, expression in head_definitions(statement.chain):
            if not tentative(statement) or index not in found:
                found[index] = (statement, expression)
    found = _two(found)
    if len(found) < 2:
        return unread("two queries q_1 = ..., q_2 = ... were not found")
    statements = list({id(s): s for s, _ in found.values()}.values())
    expressions = glued([e for _, e in found.values()])
    outcome = _outcome(answer, statements, expressions)
    return _with_heads(answer, Judged(outcome, tuple(statements)), expressions)


def _with_heads(answer: Answer, judged: Judged, expressions: Sequence[Node | None]) -> Judged:
    known = [e for e in expressions if e is not None]
    try:
        heads = (
            Heads(tuple(known), vector_roles(known, answer.question.parameters["vectors"]))
            if known
            else None
        )
    except Unknown:
        heads = None
    return Judged(judged.outcome, judged.chosen, judged.earlier, heads)


def defined(chain: Chain, *, one_head: bool) -> Node | None:
    """The expression that `q = ...` (or `... = q`) gives for the query of one head."""
    terms = chain.terms
    if len(terms) < 2 or not set(chain.relations) <= {"=", "~=", "propto", "~", "->"}:
        return None
    for ends in (terms, terms[::-1]):
        # Q' = (...)' as well
        symbol = bare(ends[0].of if isinstance(ends[0], tree.Transpose) else ends[0])
        if (
            symbol is not None
            and symbol.name in ("q", "Q")
            and (not symbol.index or symbol.index == "*") == one_head
        ):
            rest = [t for t in ends[1:] if not isinstance(t, Missing) and not _is_query(t)]
            return rest[0] if rest else None
    return None


def _is_query(node: Node) -> bool:
    symbol = bare(node)
    return symbol is not None and symbol.name in ("q", "Q")


def _paired(statements: list[Statement]) -> list[Statement]:
    """`q_1, q_2 = x, y` was read as q_1 | q_2 = x | y; put it right."""
    out = list(statements)
    for k in range(len(out) - 2):
        first, middle, last = out[k : k + 3]
        lone = not first.chain.relations and not last.chain.relations
        same = first.segment == middle.segment == last.segment
        if (
            lone
            and same
            and _is_query(first.chain.terms[0])
            and _is_query(middle.chain.terms[0])
            and len(middle.chain.terms) == 2
        ):
            out[k] = replace(
                first, chain=Chain((first.chain.terms[0], middle.chain.terms[1]), ("=",))
            )
            out[k + 1] = replace(
                middle, chain=Chain((middle.chain.terms[0], last.chain.terms[0]), ("=",))
            )
    return out


def head_definitions(chain: Chain) -> list[tuple[str, Node]]:
    """`q_1 = q_2 = e` defines both heads, `(q_1, q_2) = (x, y)` one each."""
    left, right = chain.terms[0], chain.terms[-1]
    if (
        isinstance(left, tree.Bracket)
        and isinstance(right, tree.Bracket)
        and len(left.items) == len(right.items)
    ):
        named = [(bare(q), e) for q, e in zip(left.items, right.items, strict=True)]
        return [
            (q.index, e) for q, e in named if q is not None and q.name in ("q", "Q") and q.index
        ]
    heads = [
        s
        for t in chain.terms
        if (s := bare(t)) is not None and s.name in ("q", "Q") and s.index not in ("", "*")
    ]
    expression = defined(chain, one_head=False)
    return [(h.index.strip("()"), expression) for h in heads] if expression is not None else []


def _two(found: dict[str, tuple[Statement, Node]]) -> dict[str, tuple[Statement, Node]]:
    """Scans read the 1 of q_1 as i or l."""
    if len(found) == 2:
        return found
    for pair in (("1", "2"), ("a", "b"), ("i", "2"), ("l", "2"), ("I", "2"), ("A", "B")):
        if all(p in found for p in pair):
            return {p: found[p] for p in pair}
    return found if len(found) < 2 else {}


def _outcome(answer: Answer, statements: list[Statement], expressions: list[Node]) -> Outcome:
    parameters = answer.question.parameters
    target = dict(parameters["target"])
    try:
        expressions = [e if any(s.index for s in symbols(e)) else rejoined(e) for e in expressions]
        roles = vector_roles(expressions, parameters["vectors"])
        heads = Heads(tuple(expressions), roles)
        shrinking = frozenset(s for s in heads.scales if s.name in SMALL)
        if shrinking and reaches(replace(heads, small=shrinking), target):
            heads = replace(heads, small=shrinking)
        return _tested(answer, statements, heads, target)
    except Unknown as error:
        return Outcome("unread", f"could not tell {error}")
    except Mismatch as error:
        repair = "give a vector of the keys' length: a scale times keys or means"
        return Outcome("wrong", f"the formula has no value: {error}", repair=repair)


def _tested(
    answer: Answer, statements: list[Statement], heads: Heads, target: dict[str, float]
) -> Outcome:
    wanted = answer.question.parameters["vectors"]
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    if "values" in kinds and wanted == "means":
        return Outcome("unread", "v may be a scanned mu; the formula was not judged")
    if Symbol(NOISE) in heads.scales and wanted == "means":
        return noise_scaled(heads, target)
    if any("propto" in s.chain.relations for s in statements):
        heads_pass = reaches_times(heads, target, 1e4)
        return no_scale(heads, target) if heads_pass else fails(heads, target)
    if not heads.scales and not heads.worded:
        return fixed(heads, target)
    if not reaches(heads, target):
        # One head has a scale, one has none
        lacking = len(heads.expressions) > 1 and reaches_times(heads, target, 1e4)
        return no_scale(heads, target) if lacking else fails(heads, target)
    faults = [*_unequal(answer, heads, target), *_small(answer, heads, target)]
    if faults:
        return max(faults, key=lambda o: ("incomplete", "wrong").index(o.status))
    if len(heads.expressions) > 1:
        return different(heads, target)
    if "keys" in kinds and wanted == "means":
        return random_keys(heads)
    return passes(heads, target)


def _small(answer: Answer, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    """What was said about the size of each scale."""
    out = []
    for symbol in (s for s in heads.scales if s not in heads.small):
        size = size_of(symbol, list(answer.pieces))
        out += size_fault(symbol, size, heads, target)
    return out


def _unequal(answer: Answer, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    """Several scales inside one query must be equal."""
    if len(heads.scales) < 2 or reaches(heads, target, apart=True):
        return []
    names = [spell(s) for s in heads.scales]
    for piece in answer.statements:
        if {bare(t) for t in piece.chain.terms} >= set(heads.scales) and set(
            piece.chain.relations
        ) <= {"=", "~="}:
            return []
    return [
        Outcome(
            "incomplete",
            f"works only if {' and '.join(names)} are equal, which is not said",
            repair=f"use one scale for all: {' = '.join(names)}",
        )
    ]
