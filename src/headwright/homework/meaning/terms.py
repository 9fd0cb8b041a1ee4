"""What a single term is: a bare symbol, a score; and what a statement is about."""

from __future__ import annotations

from collections.abc import Collection

from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols
from headwright.homework.meaning.formula.tree import (
    Add,
    Apply,
    Call,
    Divide,
    Extreme,
    Multiply,
    Negate,
    Prime,
)
from headwright.homework.meaning.notation import KEYS


def bare(node: Node) -> Symbol | None:
    """The symbol a term consists of, looking through primes; None for anything larger."""
    while isinstance(node, Prime):
        node = node.of
    return node if isinstance(node, Symbol) else None


def subject(chain: Chain) -> Symbol | None:
    """The symbol that a statement is about: its first term, where that is one symbol."""
    return bare(chain.terms[0])


def names_in(whole: Node | Chain) -> set[str]:
    """The letters of all symbols."""
    return {s.name for s in symbols(whole)}


def indices_in(whole: Node | Chain, letters: Collection[str]) -> set[str]:
    """The indices that symbols with one of these letters carry."""
    return {s.index for s in symbols(whole) if s.name in letters}


def is_score(node: Node) -> bool:
    """`k_i' q` in any spelling: a product, dot or fraction of a key and a query."""
    if isinstance(node, Divide):
        return is_score(node.above)
    if isinstance(node, Negate):
        return is_score(node.of)
    if isinstance(node, Extreme):
        return is_score(node.body)
    if isinstance(node, Add):
        return all(is_score(t) for t in node.terms)
    if isinstance(node, Call) and node.function == "dot":
        return True
    if not isinstance(node, (Apply, Multiply)):
        return False

    names = names_in(node)
    return not names.isdisjoint(KEYS) and not names.isdisjoint({"q", "Q"})


def without_sets(chain: Chain) -> Chain:
    """Without the sets that members are said to lie in: `M = A A' in R^{d x d}`, `q in R^d = x`."""
    terms = [chain.terms[0]]
    relations = []
    for relation, term in zip(chain.relations, chain.terms[1:], strict=True):
        if relation != "in":
            relations.append(relation)
            terms.append(term)
    return Chain(tuple(terms), tuple(relations))
