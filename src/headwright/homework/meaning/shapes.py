"""What a statement looks like, before anyone asks what it means: the tags by which answers are
found.

A tag names a mathematical shape ("a query made of means", "weights that sum to one"). The question
bank says how strongly each tag points to each question; no numbering is needed for an answer to be
found.
"""

from __future__ import annotations

import functools

from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, walk
from headwright.homework.meaning.formula.tree import (
    Add,
    Apply,
    Bracket,
    Call,
    Divide,
    Infinity,
    Norm,
    Number,
    Power,
    Prime,
    Sum,
    Transpose,
)
from headwright.homework.meaning.terms import (
    KEYS,
    MEANS,
    OUTPUTS,
    PAIR,
    VALUES,
    bare,
    head,
    is_score,
)


def _indices(node: Node, names: set[str]) -> set[str]:
    return {s.index for s in symbols(node) if s.name in names}


@functools.lru_cache(maxsize=4096)
def tags(chain: Chain) -> frozenset[str]:
    """Every shape the statement has."""
    found: set[str] = set()
    for shape, test in _SHAPES.items():
        if test(chain):
            found.add(shape)
    first = head(chain)
    if first is not None and chain.relations:
        found.add(f"defines {first.name}")
    return frozenset(found)


def _names(chain: Chain) -> set[str]:
    return {s.name for t in chain.terms for s in symbols(t)}


def _all_indices(chain: Chain) -> set[str]:
    return {s.index for t in chain.terms for s in symbols(t)}


def _right(chain: Chain) -> tuple[Node, ...]:
    return chain.terms[1:]


def _sums_to_one(chain: Chain) -> bool:
    sums = any(
        isinstance(t, (Sum, Add)) and "alpha" in {s.name for s in symbols(t)} for t in chain.terms
    )
    general = any(isinstance(t, Sum) for t in chain.terms) or not (_all_indices(chain) & PAIR)
    return sums and general and "=" in chain.relations and chain.terms[-1] == Number(1.0)


def _bounded_weights(chain: Chain) -> bool:
    about = any(_is_weight(t) for t in chain.terms)
    numbers = any(isinstance(t, Number) for t in chain.terms)
    interval = any(isinstance(t, Bracket) for t in chain.terms)
    sign = any(r in ("<", ">", "<=", ">=") for r in chain.relations)
    return about and ((numbers and sign) or (interval and "in" in chain.relations))


def _is_weight(node: Node) -> bool:
    symbol = bare(node)
    return symbol is not None and symbol.name == "alpha" and symbol.index not in PAIR


def _condition(chain: Chain) -> bool:
    if not set(chain.relations) & {">", ">>", "<", "<<", ">=", "<=", "->"}:
        return False
    scores = [t for t in chain.terms if any(is_score(n) for n in walk(t))]
    general = not any(_indices(t, KEYS) & PAIR for t in scores) and "alpha" not in _names(chain)
    return (len(scores) >= 2 or any(isinstance(t, Add) for t in scores)) and general


def _key_comparison(chain: Chain) -> bool:
    plain = [bare(t.of) if isinstance(t, Norm) else bare(t) for t in chain.terms]
    keys = [s for s in plain if s is not None and s.name in KEYS and s.index not in PAIR]
    return len(keys) >= 2 and bool(set(chain.relations) & {">", ">>", "<", "<<", ">="})


def _score_limit(chain: Chain) -> bool:
    """`k_j'q -> inf`, `k_i'q = -inf`, `k_i'q << 0`."""
    far = any(isinstance(n, Infinity) for t in chain.terms for n in walk(t))
    scores = [t for t in chain.terms if is_score(t)]
    big = bool(set(chain.relations) & {">>", "<<", "->"})
    return bool(scores) and (far or big) and not any(_indices(t, KEYS) & PAIR for t in scores)


def _single_value(chain: Chain, wanted: bool) -> bool:
    """The last member of `c = ...` is one value (perhaps times a number), of a or b or of another
    key."""
    first = head(chain)
    if first is None or first.name not in OUTPUTS or first.index or len(chain.terms) < 2:
        return False
    if any(isinstance(n, (Sum, Add)) for n in walk(chain.terms[-1])):
        return False
    found = [s for s in symbols(chain.terms[-1]) if s.index and s.name != "alpha"]
    if len(found) != 1 or found[0].name not in VALUES | KEYS:
        return False
    return (found[0].index in PAIR) == wanted


def _query(chain: Chain, names: set[str], *, but: set[str] = frozenset()) -> bool:  # type: ignore[assignment]
    first = head(chain)
    if (
        first is None
        or first.name != "q"
        or first.index not in ("", "*")
        or not chain.relations
        or chain.relations[0] == "in"
    ):
        return False
    vectors = {s.name for t in _right(chain) for s in symbols(t) if s.index} - {"q"}
    return bool(vectors & names) and not vectors & but


def _query_of_one(chain: Chain) -> bool:
    """`q = k_j`, `q ~ beta k_j`: one key, and not a or b."""
    first = head(chain)
    if first is None or first.name != "q" or first.index or len(chain.terms) < 2:
        return False
    used = {s.index for s in symbols(chain.terms[-1]) if s.name in KEYS and s.index}
    return len(used) == 1 and not used & PAIR and not isinstance(chain.terms[-1], (Sum, Add))


def _head_query(chain: Chain) -> bool:
    first = head(chain)
    if first is None or first.name != "q" or first.index in ("", "*") or not chain.relations:
        return False
    return chain.relations[0] in ("=", "~=", "propto") and not isinstance(chain.terms[1], Missing)


def _uses_heads(chain: Chain) -> bool:
    return any(
        s.index in ("1", "2") and s.name in ("q", "c", "C") for t in chain.terms for s in symbols(t)
    )


def _average(chain: Chain) -> bool:
    if not chain.relations:  # the vector alone, as a whole answer
        halved = any(isinstance(n, (Divide, Number)) for n in walk(chain.terms[0]))
        return halved and _indices(chain.terms[0], VALUES) == PAIR
    first = head(chain)
    if first is None or first.name not in OUTPUTS or len(chain.terms) < 2:
        return False
    values = _indices(chain.terms[-1], VALUES | {"V"})
    return values == PAIR


def _length_noise(chain: Chain) -> bool:
    law = "~" in chain.relations and any(
        isinstance(t, Apply) and t.arguments[:1] == (Number(1.0),) for t in chain.terms
    )
    first = head(chain)
    interval = (
        first is not None
        and first.name in KEYS
        and chain.relations == ("in",)
        and isinstance(chain.terms[1], Bracket)
    )
    return law or interval or _radial(chain)


def _named_gamma(chain: Chain) -> bool:
    """The usual letter for the length; not in "q = gamma (...)", "gamma > 0", where it is a scale."""
    first = head(chain)
    scale = first is not None and (
        first.name == "q" or (first.name == "gamma" and _size_only(chain))
    )
    return "gamma" in _names(chain) and not scale


def _size_only(chain: Chain) -> bool:
    sizes = chain.relations[:1] in ((">>",), ("<<",)) or any(
        isinstance(t, Infinity) for t in chain.terms
    )
    return sizes or chain.terms[-1] == Number(0.0)


def _radial(chain: Chain) -> bool:
    """`Sigma_a = alpha I + mu_a mu_a'/2`, or the same inside N(mu_a, ...)."""
    about = any(s.index == "a" for s in _heads(chain)[:1])
    sums = [n for t in chain.terms[1:] for n in walk(t) if isinstance(n, Add)]
    return about and any(isinstance(n, Transpose) for s in sums for n in walk(s))


def _heads(chain: Chain) -> list[Symbol]:
    return [s for t in chain.terms if (s := bare(t)) is not None]


def _permutation(chain: Chain) -> bool:
    names = _names(chain)
    softmax = any(
        isinstance(n, Call) and n.function == "softmax" for t in chain.terms for n in walk(t)
    )
    permutes = bool(names & {"P", "Pi", "pi", "sigma"})
    return permutes and (bool(names & {"X", "Q", "Z", "Attention", "H"}) or softmax)


def _layer(chain: Chain) -> bool:
    return "Attention" in _names(chain) and len(chain.terms) > 1


def _sinusoids(chain: Chain) -> bool:
    return any(
        isinstance(n, Call) and n.function in ("sin", "cos") for t in chain.terms for n in walk(t)
    )


def _positions(chain: Chain) -> bool:
    return "Phi" in _names(chain) and bool(_names(chain) & {"X", "P"})


def _self_attention(chain: Chain) -> bool:
    names = {s for t in chain.terms for s in symbols(t)}
    inputs = any(s.name == "x" and s.index in ("1", "2", "3") for s in names)
    four = {s.index for s in names if s.name == "u"}
    return inputs or bool(four & {"c", "d"})


def _matrices(chain: Chain) -> bool:
    first = head(chain)
    return (
        first is not None
        and first.name in ("K", "Q", "V")
        and first.index == ""
        and "u" in _names(chain)
    )


def _extraction(chain: Chain) -> bool:
    first = head(chain)
    if first is not None and first.name == "M" and first.index == "":
        return bool(chain.relations) and chain.relations[0] in ("=", "->", "~=")
    return False


def _subspaces(chain: Chain) -> bool:
    basis = any(
        isinstance(n, (Transpose, Prime)) and {s.name for s in symbols(n)} <= {"A", "B", "a", "b"}
        for t in chain.terms
        for n in walk(t)
    )
    names = _names(chain)
    return (
        basis
        or ("M" in names and bool(_indices(chain.terms[0], {"v", "V"}) & PAIR))
        or ("s" in names and "M" in names)
    )


def _pair_weights(chain: Chain) -> bool:
    return any(s.name == "alpha" and s.index in PAIR for s in _heads(chain))


def _exponent(chain: Chain) -> bool:
    return any(isinstance(n, (Call, Power)) for t in chain.terms for n in walk(t))


_SHAPES = {
    "weights sum to one": _sums_to_one,
    "weights bounded": _bounded_weights,
    "scores compared": _condition,
    "keys compared": _key_comparison,
    "score in a limit": _score_limit,
    "output is one value": lambda c: _single_value(c, False),
    "output is a or b": lambda c: _single_value(c, True),
    "query of keys": lambda c: _query(c, KEYS),
    "query of means": lambda c: _query(c, MEANS, but=KEYS),
    "query of anything": lambda c: _query(c, _right_names(c)),
    "query of one head": _head_query,
    "query of one key": _query_of_one,
    "speaks of heads": _uses_heads,
    "output is the average": _average,
    "length of a key": _length_noise,
    "gamma": _named_gamma,
    "permutation": _permutation,
    "layer": _layer,
    "positions": _positions,
    "sinusoids": _sinusoids,
    "self-attention": _self_attention,
    "three matrices": _matrices,
    "extraction matrix": _extraction,
    "subspaces": _subspaces,
    "weights of a and b": _pair_weights,
}


def _right_names(chain: Chain) -> set[str]:
    return {s.name for t in _right(chain) for s in symbols(t) if s.index} - {"q"}
