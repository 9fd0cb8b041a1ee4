"""Shapes of statements about vectors: queries, outputs, and how long a key is."""

from __future__ import annotations

from headwright.homework.meaning.formula import Chain, Missing, Symbol, symbols, walk
from headwright.homework.meaning.formula.tree import (
    Add,
    Apply,
    Bracket,
    Divide,
    Infinity,
    Number,
    Sum,
    Transpose,
)
from headwright.homework.meaning.notation import KEYS, MEANS, OUTPUTS, PAIR, VALUES
from headwright.homework.meaning.terms import bare, indices_in, names_in, subject


def output_is_one_value(chain: Chain) -> bool:
    """`c = v_j`"""
    value = _single_value(chain)
    return value is not None and value.index not in PAIR


def output_is_a_or_b(chain: Chain) -> bool:
    """`c = v_a`"""
    value = _single_value(chain)
    return value is not None and value.index in PAIR


def _single_value(chain: Chain) -> Symbol | None:
    """The one value (perhaps times a number) that the last member of `c = ...` is."""
    first = subject(chain)
    if first is None or first.name not in OUTPUTS or first.index or len(chain.terms) < 2:
        return None

    last = chain.terms[-1]
    if any(isinstance(n, (Sum, Add)) for n in walk(last)):
        return None

    found = [s for s in symbols(last) if s.index and s.name != "alpha"]
    if len(found) != 1 or found[0].name not in VALUES | KEYS:
        return None
    return found[0]


def output_is_the_average(chain: Chain) -> bool:
    """`c = (v_a + v_b)/2`, or that vector alone as a whole answer."""
    if not chain.relations:
        halved = any(isinstance(n, (Divide, Number)) for n in walk(chain))
        return halved and indices_in(chain, VALUES) == set(PAIR)

    first = subject(chain)
    if first is None or first.name not in OUTPUTS or len(chain.terms) < 2:
        return False
    return indices_in(chain.terms[-1], VALUES) == set(PAIR)


def query_of_keys(chain: Chain) -> bool:
    return not _vectors_of_query(chain).isdisjoint(KEYS)


def query_of_means(chain: Chain) -> bool:
    vectors = _vectors_of_query(chain)
    return not vectors.isdisjoint(MEANS) and vectors.isdisjoint(KEYS)


def query_of_anything(chain: Chain) -> bool:
    return bool(_vectors_of_query(chain))


def _vectors_of_query(chain: Chain) -> set[str]:
    """The letters with an index on the right of `q = ...`; none where this defines no query."""
    first = subject(chain)
    if first is None or first.name != "q" or first.index not in ("", "*"):
        return set()
    if not chain.relations or chain.relations[0] == "in":
        return set()

    used = {s.name for t in chain.terms[1:] for s in symbols(t) if s.index}
    return used - {"q"}


def query_of_one_key(chain: Chain) -> bool:
    """`q = k_j`, `q ~ beta k_j`: one key, and not a or b."""
    first = subject(chain)
    if first is None or first.name != "q" or first.index or len(chain.terms) < 2:
        return False

    last = chain.terms[-1]
    used = indices_in(last, KEYS) - {""}
    return len(used) == 1 and used.isdisjoint(PAIR) and not isinstance(last, (Sum, Add))


def query_of_one_head(chain: Chain) -> bool:
    """`q_1 = ...`"""
    first = subject(chain)
    if first is None or first.name != "q" or first.index in ("", "*") or not chain.relations:
        return False
    return chain.relations[0] in ("=", "~=", "propto") and not isinstance(chain.terms[1], Missing)


def speaks_of_heads(chain: Chain) -> bool:
    numbered = [s for s in symbols(chain) if s.index in ("1", "2")]
    return any(s.name in ("q", "c", "C") for s in numbered)


def length_of_a_key(chain: Chain) -> bool:
    """`gamma ~ N(1, 1/2)`, `k_a in [0.5 mu_a, 1.5 mu_a]`, or a covariance along the key."""
    around_one = [
        t for t in chain.terms if isinstance(t, Apply) and t.arguments[:1] == (Number(1.0),)
    ]
    if "~" in chain.relations and around_one:
        return True

    first = subject(chain)
    is_key = first is not None and first.name in KEYS
    if is_key and chain.relations == ("in",) and isinstance(chain.terms[1], Bracket):
        return True
    return _radial_covariance(chain)


def _radial_covariance(chain: Chain) -> bool:
    """`Sigma_a = alpha I + mu_a mu_a'/2`, or the same inside N(mu_a, ...)."""
    members = [symbol for t in chain.terms if (symbol := bare(t)) is not None]
    if not members or members[0].index != "a":
        return False

    sums = [n for t in chain.terms[1:] for n in walk(t) if isinstance(n, Add)]
    return any(isinstance(n, Transpose) for each in sums for n in walk(each))


def gamma_is_a_length(chain: Chain) -> bool:
    """The usual letter for the length; not in "q = gamma (...)", "gamma > 0", where it is a
    scale."""
    if "gamma" not in names_in(chain):
        return False
    first = subject(chain)
    if first is None:
        return True
    return first.name != "q" and not (first.name == "gamma" and _only_says_how_large(chain))


def _only_says_how_large(chain: Chain) -> bool:
    if chain.relations[:1] in ((">>",), ("<<",)) or chain.terms[-1] == Number(0.0):
        return True
    return any(isinstance(t, Infinity) for t in chain.terms)
