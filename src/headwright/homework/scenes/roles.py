"""Which letter plays which part. Means may be called mu, u, m or nu; scans turn mu into H and a
into n; the scale may be called anything. What an index is attached to, and beside which other
letters, decides."""

from __future__ import annotations

from collections.abc import Iterable

from headwright.homework.meaning.formula import Node, Symbol, symbols, tree
from headwright.homework.scenes.arithmetic import Unknown
from headwright.homework.scenes.scene import Roles

KEYS, VALUES = {"k", "K"}, {"v", "V"}
# Letters that never name a mean, whatever their index.
NEVER_MEANS = (
    KEYS
    | VALUES
    | {
        "q",
        "Q",
        "c",
        "C",
        "alpha",
        "beta",
        "lambda",
        "gamma",
        "tau",
        "epsilon",
        "delta",
        "t",
        "s",
        "e",
        "n",
        "d",
        "I",
    }
)
# Scanned letters for the indices a and b.
SLIPS = {"a": {"n", "u", "o", "alpha", "0", "9", "q", "A", "α"}, "b": {"h", "6", "B", "beta"}}
PAIR = ("a", "b")


def glue(node: Node, letter: str) -> Node:
    """`H b` that was scanned for `mu_b`: two letters side by side, of which the first is `letter`."""
    if isinstance(node, tree.Multiply) and len(node.factors) == 2:
        first, second = node.factors
        if (
            first == Symbol(letter)
            and isinstance(second, Symbol)
            and not second.index
            and len(second.name) == 1
        ):
            return Symbol(letter, second.name)
    return node


def rejoined(node: Node) -> Node:
    """`ka + kb` typed without underscores: a vector's letter and a or b side by side are one
    symbol."""
    if isinstance(node, tree.Multiply):
        factors = [rejoined(f) for f in node.factors]
        for k in range(len(factors) - 2, -1, -1):
            first, second = factors[k], factors[k + 1]
            if (
                first in _LOOSE_VECTORS
                and second in (Symbol("a"), Symbol("b"))
                and not node.dotted[k]
            ):
                factors[k : k + 2] = [Symbol(first.name, second.name)]  # type: ignore[attr-defined]
        dotted = (False,) * (len(factors) - 1)
        return factors[0] if len(factors) == 1 else tree.Multiply(tuple(factors), dotted)
    if isinstance(node, tree.Add):
        return tree.Add(tuple(rejoined(t) for t in node.terms))
    if isinstance(node, tree.Apply):
        return tree.Apply(node.head, tuple(rejoined(a) for a in node.arguments))
    if isinstance(node, tree.Negate):
        return tree.Negate(rejoined(node.of))
    return tree.Divide(rejoined(node.above), node.below) if isinstance(node, tree.Divide) else node


_LOOSE_VECTORS = (Symbol("k"), Symbol("K"), Symbol("mu"))


def _letter_pair(product: tree.Multiply) -> bool:
    return len(product.factors) == 2 and all(
        isinstance(f, Symbol) and not f.index for f in product.factors
    )


def glued(expressions: list[Node]) -> list[Node]:
    """Apply `glue` where every expression is a letter pair that begins with the same letter (q_1 =
    Hu, q_2 = Hb)."""
    firsts = {
        e.factors[0].name  # type: ignore[attr-defined]
        for e in expressions
        if isinstance(e, tree.Multiply) and _letter_pair(e)
    }
    letter = next(iter(firsts), "")
    if len(firsts) == 1 and len(letter) == 1 and letter not in NEVER_MEANS:
        seconds = {e.factors[1] for e in expressions if isinstance(e, tree.Multiply)}
        if len(seconds) == len(expressions):
            return [glue(e, letter) for e in expressions]
    return expressions


def vector_roles(expressions: Iterable[Node], wanted: str) -> Roles:
    """Roles for the letters of a query: which one is the vector, and what its indices mean.

    Raises Unknown when no letter can be the vector.
    """
    used = [s for e in expressions for s in symbols(e)]
    letter = _vector_letter(used, wanted)
    role = (
        "keys"
        if letter in KEYS
        else "values"
        if letter in VALUES
        else wanted
        if wanted == "means"
        else ""
    )
    if not role:
        raise Unknown(f"whether {letter} stands for keys")
    of = {letter: role}
    for other in {s.name for s in used if s.index} & (KEYS | VALUES):
        of[other] = "keys" if other in KEYS else "values"
    return Roles(of, _indices([s.index for s in used if of.get(s.name) and s.index]))


def _vector_letter(used: list[Symbol], wanted: str) -> str:
    indexed = [s.name for s in used if s.index and not s.index.isdigit()] + [
        s.name for s in used if s.index.isdigit()
    ]
    for letter in ("mu", "k", "K") if wanted == "means" else ("k", "K"):
        if letter in indexed:
            return letter
    if wanted == "means":
        for letter in indexed:
            if letter not in NEVER_MEANS:
                return letter
    for letter in indexed:
        if letter in VALUES:
            return letter
    raise Unknown("which vectors the query is made of")


def _indices(found: list[str]) -> dict[str, str]:
    """Repair scanning slips: one of a, b is there and the other letter looks like the missing one."""
    distinct = list(dict.fromkeys(found))
    missing = [letter for letter in PAIR if letter not in distinct]
    odd = [index for index in distinct if index not in PAIR]
    if not odd:
        return {}
    if len(missing) == 1 and len(odd) == 1 and odd[0] in SLIPS[missing[0]]:
        return {odd[0]: missing[0]}
    if len(missing) == 2 and len(distinct) == 2:
        capital = [i.lower() for i in distinct]
        if sorted(capital) == ["a", "b"]:
            return dict(zip(distinct, capital, strict=True))
        guess = {i: letter for letter in PAIR for i in distinct if i in SLIPS[letter]}
        if len(guess) == 2 and set(guess.values()) == set(PAIR):
            return guess
    return {}


def scales(expression: Node, roles: Roles) -> list[Symbol]:
    """The scalars of an expression that have no role of their own."""
    fixed = {"n", "d", "I", "pi", "e"}
    return [
        s
        for s in symbols(expression)
        if not roles.role(s) and not (s.name in fixed and s.index in ("", "k"))
    ]
