"""Is it certain what every letter of a step stands for? Only then may it be called false."""

from __future__ import annotations

from headwright.homework.judges.claims import letters, nodes
from headwright.homework.judges.steps.points import VALUE_ROLES, StepContext
from headwright.homework.meaning.formula import Chain, Symbol, tree
from headwright.homework.meaning.notation import INDEX_LETTERS, KEYS, OUTPUTS, PAIR
from headwright.homework.meaning.terms import is_score

_HEADS = ("1", "2")
_INDICES = INDEX_LETTERS | set(PAIR)


def is_certain(chain: Chain, context: StepContext) -> bool:
    """Keys, values and means with an index of the exercise, the scales of the answer's own query
    (beta where it gives none), n, and letters that the document calls a length."""
    if context.several_answers or (context.several_heads and not is_score(chain.terms[0])):
        return False
    if is_score(chain.terms[0]) and Symbol("e") in letters(chain.terms):
        return False  # no score has an e in it; in plain text it is a Portuguese "and"
    if any(isinstance(n, tree.Sum) and not n.over.variable for n in nodes(chain.terms)):
        return False
    return all(_has_one_role(symbol, context) for symbol in letters(chain.terms))


def only_scalars(chain: Chain, context: StepContext) -> bool:
    """No letter of it is a vector, and no sum has an index that was not read."""
    vectors = {*KEYS, *OUTPUTS, *VALUE_ROLES, *context.means, "q", "Q", "alpha"}
    used = {symbol.name for symbol in letters(chain.terms)}
    unread = [n for n in nodes(chain.terms) if isinstance(n, tree.Sum) and not n.over.variable]
    return used.isdisjoint(vectors) and not unread


def _has_one_role(symbol: Symbol, context: StepContext) -> bool:
    scales = [Symbol("beta")] if context.heads is None else context.heads.scales
    if symbol in scales or symbol in context.lengths:
        return not (symbol in scales and symbol in context.lengths)
    if symbol.name == "q" and symbol.index in _HEADS:
        return context.several_heads and context.heads is not None
    if symbol in (Symbol("n"), Symbol("q"), Symbol("e"), Symbol("c"), Symbol("C")):
        return True
    vectors = {*KEYS, *VALUE_ROLES, *context.means, "alpha"}
    return symbol.name in vectors and symbol.index in _INDICES
