"""What a formula falls into: statements, words between them, marks that separate them, and what
could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.homework.meaning.formula.tree import Add, Chain, Node


@dataclass(frozen=True)
class Missing(Node):
    """The side of a relation that was not written (or stands in the next block)."""


@dataclass(frozen=True)
class Text:
    """Words between statements."""

    text: str


@dataclass(frozen=True)
class Mark:
    """What separates statements: "=>", "forall", "," or "newline"."""

    sign: str


@dataclass(frozen=True)
class Unread:
    """A piece that is no formula, with the reason."""

    text: str
    why: str


Item = Chain | Text | Mark | Unread


def join(first: Chain, second: Chain) -> Chain | None:
    """One statement out of two pieces, when the first lacks its end or the second its beginning."""
    open_end = isinstance(first.terms[-1], Missing)
    open_start = isinstance(second.terms[0], Missing)
    if open_end and open_start:  # "... =" in one block and "= ..." in the next
        return Chain(first.terms[:-1] + second.terms[1:], first.relations[:-1] + second.relations)
    if open_end:
        return Chain(first.terms[:-1] + second.terms, first.relations + second.relations)
    if open_start:
        return Chain(first.terms + second.terms[1:], first.relations + second.relations)
    return None


def joined_sum(first: Chain, second: Chain) -> Chain:
    """One statement out of two pieces of a sum: `q = x +` and `y`."""
    total = Add((*_summands(first.terms[-1]), *_summands(second.terms[0])))
    terms = (*first.terms[:-1], total, *second.terms[1:])
    return Chain(terms, first.relations + second.relations)


def _summands(node: Node) -> tuple[Node, ...]:
    return node.terms if isinstance(node, Add) else (node,)
