"""What an equation of a proof about permuted rows says: about the output, about the softmax."""

from __future__ import annotations

from headwright.homework.judges.claims import evaluated, letters, nodes
from headwright.homework.judges.permutation.notation import FIXED, Notation
from headwright.homework.judges.permutation.random_layer import TOLERANCE
from headwright.homework.judges.permutation.spelling import CALLED, ONES, PERMUTATIONS
from headwright.homework.meaning.formula import Chain, Node, Symbol, tree
from headwright.homework.scenes.arithmetic import Mismatch, agree

_OUTPUTS = frozenset("HZYO")
_SCORES = frozenset("XQKSM")
# Letters of one meaning: those of the exercise, and the outputs as the exercise calls them.
_PLAIN_MEANING = FIXED | frozenset({"H", "Z", "relu", "Attention", ONES.name})


def mentions_permutation(chain: Chain, notation: Notation) -> bool:
    return any(_moves(term, notation) for term in chain.terms)


def _moves(term: Node, notation: Notation) -> bool:
    """Is there a P in it, or a letter that stands for its value on P X?"""
    used = letters([term])
    return any(s.name in PERMUTATIONS or notation.marked(s) for s in used)


def counts_tokens_in_columns(chain: Chain) -> bool:
    """`W_Q X`, `X in R^{d x n}`: then P belongs on the right."""
    for node in nodes(chain.terms):
        if isinstance(node, tree.Multiply):
            names = [factor.name for factor in node.factors if isinstance(factor, Symbol)]
            if names[:1] == ["W"] and "X" in names[1:2]:
                return True
    return chain.relations[:1] == ("in",) and _is_wide_input(chain)


def permutes_backwards(chain: Chain, notation: Notation) -> bool:
    """`X_perm = P' X`"""
    first = chain.terms[0]
    if not isinstance(first, Symbol) or notation.marked(first) != "X" or len(chain.terms) < 2:
        return False
    second = chain.terms[1]
    if not isinstance(second, tree.Multiply):
        return False
    inverse = isinstance(second.factors[0], (tree.Transpose, tree.Power))
    return inverse and _moves(second.factors[0], notation)


def _is_wide_input(chain: Chain) -> bool:
    space = chain.terms[1]
    if chain.terms[0] != Symbol("X") or not isinstance(space, tree.Power):
        return False
    used = letters([space.exponent])
    return bool(used) and used[0].name in ("d", "D")


def named_by_scores(chain: Chain, notation: Notation) -> str:
    """The letter of `S(P X) = Q(P X) K(P X)'`, where there is one."""
    first = chain.terms[0]
    head = first.head if isinstance(first, tree.Apply) else first
    if not isinstance(head, Symbol):
        return ""
    used = {_letter(symbol, notation) for symbol in letters([chain.terms[1]])}
    return _letter(head, notation) if used >= {"Q", "K"} and "V" not in used else ""


def _letter(symbol: Symbol, notation: Notation) -> str:
    """Without its mark, and without the parentheses of a call."""
    return notation.marked(symbol) or symbol.name.removesuffix(CALLED)


def has_one_meaning(chain: Chain, notation: Notation, settled: set[str]) -> bool:
    """No letter of it could stand for something else. `Q = P X W_Q` gives Q a new meaning."""
    first = chain.terms[0]
    renamed = isinstance(first, Symbol) and not notation.marked(first)
    if renamed and chain.relations[0] == "=":
        return False
    for symbol in letters(chain.terms):
        name = _letter(symbol, notation)
        if name not in _PLAIN_MEANING | settled and name not in notation.defined:
            return False
    return True


def is_about_output(chain: Chain, notation: Notation) -> bool:
    """Does one member stand for the layer's output on the permuted input?"""
    first = chain.terms[0]
    if chain.relations[0] == "->" and isinstance(first, Symbol):
        return first.name in _OUTPUTS
    return any(_names_output(term, notation) for term in chain.terms) or _has_output(
        chain, notation
    )


def _names_output(term: Node, notation: Notation) -> bool:
    if isinstance(term, tree.Apply) and isinstance(term.head, Symbol):
        name = term.head.name.removesuffix(CALLED)
        applied = notation.function(term.head) is not None
        return applied and _moves(term, notation) and name not in ("relu", "sigma")
    return isinstance(term, Symbol) and notation.marked(term) in _OUTPUTS


def _has_output(chain: Chain, notation: Notation) -> bool:
    """Has a member the value of the output on the permuted input?"""
    output = notation.on_permuted.plain(notation.output)
    try:
        members = evaluated(chain.terms, notation)
    except Mismatch:
        return False
    return any(agree(value, output, TOLERANCE) for _, value in members)


def concludes(chain: Chain, notation: Notation) -> bool:
    """`... = P (the output on X)`"""
    if chain.relations[0] == "->":
        return is_about_output(chain, notation)
    return any(_is_permuted(term, notation) for term in chain.terms) and _has_output(
        chain, notation
    )


def _is_permuted(term: Node, notation: Notation) -> bool:
    """P times something that is neither permuted nor of the permuted input."""
    if isinstance(term, tree.Apply):
        head = term.head
        rest = term.arguments
    elif isinstance(term, tree.Multiply):
        head = term.factors[0]
        rest = term.factors[1:]
    else:
        return False
    begins = isinstance(head, Symbol) and head.name in PERMUTATIONS
    return begins and not any(_moves(part, notation) for part in rest)


def passes_softmax(chain: Chain, notation: Notation) -> bool:
    """The scores become P S P', or the softmax of permuted scores becomes one without P. The
    identity that the handout gives (for any A) says nothing about scores."""
    known = _SCORES | frozenset(notation.defined)
    if any(notation.marked(symbol) == "A" for symbol in letters(chain.terms)):
        known |= {"A"}
    if not known & {notation.marked(s) or s.name for s in letters(chain.terms)}:
        return False
    if any(_is_surrounded(node) for node in nodes(chain.terms)):
        return True
    weighed = [n for n in nodes(chain.terms) if isinstance(n, tree.Call)]
    softened = [_moves(n, notation) for n in weighed if n.function == "softmax"]
    return True in softened and False in softened


def _is_surrounded(node: Node) -> bool:
    """`P (...) P'`"""
    if not isinstance(node, tree.Multiply):
        return False
    first = node.factors[0]
    last = node.factors[-1]
    begins = {s.name for s in letters([first])} & PERMUTATIONS
    ends = isinstance(last, (tree.Transpose, tree.Prime, tree.Power))
    return bool(begins) and ends and {s.name for s in letters([last])} <= PERMUTATIONS
