"""What an answer says about the size of its scale: `beta >> 0` is large, `beta > 0` is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Node, Symbol, walk
from headwright.homework.meaning.formula.tree import Infinity, Number
from headwright.homework.meaning.formula.vocabulary import GREEK, GREEK_LETTERS
from headwright.homework.meaning.statements import Piece, Statement
from headwright.homework.meaning.terms import bare

# A number from here on counts as large by itself: e^10 against ten keys leaves 2e-4.
LARGE = 10.0


@dataclass(frozen=True)
class Size:
    """`said`: large, positive, any, small, number, least or nothing; `number` is the number or the
    least one."""

    said: str
    number: float = 0.0


_STRENGTH = ("large", "number", "least", "small", "any", "positive", "nothing")


def size_of(symbol: Symbol, pieces: list[Piece]) -> Size:
    """The strongest thing said about `symbol` in these pieces."""
    found = [Size("nothing")]
    for k, piece in enumerate(pieces):
        if isinstance(piece, Statement):
            found.extend(_related(symbol, piece, pieces, k))
        elif symbol.name.lower() in piece.text.lower() or _sign(symbol) in piece.text:
            found.append(_described(symbol, piece.text))
    return min(found, key=lambda s: _STRENGTH.index(s.said))


def _sign(symbol: Symbol) -> str:
    return next(
        (letter for letter, name in GREEK_LETTERS.items() if name == symbol.name), symbol.name
    )


def _related(symbol: Symbol, piece: Statement, pieces: list[Piece], k: int) -> list[Size]:
    terms, relations = piece.chain.terms, piece.chain.relations
    about = [n for n, t in enumerate(terms) if bare(t) == symbol]
    if not about:
        return []
    # "C_1, C_2 >> 0" is read as C_1 and C_2 >> 0; "beta is large" as beta and words
    if not relations:
        following = pieces[k + 1] if k + 1 < len(pieces) else None
        if (
            isinstance(following, Statement)
            and following.segment == piece.segment
            and bare(following.chain.terms[0])
        ):
            terms, relations = (terms[0], *following.chain.terms[1:]), following.chain.relations
            about = [0]
        return [_compared(relations, terms, n) for n in about if relations] + [_nearby(piece)]
    sizes = [_compared(relations, terms, n) for n in about]
    return [*sizes, _nearby(piece)] if len(terms) <= 2 else sizes


def _nearby(piece: Statement) -> Size:
    before = piece.before.rsplit(",", 1)[-1] if piece.before else ""
    return _worded(f"{before} ; {piece.after}")


def _worded(text: str) -> Size:
    if words.says("any_value", text):
        return Size("any")
    if words.says("large", text) and not words.says("negation", text):
        return Size("large")
    if words.says("positive_value", text):
        return Size("positive")
    if words.says("small", text):
        return Size("small")
    return Size("nothing")


def _described(symbol: Symbol, text: str) -> Size:
    """Words beside the bare letter in plain text: "beta is a large number"."""
    names = [re.escape(n) for n in {symbol.name, _sign(symbol)}]
    edge = r"(?<![A-Za-z_])" if symbol.name not in GREEK else ""
    match = re.search(rf"{edge}(?:{'|'.join(names)})(?![A-Za-z_]).{{0,60}}", text)
    return _worded(match[0]) if match else Size("nothing")


def _compared(relations: tuple[str, ...], terms: tuple[Node, ...], n: int) -> Size:
    """Relations to the right and left neighbour."""
    right = (relations[n], terms[n + 1]) if n < len(relations) else None
    left = (_turned(relations[n - 1]), terms[n - 1]) if n > 0 else None
    sizes = [_one(*side) for side in (right, left) if side is not None]
    return min(sizes, key=lambda s: _STRENGTH.index(s.said), default=Size("nothing"))


def _turned(relation: str) -> str:
    return {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "<<": ">>", ">>": "<<"}.get(
        relation, relation
    )


def _one(relation: str, other: Node) -> Size:
    if any(isinstance(n, Infinity) for n in walk(other)):
        return Size("large" if relation in ("->", "=", "~=", "~") else "nothing")
    if relation == ">>":
        return Size("large")
    if relation == "<<":
        return Size("small")
    number = other.value if isinstance(other, Number) else None
    if number is None:
        return Size("nothing")
    if relation in (">", ">="):
        if number >= LARGE:
            return Size("large")
        return Size("least", number) if number > 0 else Size("positive")
    if relation in ("=", "~="):
        return Size("number", number)
    return Size("nothing")
