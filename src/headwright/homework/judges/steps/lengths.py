"""Which letters a document uses for the length of a key: `k_a = g mu_a`, `g ~ N(1, 1/2)`."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.meaning.formula import Chain, Node, Symbol, tree
from headwright.homework.meaning.notation import KEYS, LENGTHS, MEANS, PAIR
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare

# What most people write, defined or not.
_USUAL = frozenset({Symbol("gamma"), Symbol("gamma", "a"), Symbol("gamma", "b")})


def named_lengths(pieces: Iterable[Piece]) -> frozenset[Symbol]:
    stated = [piece.chain for piece in pieces if isinstance(piece, Statement)]
    found = [symbol for chain in stated for symbol in _lengths_of(chain)]
    return _USUAL | frozenset(found)


def _lengths_of(chain: Chain) -> list[Symbol]:
    first = bare(chain.terms[0])
    if first is None or len(chain.terms) < 2:
        return []
    if chain.relations[0] == "~" and first.name in LENGTHS:
        return [first] if _is_law_around_one(chain.terms[-1]) else []
    if first.name in KEYS and first.index in PAIR:
        factors = [_factor(term, first.index) for term in chain.terms[1:]]
        return [factor for factor in factors if factor is not None]
    return []


def _is_law_around_one(term: Node) -> bool:
    return isinstance(term, tree.Apply) and term.arguments[:1] == (tree.Number(1.0),)


def _factor(term: Node, key: str) -> Symbol | None:
    """The scalar of `gamma mu_a`; in `(1 + delta) mu_a` delta is no length."""
    if not isinstance(term, tree.Multiply) or len(term.factors) != 2:
        return None
    letters = [factor for factor in term.factors if isinstance(factor, Symbol)]
    means = [s for s in letters if s.name in MEANS and s.index == key]
    others = [s for s in letters if s not in means]
    return others[0] if len(means) == 1 and len(others) == 1 else None
