"""What is written in a query, as something that can be computed: infinity as a scale, indices put
back, sums over all keys reduced to the keys that their coefficients leave."""

from __future__ import annotations

from dataclasses import replace

from headwright.exercise.wanted import Wanted, wanted
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning.formula import Node, Symbol, symbols, tree, vocabulary
from headwright.homework.meaning.notation import INDEX_LETTERS, KEYS, PAIR, SMALL, TEMPERATURES
from headwright.homework.meaning.scale_size import Size, size_of
from headwright.homework.scenes.arithmetic import Unknown
from headwright.homework.scenes.queries import WrittenQueries, reaches
from headwright.homework.scenes.roles import Roles, vector_roles
from headwright.homework.scenes.scene import spell
from headwright.homework.scenes.torn_symbols import rejoined

INFINITE = tree.Word("infinity")
ZERO = Size("number", 0.0)


def read_queries(expressions: list[Node], answer: Answer) -> WrittenQueries:
    """The queries with the roles of their letters."""
    vectors = answer.question.parameters["vectors"]
    target = wanted(answer.question.parameters)
    repaired = [tree.rewrite(_with_indices(e), _finite) for e in expressions]
    roles = vector_roles(repaired, vectors)
    reduced = [tree.rewrite(e, lambda node: _reduced(node, roles, answer)) for e in repaired]
    heads = WrittenQueries(tuple(reduced), roles)
    strange = [s for s in heads.scales if not _can_be_scale(s)]
    if strange:
        raise Unknown(f"what {spell(strange[0])} stands for")
    return _shrinking(heads, answer, target)


def _can_be_scale(symbol: Symbol) -> bool:
    """A letter, with or without an accent; not a command that nobody knows."""
    name = symbol.name.rstrip("".join(vocabulary.ACCENTS.values()))
    return len(name) <= 1 or name in vocabulary.GREEK


def _with_indices(expression: Node) -> Node:
    """Where no letter has an index, those that were written beside their letters are put back."""
    if any(symbol.index for symbol in symbols(expression)):
        return expression
    return rejoined(expression)


def _finite(node: Node) -> Node:
    """Infinity times a key is a key times something large; the expectation of a key its mean."""
    if isinstance(node, tree.Infinity):
        return INFINITE
    expected = _expected(node)
    return Symbol("mu", expected.index) if expected is not None else node


def _expected(node: Node) -> Symbol | None:
    """The key of `E[k_a]`, `E(k_a)`, `E k_a`."""
    parts: tuple[Node, ...] = ()
    if isinstance(node, tree.Multiply):
        parts = node.factors
    elif isinstance(node, tree.Apply):
        parts = (node.head, *node.arguments)
    if len(parts) != 2 or parts[0] != Symbol("E"):
        return None
    key = parts[1]
    return key if isinstance(key, Symbol) and key.name in KEYS and key.index else None


def _shrinking(heads: WrittenQueries, answer: Answer, target: Wanted) -> WrittenQueries:
    """An epsilon or a temperature shrinks as the other scales grow, where that reaches the
    target."""
    sizes = {s: size_of(s, list(answer.pieces)).said for s in heads.scales}
    if "negative" in sizes.values():
        raise Unknown("the effect of a scale that is said to be negative")
    usual = SMALL | TEMPERATURES
    small = {s for s in sizes if sizes[s] == "small" or (s.name in usual and sizes[s] != "large")}
    bounded = replace(heads, small=frozenset(small))
    return bounded if small and reaches(bounded, target) else heads


def _reduced(node: Node, roles: Roles, answer: Answer) -> Node:
    """`sum_j d_j k_j` where d_j is said to be nothing beside d_a and d_b: `d_a k_a + d_b k_b`."""
    if not isinstance(node, tree.Sum) or node.over.included:
        return node
    running = [s for s in symbols(node.body) if s.index in INDEX_LETTERS]
    variable = node.over.variable or next((s.index for s in running), "")
    coefficients = [s for s in running if s.index == variable and not roles.role(s)]
    if not coefficients:
        return node
    for coefficient in coefficients:
        if not _vanishes(coefficient, answer):
            raise Unknown(f"what the coefficients {spell(coefficient)} are")
    return tree.Add(tuple(_at(node.body, variable, letter) for letter in PAIR))


def _vanishes(coefficient: Symbol, answer: Answer) -> bool:
    """Are those of a and b mentioned, and those of all other keys said to be small or zero?"""
    stated = {symbol for statement in answer.statements for symbol in symbols(statement.chain)}
    family = {symbol for symbol in stated if symbol.name == coefficient.name}
    named = {symbol.index for symbol in family}
    if not named >= set(PAIR):
        return False

    others = [symbol for symbol in family if symbol.index in INDEX_LETTERS]
    sizes = [size_of(symbol, list(answer.pieces)) for symbol in others]
    return any(size.said == "small" or size == ZERO for size in sizes)


def _at(body: Node, variable: str, letter: str) -> Node:
    """The body of a sum at one key."""

    def named(node: Node) -> Node:
        if isinstance(node, Symbol) and node.index == variable:
            return Symbol(node.name, letter)
        return node

    return tree.rewrite(body, named)
