"""What a document itself says about its letters: `S = Q K'`, `f(X) = ...`, `X_2 = P X`."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.judges.claims import letters
from headwright.homework.judges.permutation.notation import FIXED, MARKS, Notation
from headwright.homework.judges.permutation.spelling import CALLED, PERMUTATIONS, is_input
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.evaluate import evaluate

# A definition speaks of one of these; `M = A A'` belongs to another question.
_OF_THE_LAYER = frozenset("XQKVH")


def learned_marks(chains: Iterable[Chain]) -> frozenset[str]:
    """The marks of the usual table, that of `X_2 = P X` or `Q_2 = P Q`, and that of `Q_Y` where
    `Y = P X`."""
    found = set(MARKS)
    for chain in chains:
        first = chain.terms[0]
        if not isinstance(first, Symbol) or "=" not in chain.relations[:1]:
            continue
        if first.name in ("Q", "K", "V") and _is_permuted(chain.terms[1], first.name):
            found.add(first.index)
        if not _is_permuted(chain.terms[1], "X"):
            continue
        if first.name[:1] == "X":
            found.add(first.index or first.name[1:])
        elif not first.index:
            found.add(first.name)
    return frozenset(found - {""})


def _is_permuted(term: Node, letter: str) -> bool:
    """`P X` for the letter X."""
    if not isinstance(term, tree.Multiply) or len(term.factors) != 2:
        return False
    names = [factor.name for factor in term.factors if isinstance(factor, Symbol)]
    return len(names) == 2 and names[0] in PERMUTATIONS and names[1] == letter


def learned_definitions(chains: Iterable[Chain], marks: frozenset[str]) -> dict[str, Node]:
    """The first definition of every letter. A letter that an earlier definition used keeps its
    meaning, so that definitions never go in circles."""
    defined: dict[str, Node] = {}
    used: set[str] = set()
    for stated in chains:
        notation = Notation(defined=defined, marks=marks)
        chain = _unmarked(stated, notation)
        name = _defined_letter(chain)
        if not name or name in FIXED or name in defined or name in used:
            continue
        for term in chain.terms[1:]:
            if _defines(name, term, notation):
                defined[name] = term
                used |= {symbol.name for symbol in symbols(term)}
                break
    return defined


def _unmarked(chain: Chain, notation: Notation) -> Chain:
    """`Z_perm = H_perm + X_perm` tells what Z is, where all letters of the input are marked."""
    if chain.relations[:1] != ("=",):
        return chain
    first, second = chain.terms[:2]
    used = letters([first, second])
    plain = {symbol.name for symbol in used if not notation.marked(symbol)}
    if plain & (_OF_THE_LAYER | PERMUTATIONS | frozenset("HZ")):
        return chain
    terms = tuple(
        tree.rewrite(term, lambda n: _without_mark(n, notation)) for term in (first, second)
    )
    return Chain(terms, ("=",))


def _without_mark(node: Node, notation: Notation) -> Node:
    stem = notation.marked(node) if isinstance(node, Symbol) else ""
    return Symbol(stem) if stem else node


def _defined_letter(chain: Chain) -> str:
    """`S = ...`, `f(X) = ...`"""
    if chain.relations[:1] != ("=",):
        return ""
    first = chain.terms[0]
    if isinstance(first, tree.Apply) and first.arguments == (Symbol("X"),):
        first = first.head
    if not isinstance(first, Symbol) or first.index:
        return ""
    name = first.name.removesuffix(CALLED)
    return "" if name == "Attention" else name


def _defines(name: str, term: Node, notation: Notation) -> bool:
    if isinstance(term, (Missing, Symbol)):
        return False
    used = letters([term])
    names = {symbol.name for symbol in used}
    if name in names or names.isdisjoint(_OF_THE_LAYER):
        return False
    permutes = names & PERMUTATIONS or any(notation.marked(symbol) for symbol in used)
    if permutes and not is_input(term):
        return False
    try:
        evaluate(term, notation)
    except (Unknown, Mismatch):
        return False
    return True
