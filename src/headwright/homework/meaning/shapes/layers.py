"""Shapes of statements about whole layers: permutations, positions, self-attention, matrices."""

from __future__ import annotations

from headwright.homework.meaning.formula import Chain, walk
from headwright.homework.meaning.formula.tree import Call, Prime, Transpose
from headwright.homework.meaning.notation import PAIR
from headwright.homework.meaning.terms import indices_in, names_in, subject


def permutation(chain: Chain) -> bool:
    names = names_in(chain)
    if names.isdisjoint({"P", "Pi", "pi", "sigma"}):
        return False
    return not names.isdisjoint({"X", "Q", "Z", "Attention", "H"}) or _calls(chain, "softmax")


def layer(chain: Chain) -> bool:
    return "Attention" in names_in(chain) and len(chain.terms) > 1


def positions(chain: Chain) -> bool:
    names = names_in(chain)
    return "Phi" in names and not names.isdisjoint({"X", "P"})


def sinusoids(chain: Chain) -> bool:
    return _calls(chain, "sin", "cos")


def self_attention(chain: Chain) -> bool:
    """It speaks of the inputs x_1, x_2, x_3 or of the directions u_c, u_d."""
    inputs = indices_in(chain, {"x"})
    directions = indices_in(chain, {"u"})
    return not inputs.isdisjoint({"1", "2", "3"}) or not directions.isdisjoint({"c", "d"})


def three_matrices(chain: Chain) -> bool:
    """`V = u_b u_b' - u_c u_c'`"""
    first = subject(chain)
    if first is None or first.name not in ("K", "Q", "V") or first.index:
        return False
    return "u" in names_in(chain)


def extraction_matrix(chain: Chain) -> bool:
    """`M = A A'`"""
    first = subject(chain)
    if first is None or first.name != "M" or first.index:
        return False
    return bool(chain.relations) and chain.relations[0] in ("=", "->", "~=")


def subspaces(chain: Chain) -> bool:
    """Transposed bases `A'`; or M beside v_a, v_b or their sum s."""
    transposed = [n for n in walk(chain) if isinstance(n, (Transpose, Prime))]
    if any(names_in(n) <= {"A", "B", "a", "b"} for n in transposed):
        return True

    names = names_in(chain)
    extracts = not indices_in(chain.terms[0], {"v", "V"}).isdisjoint(PAIR)
    return "M" in names and (extracts or "s" in names)


def _calls(chain: Chain, *functions: str) -> bool:
    calls = [n for n in walk(chain) if isinstance(n, Call)]
    return any(call.function in functions for call in calls)
