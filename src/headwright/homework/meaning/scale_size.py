"""What an answer says about the size of its scale: `beta >> 0` is large, `beta > 0` is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Node, Symbol, walk
from headwright.homework.meaning.formula.tree import Divide, Infinity, Negate, Number, PseudoInverse
from headwright.homework.meaning.formula.vocabulary import GREEK, GREEK_LETTERS
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare

# A number from here on counts as large by itself: e^10 against ten keys leaves 2e-4.
LARGE = 10.0


@dataclass(frozen=True)
class Size:
    """`said`: large, positive, any, small, negative, number, least or nothing; `number` is the
    number or the least one."""

    said: str
    number: float = 0.0


# Of several things said the strongest counts.
_STRENGTH = ("negative", "large", "number", "least", "small", "any", "positive", "nothing")
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "<<": ">>", ">>": "<<"}


def size_of(symbol: Symbol, pieces: list[Piece]) -> Size:
    """The strongest thing said about `symbol` in these pieces."""
    found = [Size("nothing")]
    for k, piece in enumerate(pieces):
        if isinstance(piece, Statement):
            found.extend(_related(symbol, piece, pieces, k))
        elif symbol.name.lower() in piece.text.lower() or _sign(symbol) in piece.text:
            found.append(_described(symbol, piece.text))
    numbers = {size for size in found if size.said == "number"}
    if len(numbers) > 1:  # several numbers are examples, and none of them is the scale
        found = [size for size in found if size not in numbers]
    return _strongest(found)


def _strongest(sizes: list[Size]) -> Size:
    return min(sizes, key=lambda size: _STRENGTH.index(size.said), default=Size("nothing"))


def _sign(symbol: Symbol) -> str:
    """beta -> β"""
    signs = (letter for letter, name in GREEK_LETTERS.items() if name == symbol.name)
    return next(signs, symbol.name)


def _related(symbol: Symbol, piece: Statement, pieces: list[Piece], k: int) -> list[Size]:
    """What the statement `pieces[k]` says about the symbol: its relations, and words beside it."""
    chain = piece.chain
    places = [n for n, term in enumerate(chain.terms) if bare(term) == symbol]
    if not places:
        return []

    if not chain.relations:  # "beta is large" is read as beta and words
        following = pieces[k + 1] if k + 1 < len(pieces) else None
        return [*_said_of_both(piece, following), _nearby(piece)]

    sizes = [_compared(chain, n) for n in places]
    if words.says("tentative", piece.before[-25:]):  # "if beta = 1 the weights are flat"
        sizes = [size for size in sizes if size.said != "number"]
    return [*sizes, _nearby(piece)] if len(chain.terms) <= 2 else sizes


def _said_of_both(lone: Statement, following: Piece | None) -> list[Size]:
    """What stands behind the second letter of "C_1, C_2 >> 0", read as C_1 and C_2 >> 0."""
    if not isinstance(following, Statement) or following.segment != lone.segment:
        return []
    if bare(following.chain.terms[0]) is None or not following.chain.relations:
        return []

    members = (lone.chain.terms[0], *following.chain.terms[1:])
    return [_compared(Chain(members, following.chain.relations), 0)]


def _nearby(piece: Statement) -> Size:
    before = piece.before.rsplit(",", 1)[-1].rstrip() if piece.before else ""
    if words.says("any_value", before):
        return Size("any")
    return _worded(f"{before} ; {piece.after}")


def _worded(text: str) -> Size:
    if words.says("any_value", text):
        return Size("any")
    large = words.says("large", text) or words.says("grows", text)
    if large and not words.says("negation", text):
        return Size("large")
    if words.says("positive_value", text):
        return Size("positive")
    if words.says("small", text) and not words.says("negation", text):
        return Size("small")
    return Size("nothing")


def _described(symbol: Symbol, text: str) -> Size:
    """Words beside the bare letter in plain text: "beta is a large number"."""
    names = "|".join(re.escape(name) for name in (symbol.name, _sign(symbol)))
    edge = r"(?<![A-Za-z_])" if symbol.name not in GREEK else ""
    match = re.search(rf"{edge}(?:{names})(?![A-Za-z_]).{{0,60}}", text)
    return _worded(match[0]) if match else Size("nothing")


def _compared(chain: Chain, n: int) -> Size:
    """What the relations of member n to its right and left neighbour say."""
    sizes = []
    if n < len(chain.relations):
        sizes.append(_one(chain.relations[n], chain.terms[n + 1]))
    if n > 0:
        relation = chain.relations[n - 1]
        sizes.append(_one(_OPPOSITE.get(relation, relation), chain.terms[n - 1]))
    return _strongest(sizes)


def _one(relation: str, other: Node) -> Size:
    if other == Negate(Infinity()):
        return Size("negative")
    if any(isinstance(n, Infinity) for n in walk(other)):
        return Size("large" if relation in ("->", "=", "~=", "~") else "nothing")
    if relation == ">>":
        return Size("large")
    if relation == "<<":
        return Size("small")
    if relation == "in" and _is_positive_reals(other):
        return Size("positive")
    number = _number(other)
    if number is None:
        return Size("nothing")
    if relation in (">", ">="):
        return _bounded_below(number)
    if relation in ("=", "~="):
        return Size("number", number)
    if relation == "->" and number == 0:
        return Size("small")
    return Size("nothing")


def _number(node: Node) -> float | None:
    """3, 1/2"""
    if isinstance(node, Divide):
        above = _number(node.above)
        below = _number(node.below)
        return above / below if above is not None and below else None
    return node.value if isinstance(node, Number) else None


def _is_positive_reals(node: Node) -> bool:
    """`R^+`, `R_+`, `R_{>0}`"""
    if isinstance(node, PseudoInverse):
        return node.of == Symbol("R")
    return isinstance(node, Symbol) and node.name == "R" and node.index in ("+", "++", ">0")


def _bounded_below(number: float) -> Size:
    if number >= LARGE:
        return Size("large")
    return Size("least", number) if number > 0 else Size("positive")
