"""What a formula is once read: a small tree of frozen records.

One class per idea and no behaviour, so that the reader (`parse`), the evaluator and the roles can
each look at a tree in their own way. A general computer-algebra tree was rejected: it would
rearrange what the student wrote.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any


class Node:
    """Any expression."""


@dataclass(frozen=True)
class Number(Node):
    value: float


@dataclass(frozen=True)
class Infinity(Node):
    pass


@dataclass(frozen=True)
class Dots(Node):
    """An ellipsis inside a sum or a list."""


@dataclass(frozen=True)
class Word(Node):
    """Words used as a quantity: `(a large number) * (k_a + k_b)`."""

    text: str


@dataclass(frozen=True)
class Symbol(Node):
    """`k_a` is Symbol("k", "a"); `\\tilde X` is Symbol("X~"); subscripts are kept as one compact
    string."""

    name: str
    index: str = ""


@dataclass(frozen=True)
class Add(Node):
    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Multiply(Node):
    """A product in written order. `dotted[i]` says a dot or cross stood before factor i + 1."""

    factors: tuple[Node, ...]
    dotted: tuple[bool, ...]


@dataclass(frozen=True)
class Divide(Node):
    above: Node
    below: Node


@dataclass(frozen=True)
class Negate(Node):
    of: Node


@dataclass(frozen=True)
class Power(Node):
    base: Node
    exponent: Node


@dataclass(frozen=True)
class Transpose(Node):
    of: Node


@dataclass(frozen=True)
class Prime(Node):
    """`x'`: a transpose or another name; only the context can tell."""

    of: Node


@dataclass(frozen=True)
class PseudoInverse(Node):
    of: Node


@dataclass(frozen=True)
class Norm(Node):
    of: Node


@dataclass(frozen=True)
class Call(Node):
    """A known function: exp, ln, sqrt, softmax, lim, ..."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Apply(Node):
    """A letter before parentheses: `beta(k_a + k_b)` is a product, `Q(X)` an application; the roles
    decide."""

    head: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Index(Node):
    """What a sum runs over. `low`, `high` for a range; `excluded` for `i != j`, `i notin {a, b}`;
    neither: all."""

    variable: str
    low: Node | None = None
    high: Node | None = None
    excluded: tuple[str, ...] = ()
    included: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sum(Node):
    over: Index
    body: Node


@dataclass(frozen=True)
class Extreme(Node):
    """`max_{i != j} k_i' q`: the largest or smallest over an index."""

    function: str
    over: Index
    body: Node


@dataclass(frozen=True)
class Matrix(Node):
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Bracket(Node):
    """A bracketed list: an interval `[0, 1]`, a set `{a, b}`, a row of columns `[a_1, ..., a_m]`, a
    tuple."""

    open: str
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Chain:
    """`terms[0] relations[0] terms[1] ...`: one statement as written. A lone expression has no
    relations. Relations have one spelling each, the values of `vocabulary.RELATION_COMMANDS`."""

    terms: tuple[Node, ...]
    relations: tuple[str, ...]


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def children(node: Node | Chain) -> Iterator[Node]:
    """What stands directly below, in written order."""
    for name in _fields(type(node)):
        yield from _nodes(getattr(node, name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def walk(whole: Node | Chain) -> Iterator[Node]:
    """The expression (or all members of a statement) and everything below, in written order."""
    stack = [whole] if isinstance(whole, Node) else list(reversed(whole.terms))
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(list(children(top))))


@functools.lru_cache(maxsize=4096)
def symbols(whole: Node | Chain) -> tuple[Symbol, ...]:
    """Every symbol, each once, in written order."""
    found = (node for node in walk(whole) if isinstance(node, Symbol))
    return tuple(dict.fromkeys(found))


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with `change` applied to every node, from the leaves up."""
    parts = [getattr(node, name) for name in _fields(type(node))]
    kind: Any = type(node)
    rebuilt = kind(*[_rewritten(part, change) for part in parts])
    return change(rebuilt)


def _rewritten(part: object, change: Callable[[Node], Node]) -> object:
    if isinstance(part, Node):
        return rewrite(part, change)
    if isinstance(part, tuple):
        return tuple(_rewritten(item, change) for item in part)
    return part
