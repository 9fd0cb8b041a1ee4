"""The value of an expression in a given world: numbers, column vectors, matrices. No `eval`, no
algebra system.

A world (see `worlds`) knows what each symbol stands for; this module knows arithmetic. Vectors are
columns, so the shape of a product decides what it means: `k' q` is a number, `a a'` a matrix, and a
vector never equals a number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from headwright.homework.meaning.formula import Node, Symbol, tree
from headwright.homework.scenes.arithmetic import (
    Mismatch,
    Unknown,
    Value,
    describe,
    multiply,
    softmax,
    trace,
)

MOST_TERMS = 200


@runtime_checkable
class World(Protocol):
    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value: ...

    def function(self, symbol: Symbol) -> Callable[..., Value] | None: ...

    def run(self, over: tree.Index, body: Node) -> list[int]: ...

    def family(self, symbol: Symbol) -> np.ndarray | None: ...

    def word(self, text: str) -> Value: ...


def evaluate(node: Node, world: World, bound: Mapping[str, int] | None = None) -> Value:
    """The value of `node`: a number, which may be infinite, or an array, which is finite. Raises
    Unknown or Mismatch."""
    with np.errstate(all="ignore"):
        value = _value(node, world, bound or {})
    if np.any(np.isnan(value)):
        raise Unknown("not a number (such as inf - inf)")
    if isinstance(value, np.ndarray) and np.any(np.isinf(value)):
        raise Unknown("a finite value: the numbers overflow")
    return value


@functools.singledispatch
def _value(node: Node, world: World, bound: Mapping[str, int]) -> Value:
    raise Unknown(f"{type(node).__name__.lower()} has no value here")


@_value.register
def _(node: tree.Number, world: World, bound: Mapping[str, int]) -> Value:
    return node.value


@_value.register
def _(node: tree.Infinity, world: World, bound: Mapping[str, int]) -> Value:
    return math.inf


@_value.register
def _(node: tree.Word, world: World, bound: Mapping[str, int]) -> Value:
    return world.word(node.text)


@_value.register
def _(node: tree.Symbol, world: World, bound: Mapping[str, int]) -> Value:
    return world.value(node, bound)


@_value.register
def _(node: tree.Add, world: World, bound: Mapping[str, int]) -> Value:
    if any(isinstance(t, tree.Dots) for t in node.terms):
        return _series(node, world, bound)
    values = [_value(t, world, bound) for t in node.terms]
    total = values[0]
    for value in values[1:]:
        if np.shape(total) != np.shape(value):
            raise Mismatch(f"{describe(total)} is added to {describe(value)}")
        total = total + value
    return total


def _series(node: tree.Add, world: World, bound: Mapping[str, int]) -> Value:
    """`x_1 y_1 + ... + x_m y_m`: the first and last term name the sum."""
    first = node.terms[0]
    letters = {
        tuple(s.name for s in tree.symbols(t)) for t in node.terms if not isinstance(t, tree.Dots)
    }
    if len(node.terms) < 3 or len(letters) > 1 or "1" not in {s.index for s in tree.symbols(first)}:
        raise Unknown("an unclear ellipsis")
    body = _reindexed(first, "1", "_t")
    places = world.run(tree.Index("_t"), body)
    return _total([_value(body, world, {**bound, "_t": k}) for k in places])


def _reindexed(node: Node, old: str, new: str) -> Node:
    if isinstance(node, Symbol):
        return Symbol(node.name, new) if node.index == old else node
    if isinstance(node, tree.Multiply):
        return tree.Multiply(tuple(_reindexed(f, old, new) for f in node.factors), node.dotted)
    if isinstance(node, (tree.Transpose, tree.Prime)):
        return type(node)(_reindexed(node.of, old, new))
    return node


@_value.register
def _(node: tree.Negate, world: World, bound: Mapping[str, int]) -> Value:
    return -_value(node.of, world, bound)


@_value.register
def _(node: tree.Multiply, world: World, bound: Mapping[str, int]) -> Value:
    product = _value(node.factors[0], world, bound)
    for factor in node.factors[1:]:
        product = multiply(product, _value(factor, world, bound))
    return product


@_value.register
def _(node: tree.Divide, world: World, bound: Mapping[str, int]) -> Value:
    above, below = _value(node.above, world, bound), _value(node.below, world, bound)
    if isinstance(below, np.ndarray):
        raise Mismatch(f"division by {describe(below)}")
    return (
        np.divide(above, below) if isinstance(above, np.ndarray) else float(np.divide(above, below))
    )


@_value.register
def _(node: tree.Power, world: World, bound: Mapping[str, int]) -> Value:
    if isinstance(node.base, tree.Apply) and world.function(node.base.head) is None:  # type: ignore[arg-type]
        inner = tree.Power(node.base.arguments[0], node.exponent)  # beta (x)^2 is beta times (x)^2
        return multiply(_value(node.base.head, world, bound), _value(inner, world, bound))
    base, exponent = _value(node.base, world, bound), _value(node.exponent, world, bound)
    if isinstance(exponent, np.ndarray):
        raise Mismatch(f"an exponent that is {describe(exponent)}")
    if not isinstance(base, np.ndarray):
        whole = math.isfinite(exponent) and exponent == round(exponent)
        return float(np.power(base, exponent)) if base >= 0 or whole else math.nan
    return _matrix_power(base, exponent)


def _matrix_power(base: np.ndarray, exponent: float) -> Value:
    if base.shape[1] == 1 and exponent == 2:  # k^2 is read as k'k
        return float((base.T @ base)[0, 0])
    if base.shape[0] != base.shape[1]:
        raise Mismatch(f"{describe(base)} raised to {exponent:g}")
    if exponent == -1:
        if np.linalg.cond(base) > 1e12:
            raise Mismatch(f"{describe(base)} that has no inverse is inverted")
        return np.linalg.inv(base)
    if exponent in (0, 1, 2, 3):
        return np.linalg.matrix_power(base, int(exponent))
    raise Unknown("that power of a matrix")


@_value.register
def _(node: tree.Transpose, world: World, bound: Mapping[str, int]) -> Value:
    inner = node.of
    if (
        isinstance(inner, tree.Apply)
        and world.function(inner.head) is None  # type: ignore[arg-type]
        and len(inner.arguments) == 1
    ):
        return multiply(
            _value(inner.head, world, bound),
            _value(tree.Transpose(inner.arguments[0]), world, bound),
        )
    value = _value(inner, world, bound)
    return value.T if isinstance(value, np.ndarray) else value


@_value.register
def _(node: tree.Prime, world: World, bound: Mapping[str, int]) -> Value:
    if isinstance(node.of, Symbol):
        try:
            return world.value(Symbol(node.of.name + "'", node.of.index), bound)
        except Unknown:
            pass
    return _value(tree.Transpose(node.of), world, bound)


@_value.register
def _(node: tree.PseudoInverse, world: World, bound: Mapping[str, int]) -> Value:
    value = _value(node.of, world, bound)
    return (
        1.0 / value
        if not isinstance(value, np.ndarray) and value
        else np.linalg.pinv(np.atleast_2d(value))
    )


@_value.register
def _(node: tree.Norm, world: World, bound: Mapping[str, int]) -> Value:
    value = _value(node.of, world, bound)
    return float(np.linalg.norm(value)) if isinstance(value, np.ndarray) else abs(value)


@_value.register
def _(node: tree.Sum, world: World, bound: Mapping[str, int]) -> Value:
    over = node.over if node.over.variable else tree.Index(_free_index(node.body))
    places = world.run(over, node.body)
    if len(places) > MOST_TERMS:
        raise Unknown("a sum of very many terms")
    return _total([_value(node.body, world, {**bound, over.variable: k}) for k in places])


@_value.register
def _(node: tree.Extreme, world: World, bound: Mapping[str, int]) -> Value:
    values = [
        _value(node.body, world, {**bound, node.over.variable: k})
        for k in world.run(node.over, node.body)
    ]
    if not values or any(isinstance(v, np.ndarray) for v in values):
        raise Unknown(f"the {node.function} of that")
    return float(max(values) if node.function == "max" else min(values))  # type: ignore[type-var]


def _free_index(body: Node) -> str:
    """`sum alpha_i v_i` without a subscript runs over the index its terms share."""
    return next((s.index for s in tree.symbols(body) if s.index in ("i", "j", "l", "t", "k")), "")


def _total(values: list[Value]) -> Value:
    if not values:
        return 0.0
    if any(np.shape(v) != np.shape(values[0]) for v in values):
        raise Mismatch("a sum of terms of different shape")
    return functools.reduce(lambda x, y: x + y, values)


@_value.register
def _(node: tree.Apply, world: World, bound: Mapping[str, int]) -> Value:
    function = world.function(node.head) if isinstance(node.head, Symbol) else None
    arguments = [_value(a, world, bound) for a in node.arguments]
    if function is not None:
        return function(*arguments)
    if len(arguments) != 1:
        raise Unknown(
            f"{getattr(node.head, 'name', 'a symbol')} applied to {len(arguments)} arguments"
        )
    return multiply(_value(node.head, world, bound), arguments[0])


@_value.register
def _(node: tree.Call, world: World, bound: Mapping[str, int]) -> Value:
    arguments = [_value(a, world, bound) for a in node.arguments]
    if node.function == "dot" and len(arguments) == 2:
        return _inner_product(*arguments)
    known = _FUNCTIONS.get(node.function)
    if known is None or len(arguments) != 1:
        raise Unknown(f"the function {node.function}")
    value = known(arguments[0])
    return value if isinstance(value, np.ndarray) else float(value)


def _inner_product(left: Value, right: Value) -> Value:
    """`<x, y>` of two vectors or of two numbers; one of each is a formula that was misread, most
    likely."""
    if isinstance(left, np.ndarray) != isinstance(right, np.ndarray):
        raise Unknown(f"the inner product of {describe(left)} and {describe(right)}")
    return multiply(left.T if isinstance(left, np.ndarray) else left, right)


@_value.register
def _(node: tree.Matrix, world: World, bound: Mapping[str, int]) -> Value:
    if any(isinstance(n, tree.Dots) for row in node.rows for n in row):
        return _whole_family([n for row in node.rows for n in row], world)
    blocks = [[np.atleast_2d(_value(n, world, bound)) for n in row] for row in node.rows]
    try:
        return np.block(blocks)
    except ValueError:
        raise Mismatch("a matrix of blocks that do not fit") from None


@_value.register
def _(node: tree.Bracket, world: World, bound: Mapping[str, int]) -> Value:
    if node.open != "[":
        raise Unknown("a list")
    if any(isinstance(n, tree.Dots) for n in node.items):
        return _whole_family(list(node.items), world)
    columns = [np.atleast_2d(_value(n, world, bound)) for n in node.items]
    if not columns:
        raise Unknown("an empty list")
    if len({len(column) for column in columns}) > 1:
        raise Mismatch("columns of different length stand side by side")
    return np.hstack(columns)


def _whole_family(entries: list[Node], world: World) -> np.ndarray:
    """`[a_1, ..., a_m]`: all vectors of that letter side by side; written with transposes, below
    each other."""
    first = next((e for e in entries if not isinstance(e, tree.Dots)), None)
    rows = isinstance(first, (tree.Transpose, tree.Prime))
    symbol = first.of if isinstance(first, (tree.Transpose, tree.Prime)) else first
    family = world.family(symbol) if isinstance(symbol, Symbol) else None
    if family is None:
        raise Unknown("an unclear ellipsis")
    return family.T if rows else family


_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "exp": np.exp, "ln": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "softmax": softmax,
    "tr": trace, "max": np.max, "min": np.min,
}  # fmt: skip
