"""Symbols that scanning or typing tore apart: `ka` for k_a, `H b` for mu_b."""

from __future__ import annotations

from headwright.homework.meaning.formula import Node, Symbol, tree
from headwright.homework.meaning.notation import NEVER_MEANS, PAIR

# Letters that are vectors even without an index, and what follows them side by side.
_TORN: dict[tuple[Node, Node], Symbol] = {
    (Symbol(vector), Symbol(index)): Symbol(vector, index)
    for vector in ("k", "K", "mu")
    for index in PAIR
}


def rejoined(expression: Node) -> Node:
    """`ka + kb` typed without underscores: a vector's letter and a or b side by side are one
    symbol."""
    return tree.rewrite(expression, _rejoined_product)


def _rejoined_product(node: Node) -> Node:
    if not isinstance(node, tree.Multiply):
        return node

    factors = list(node.factors)
    for k in range(len(factors) - 2, -1, -1):
        whole = _TORN.get((factors[k], factors[k + 1]))
        if whole is not None and not node.dotted[k]:
            factors[k : k + 2] = [whole]
    if len(factors) == 1:
        return factors[0]
    return tree.Multiply(tuple(factors), (False,) * (len(factors) - 1))


def glued(expressions: list[Node]) -> list[Node]:
    """Queries that are all two bare letters, of which the first is the same (q_1 = Hu, q_2 = Hb):
    the second letter is the index of the first."""
    pairs = [_letter_pair(e) for e in expressions]
    firsts = {pair[0].name for pair in pairs if pair is not None}
    letter = next(iter(firsts), "")
    if len(firsts) != 1 or len(letter) != 1 or letter in NEVER_MEANS:
        return expressions

    seconds = {e.factors[1] for e in expressions if isinstance(e, tree.Multiply)}
    if len(seconds) != len(expressions):
        return expressions
    return [_glue(e, letter) for e in expressions]


def _letter_pair(node: Node) -> tuple[Symbol, Symbol] | None:
    if not isinstance(node, tree.Multiply) or len(node.factors) != 2:
        return None
    first, second = node.factors
    if not isinstance(first, Symbol) or not isinstance(second, Symbol):
        return None
    return None if first.index or second.index else (first, second)


def _glue(node: Node, letter: str) -> Node:
    """`H b` that was scanned for `mu_b`."""
    pair = _letter_pair(node)
    if pair is None or pair[0].name != letter or len(pair[1].name) != 1:
        return node
    return Symbol(letter, pair[1].name)
