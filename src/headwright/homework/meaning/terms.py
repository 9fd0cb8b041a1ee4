"""What a single term is: a bare symbol, a score; and the letters that usually name keys, values,
means."""

from __future__ import annotations

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

KEYS = {"k", "K"}


OUTPUTS = {"c", "C", "o", "y", "z"}


VALUES = {"v", "V", "nu", "N"}


MEANS = {"mu", "u", "m", "nu", "H", "M", "M^", "mu^", "eta", "y"}


PAIR = {"a", "b"}


def bare(node: Node) -> Symbol | None:
    """The symbol a term consists of, looking through primes and accents; None for anything larger."""
    while isinstance(node, Prime):
        node = node.of
    return node if isinstance(node, Symbol) else None


def head(chain: Chain) -> Symbol | None:
    """The symbol that a statement is about: its first term, where that is one symbol."""
    return bare(chain.terms[0])


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
    if isinstance(node, Apply):
        node = Multiply((node.head, *node.arguments), (False,))
    if not isinstance(node, Multiply):
        return False
    names = {s.name for s in symbols(node)}
    return bool(names & KEYS) and bool(names & {"q", "Q"})
