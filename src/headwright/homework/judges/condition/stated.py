"""Which statements of an answer could be a condition on the scores, and what each of them says."""

from __future__ import annotations

from dataclasses import replace

from headwright.homework.judges.claims import EQUALITIES, letters, nodes
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree
from headwright.homework.meaning.notation import KEYS, PAIR
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare, is_score

RELATIONS = {">", ">>", "<", "<<", ">=", "<=", "=", "~=", "->"}
_SCORE_LETTERS = {"s", "z", "score", "logit"}
_WORDS_AFTER = 45  # characters behind a quantity in which a word about its size belongs to it


def conditions(statements: list[Statement]) -> list[Statement]:
    """Relations between scores, then scores that are called large or small in words."""
    spelled = [replace(s, chain=_with_scores(s.chain)) for s in statements]
    related = [s for s in spelled if _is_condition(s.chain)]
    found = related + _worded(statements)
    return [replace(s, chain=_as_comparison(s.chain)) for s in found]


def _with_scores(chain: Chain) -> Chain:
    """`s_j >> s_i`: a letter for the score of a key, where two of them are compared; `q perp k_i`
    says that a score is 0."""
    terms = tuple(tree.rewrite(term, _score_for_letter) for term in chain.terms)
    if len(terms) == 1 and _is_perpendicular(terms[0]):
        key, query = (s for s in symbols(terms[0]) if s.name != "perp")
        score = tree.Multiply((tree.Transpose(key), query), (False,))
        return Chain((score, tree.Number(0.0)), ("=",))
    return Chain(terms, chain.relations)


def _score_for_letter(node: Node) -> Node:
    if isinstance(node, Symbol) and node.name in _SCORE_LETTERS and node.index:
        key = Symbol("k", node.index)
        return tree.Multiply((tree.Transpose(key), Symbol("q")), (False,))
    return node


def _is_perpendicular(term: Node) -> bool:
    used = symbols(term)
    names = {symbol.name for symbol in used}
    return len(used) == 3 and "perp" in names and "q" in names and not names.isdisjoint(KEYS)


def adds_scores(chain: Chain) -> bool:
    """`k_j'q >> sum_i k_i'q`: scores are summed, which softmax never does; meant is most likely
    each of them."""
    return any(isinstance(n, tree.Sum) and is_score(n.body) for n in nodes(chain.terms))


def _worded(statements: list[Statement]) -> list[Statement]:
    """`k_j'q - k_i'q` "is large": a quantity and a word about its size."""
    found = []
    for statement in statements:
        term = statement.chain.terms[0]
        if statement.chain.relations or not is_score(term):
            continue
        if words.says("negation", statement.after):
            continue
        said = statement.after[:_WORDS_AFTER].split(",")[0]
        if words.says("large", said):
            large = Chain((term, tree.Number(0.0)), (">>",))
            found.append(replace(statement, chain=large))
        elif words.says("small", said) or words.says("bounded", said):
            small = Chain((term, tree.Number(1.0)), ("<=",))
            found.append(replace(statement, chain=small))
    return found


def _is_condition(chain: Chain) -> bool:
    """A relation about keys and the query that could be a condition; weights and definitions are
    not."""
    if not chain.relations or not set(chain.relations) <= RELATIONS:
        return False
    if any(isinstance(term, Missing) for term in chain.terms):
        return False
    used = letters(chain.terms)
    names = {s.name for s in used}
    indices = {s.index for s in used if s.name in KEYS}
    if "alpha" in names or not names & KEYS or indices & set(PAIR):
        return False
    if set(chain.relations) <= EQUALITIES:
        return _equation_is_condition(chain)
    ends = (bare(chain.terms[0]), bare(chain.terms[-1]))
    return Symbol("q") not in ends  # "q is larger than k_j" was a sentence about their product


def _equation_is_condition(chain: Chain) -> bool:
    """Most equations define something. These do not: the argument of a maximum, equal scores, a
    score without bound, a stated query, a score that is some number."""
    if _is_argmax(chain.terms[-1]):
        return True
    all_scores = bool(chain.relations) and all(is_score(term) for term in chain.terms)
    unbounded = any(isinstance(n, tree.Infinity) for n in nodes(chain.terms))
    ends = (bare(chain.terms[0]), bare(chain.terms[-1]))
    return all_scores or unbounded or Symbol("q") in ends or _is_score_in_numbers(chain)


def _is_argmax(term: Node) -> bool:
    return isinstance(term, tree.Call) and term.function == "argmax"


def _is_score_in_numbers(chain: Chain) -> bool:
    """`k_i'q = 0`: a score said to be some number."""
    if len(chain.terms) != 2:
        return False
    left, right = chain.terms
    return is_score(left) and isinstance(right, tree.Number)


def _as_comparison(chain: Chain) -> Chain:
    """`j = argmax_i k_i' q` says that score j is the largest: k_j'q > k_i'q."""
    first = bare(chain.terms[0])
    last = chain.terms[-1]
    if not isinstance(last, tree.Call) or not _is_argmax(last):
        return chain
    if first is None or first.index:
        return chain
    score = last.arguments[0]
    running = next((s.index for s in symbols(score) if s.name in KEYS), "i")
    largest = tree.rewrite(score, lambda node: _renamed(node, running, first.name))
    return Chain((largest, score), (">",))


def _renamed(node: Node, old: str, new: str) -> Node:
    if isinstance(node, Symbol) and node.index == old:
        return Symbol(node.name, new)
    return node
