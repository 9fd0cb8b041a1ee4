"""What a statement says the query is: `q = ...`, `q_1 = ...`, `(q_1, q_2) = (..., ...)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, tree
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare, without_sets

_DEFINING = {"=", "~=", "propto", "~", "->"}
_NO_HEAD = ("", "*")  # indices that do not number a head: q and the best q*
# The two heads by name, likeliest first: scans read the 1 of q_1 as i or l.
_HEAD_NAMES = (("1", "2"), ("a", "b"), ("i", "2"), ("l", "2"), ("I", "2"), ("A", "B"))

# "q_1 and q_2 are x and y": so many formulas and words may stand between the first and the last
_APART = 6

Definition = tuple[Statement, Node]


def query_of_one_head(chain: Chain) -> Node | None:
    """The expression that `q = ...` (or `... = q`) gives for the only query."""
    return _defined(chain, numbered=False)


def attempts_at_two_heads(statements: list[Statement]) -> list[list[Definition]]:
    """The definitions of both heads' queries, once for every time they were given."""
    rounds: list[dict[str, Definition]] = [{}]
    for statement in _untangled(statements):
        for head, expression in _queries_of_heads(statement.chain):
            given = rounds[-1].get(head)
            if given is not None and given[0] is not statement:
                rounds.append({})
            rounds[-1][head] = (statement, expression)
    return [list(pair.values()) for pair in _completed(rounds) if len(pair) == 2]


def _completed(rounds: list[dict[str, Definition]]) -> Iterator[dict[str, Definition]]:
    """Where only one head's query is given anew, the other one stays as it was."""
    before: dict[str, Definition] = {}
    for found in rounds:
        pair = _two_heads(found)
        if len(pair) == 1 and len(before) == 2 and not pair.keys().isdisjoint(before):
            pair = before | pair
        if len(pair) == 2:
            before = pair
        yield pair


def _defined(chain: Chain, *, numbered: bool) -> Node | None:
    chain = without_sets(chain)
    if len(chain.terms) < 2 or not set(chain.relations) <= _DEFINING:
        return None
    for ends in (chain.terms, chain.terms[::-1]):
        symbol = _query(ends[0])
        if symbol is not None and (symbol.index not in _NO_HEAD) == numbered:
            return next(_expressions(ends[1:]), None)
    return None


def _query(term: Node) -> Symbol | None:
    """The q that a side consists of; Q' = (...)' as well."""
    return _query_symbol(term.of if isinstance(term, tree.Transpose) else term)


def _query_symbol(term: Node) -> Symbol | None:
    symbol = bare(term)
    return symbol if symbol is not None and symbol.name in ("q", "Q") else None


def _expressions(terms: Iterable[Node]) -> Iterator[Node]:
    """The sides that say something: neither left out nor another q."""
    return (t for t in terms if not isinstance(t, Missing) and _query_symbol(t) is None)


def _untangled(statements: list[Statement]) -> list[Statement]:
    """`q_1, q_2 = x, y` was read as q_1 | q_2 = x | y; put it right."""
    out = list(statements)
    for k in range(len(out) - 2):
        first, middle, last = out[k : k + 3]
        if _is_tangled(first, middle, last):
            name, value = middle.chain.terms
            own = Chain((first.chain.terms[0], value), ("=",))
            other = Chain((name, last.chain.terms[0]), ("=",))
            out[k] = replace(first, chain=own)
            out[k + 1] = replace(middle, chain=other)
    return out


def _is_tangled(first: Statement, middle: Statement, last: Statement) -> bool:
    if first.chain.relations or last.chain.relations or len(middle.chain.terms) != 2:
        return False
    if last.segment - first.segment > _APART:
        return False
    names = (first.chain.terms[0], middle.chain.terms[0])
    return all(_query_symbol(name) is not None for name in names)


def _queries_of_heads(chain: Chain) -> list[tuple[str, Node]]:
    """`q_1 = q_2 = e` defines both heads, `(q_1, q_2) = (x, y)` one each."""
    left = chain.terms[0]
    right = chain.terms[-1]
    if isinstance(left, tree.Bracket) and isinstance(right, tree.Bracket):
        named = _side_by_side(left, right)
        if named is not None:
            return named
    expression = _defined(chain, numbered=True)
    if expression is None:
        return []
    queries = [_query_symbol(term) for term in chain.terms]
    heads = [q.index for q in queries if q is not None and q.index not in _NO_HEAD]
    return [(head.strip("()"), expression) for head in heads]


def _side_by_side(left: tree.Bracket, right: tree.Bracket) -> list[tuple[str, Node]] | None:
    if len(left.items) != len(right.items):
        return None
    named = [
        (_query_symbol(name), item) for name, item in zip(left.items, right.items, strict=True)
    ]
    return [(q.index, item) for q, item in named if q is not None and q.index]


def _two_heads(found: dict[str, Definition]) -> dict[str, Definition]:
    if len(found) <= 2:
        return found
    for pair in _HEAD_NAMES:
        if all(name in found for name in pair):
            return {name: found[name] for name in pair}
    return {}
