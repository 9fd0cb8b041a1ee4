"""Shapes of statements about weights and scores: `sum alpha_i = 1`, `k_j'q >> k_i'q`."""

from __future__ import annotations

from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols, walk
from headwright.homework.meaning.formula.tree import Add, Bracket, Infinity, Norm, Number, Sum
from headwright.homework.meaning.notation import KEYS, PAIR
from headwright.homework.meaning.terms import bare, indices_in, is_score, names_in


def weights_sum_to_one(chain: Chain) -> bool:
    if "=" not in chain.relations or chain.terms[-1] != Number(1.0):
        return False

    totals = [t for t in chain.terms if isinstance(t, (Sum, Add))]
    if not any("alpha" in names_in(t) for t in totals):
        return False

    # alpha_a + alpha_b = 1 speaks of two keys only.
    indices = {s.index for s in symbols(chain)}
    return any(isinstance(t, Sum) for t in totals) or indices.isdisjoint(PAIR)


def weights_bounded(chain: Chain) -> bool:
    """`0 <= alpha_i <= 1`, `alpha_i in [0, 1]`"""
    if not any(_is_any_weight(t) for t in chain.terms):
        return False

    ordered = _has(chain, "<", ">", "<=", ">=")
    to_number = ordered and any(isinstance(t, Number) for t in chain.terms)
    in_interval = "in" in chain.relations and any(isinstance(t, Bracket) for t in chain.terms)
    return to_number or in_interval


def weights_of_the_pair(chain: Chain) -> bool:
    members = [bare(t) for t in chain.terms]
    weights = [s for s in members if s is not None and s.name == "alpha"]
    return any(s.index in PAIR for s in weights)


def scores_compared(chain: Chain) -> bool:
    if not _has(chain, ">", ">>", "<", "<<", ">=", "<=", "->") or "alpha" in names_in(chain):
        return False

    scores = [t for t in chain.terms if any(is_score(n) for n in walk(t))]
    # A lone term compares two scores where it is their difference.
    two = len(scores) >= 2 or any(isinstance(t, Add) for t in scores)
    return two and not _speak_of_the_pair(scores)


def score_in_a_limit(chain: Chain) -> bool:
    """`k_j'q -> inf`, `k_i'q = -inf`, `k_i'q << 0`."""
    scores = [t for t in chain.terms if is_score(t)]
    infinite = any(isinstance(n, Infinity) for n in walk(chain))
    extreme = infinite or _has(chain, ">>", "<<", "->")
    return bool(scores) and extreme and not _speak_of_the_pair(scores)


def keys_compared(chain: Chain) -> bool:
    """`k_j >> k_i`, `||k_j|| > ||k_i||`: keys (or their lengths) where scores were meant."""
    if not _has(chain, ">", ">>", "<", "<<", ">="):
        return False

    members = [bare(t.of) if isinstance(t, Norm) else bare(t) for t in chain.terms]
    keys = [s for s in members if s is not None and _is_any_key(s)]
    return len(keys) >= 2


def _has(chain: Chain, *relations: str) -> bool:
    return not set(relations).isdisjoint(chain.relations)


def _is_any_weight(node: Node) -> bool:
    symbol = bare(node)
    return symbol is not None and symbol.name == "alpha" and symbol.index not in PAIR


def _is_any_key(symbol: Symbol) -> bool:
    return symbol.name in KEYS and symbol.index not in PAIR


def _speak_of_the_pair(scores: list[Node]) -> bool:
    """Scores of k_a and k_b belong to the questions about two keys."""
    return any(not indices_in(t, KEYS).isdisjoint(PAIR) for t in scores)
