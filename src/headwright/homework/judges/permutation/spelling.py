"""Spellings of proofs about permuted rows that mean one thing only here: `W^Q` is a name, `P 1` has
a vector of ones, `P Q (P K)'` is a product and `Q(P X)` a call."""

from __future__ import annotations

from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols, tree

PERMUTATIONS = frozenset({"P", "Pi", "pi"})
CALLED = "()"  # behind the name of a letter that is applied to what follows it
ONES = Symbol("ones")
# Matrices: applied only where they stand before the input.
_MATRICES = frozenset("QKVSAHZOYM")
# Letters that stand for themselves before parentheses, unless `CALLED` says otherwise.
NEVER_APPLIED = _MATRICES | PERMUTATIONS | frozenset("XWIdb")
_INPUTS = PERMUTATIONS | frozenset("XI")


def respelled(chain: Chain) -> list[Chain]:
    """The statement in this spelling. It is cut where a remark about P ends, and at `~=`: words
    such as "is" were taken for it, and proofs have no approximation."""
    terms = tuple(tree.rewrite(term, _as_name) for term in chain.terms)
    terms = tuple(tree.rewrite(term, _as_call) for term in terms)
    if any(_only_permutes_one(term) for term in terms):
        terms = tuple(tree.rewrite(term, _as_ones) for term in terms)
    return _cut(Chain(terms, chain.relations))


def _cut(chain: Chain) -> list[Chain]:
    out = []
    start = 0
    for k, relation in enumerate(chain.relations, start=1):
        remark_ends = _is_remark(chain.terms[k - 1]) and not _is_remark(chain.terms[k])
        if relation == "~=" or (remark_ends and k - start > 1):
            out.append(Chain(chain.terms[start:k], chain.relations[start : k - 1]))
            start = k
    out.append(Chain(chain.terms[start:], chain.relations[start:]))
    return out


def _is_remark(term: Node) -> bool:
    """`P'`, `P^{-1}`, `P' P`, `I`: a line "because P' = P^{-1}" ends before the proof goes on."""
    used = symbols(term)
    return bool(used) and all(s.name in PERMUTATIONS or s in (Symbol("I"), ONES) for s in used)


def _as_name(node: Node) -> Node:
    """`W^Q`, `X^{perm}` and `X'` are names, not powers; a bias is a row however it is written."""
    if isinstance(node, tree.Transpose) and isinstance(node.of, Symbol) and node.of.name == "b":
        return node.of
    if isinstance(node, tree.Power) and isinstance(node.base, Symbol):
        exponent = node.exponent
        if isinstance(exponent, Symbol) and not exponent.index:
            return Symbol(node.base.name, exponent.name)
        if isinstance(exponent, tree.Word):
            return Symbol(node.base.name, exponent.text.strip())
    if isinstance(node, tree.Prime) and isinstance(node.of, Symbol):
        return Symbol(node.of.name + "'", node.of.index)
    return node


def _as_call(node: Node) -> Node:
    """`Q(P X)` is Q of the permuted input; `Q (P K)` is a product."""
    if not isinstance(node, tree.Apply) or not isinstance(node.head, Symbol) or node.head.index:
        return node
    if node.head.name not in _MATRICES or not all(is_input(x) for x in node.arguments):
        return node
    return tree.Apply(Symbol(node.head.name + CALLED), node.arguments)


def is_input(node: Node) -> bool:
    """`X`, `P X`, `X_perm`: nothing but the input and permutations."""
    names = {symbol.name[:1] if symbol.name[:1] == "X" else symbol.name for symbol in symbols(node)}
    return "X" in names and names <= _INPUTS


def _only_permutes_one(term: Node) -> bool:
    """`P 1`, `P^{-1} 1`, `1' P`: a number would change nothing."""
    if not isinstance(term, tree.Multiply):
        return False
    ones = [factor for factor in term.factors if _is_one(factor)]
    others = [factor for factor in term.factors if not _is_one(factor)]
    permuting = all(set(names) <= PERMUTATIONS for names in map(_names, others))
    return len(ones) == 1 and bool(others) and permuting


def _names(node: Node) -> list[str]:
    return [symbol.name for symbol in symbols(node)] or ["?"]


def _is_one(node: Node) -> bool:
    inner = node.of if isinstance(node, (tree.Transpose, tree.Prime)) else node
    return inner == tree.Number(1.0)


def _as_ones(node: Node) -> Node:
    if isinstance(node, tree.Power):
        return tree.Power(node.base, tree.rewrite(node.exponent, _as_number))
    return ONES if node == tree.Number(1.0) else node


def _as_number(node: Node) -> Node:
    return tree.Number(1.0) if node == ONES else node
