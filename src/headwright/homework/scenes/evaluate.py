"""The value of an expression in a scene: numbers, column vectors, matrices. No `eval`, no algebra
system.

A scene (see `scene`) knows what each symbol stands for; `arithmetic` knows how values combine; this
module walks the tree. Vectors are columns, so the shape of a product decides what it means: `k' q`
is a number, `a a'` a matrix, and a vector never equals a number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from headwright.homework.meaning.formula import Node, Symbol, tree
from headwright.homework.scenes.arithmetic import (
    Mismatch,
    Unknown,
    Value,
    add,
    blocks,
    divide,
    inner_product,
    multiply,
    outer_product,
    power,
    pseudo_inverse,
    softmax,
    total,
    trace,
)

MOST_TERMS = 200
# The running index of `x_1 + ... + x_m`: no student writes it.
ELLIPSIS_INDEX = "_t"

_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "exp": np.exp,
    "ln": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "softmax": softmax,
    "tr": trace,
    "max": np.max,
    "min": np.min,
}
_PAIRED: dict[str, Callable[[Value, Value], Value]] = {
    "dot": inner_product,
    "outer": outer_product,
}


@runtime_checkable
class AnyScene(Protocol):
    """What evaluating asks of a scene: usually a `Scene`; a judge may bring its own."""

    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value: ...

    def function(self, symbol: Node) -> Callable[..., Value] | None: ...

    def run(self, over: tree.Index, body: Node) -> list[int]: ...

    def family(self, symbol: Symbol) -> np.ndarray | None: ...

    def word(self, text: str) -> Value: ...


def evaluate(node: Node, scene: AnyScene, bound: Mapping[str, int] | None = None) -> Value:
    """The value of `node`: a number, which may be infinite, or an array, which is finite. Raises
    Unknown or Mismatch."""
    with np.errstate(all="ignore"):
        value = _value(node, _Here(scene, bound or {}))
    is_array = isinstance(value, np.ndarray)
    if np.isnan(value).any() if is_array else math.isnan(value):
        raise Unknown("a number (it comes to something like inf - inf)")
    if is_array and np.isinf(value).any():
        raise Unknown("a finite value: the numbers overflow")
    return value


class _Here(NamedTuple):
    """The scene, and the place of every running index around the node."""

    scene: AnyScene
    bound: Mapping[str, int]

    def along(self, over: tree.Index, body: Node) -> list[Value]:
        """The values of `body` at every place that an index visits."""
        places = self.scene.run(over, body)
        if len(places) > MOST_TERMS:
            raise Unknown("the value of a sum of very many terms")
        steps = [_Here(self.scene, {**self.bound, over.variable: k}) for k in places]
        return [_value(body, step) for step in steps]

    def applies(self, node: tree.Apply) -> bool:
        """Is `Q(X)` a function of X? `beta (x)` is a product."""
        return self.scene.function(node.head) is not None


@functools.singledispatch
def _value(node: Node, here: _Here) -> Value:
    raise Unknown(f"the value of {type(node).__name__.lower()} here")


@_value.register
def _(node: tree.Number, here: _Here) -> Value:
    return node.value


@_value.register
def _(node: tree.Infinity, here: _Here) -> Value:
    return math.inf


@_value.register
def _(node: tree.Word, here: _Here) -> Value:
    return here.scene.word(node.text)


@_value.register
def _(node: tree.Symbol, here: _Here) -> Value:
    return here.scene.value(node, here.bound)


@_value.register
def _(node: tree.Add, here: _Here) -> Value:
    if any(isinstance(t, tree.Dots) for t in node.terms):
        return _series(node, here)
    values = [_value(t, here) for t in node.terms]
    loose = [t for t in node.terms if isinstance(t, Symbol) and not t.index]
    try:
        return functools.reduce(add, values)
    except Mismatch:
        if loose and any(isinstance(value, np.ndarray) for value in values):
            raise Unknown(f"whether {loose[0].name} stands for a vector") from None
        raise


def _series(node: tree.Add, here: _Here) -> Value:
    """`x_1 y_1 + ... + x_m y_m`: the first and last term name the sum."""
    first = node.terms[0]
    written = [t for t in node.terms if not isinstance(t, tree.Dots)]
    letters = {tuple(s.name for s in tree.symbols(t)) for t in written}
    starts_at_one = "1" in {s.index for s in tree.symbols(first)}
    if len(node.terms) < 3 or len(letters) > 1 or not starts_at_one:
        raise Unknown("what the ellipsis stands for")

    body = tree.rewrite(first, _running)
    return total(here.along(tree.Index(ELLIPSIS_INDEX), body))


def _running(node: Node) -> Node:
    """x_1 -> x_t"""
    if isinstance(node, Symbol) and node.index == "1":
        return Symbol(node.name, ELLIPSIS_INDEX)
    return node


@_value.register
def _(node: tree.Negate, here: _Here) -> Value:
    return -_value(node.of, here)


@_value.register
def _(node: tree.Multiply, here: _Here) -> Value:
    # All of them first: next to a letter that nobody knows shapes prove nothing
    values = [_value(factor, here) for factor in node.factors]
    return functools.reduce(multiply, values)


@_value.register
def _(node: tree.Divide, here: _Here) -> Value:
    above = _value(node.above, here)
    below = _value(node.below, here)
    return divide(above, below)


@_value.register
def _(node: tree.Power, here: _Here) -> Value:
    base = node.base
    if isinstance(base, tree.Apply) and not here.applies(base):  # beta (x)^2 is beta times (x)^2
        inner = tree.Power(base.arguments[0], node.exponent)
        return multiply(_value(base.head, here), _value(inner, here))
    return power(_value(base, here), _value(node.exponent, here))


@_value.register
def _(node: tree.Transpose, here: _Here) -> Value:
    inner = node.of
    if isinstance(inner, tree.Apply) and not here.applies(inner) and len(inner.arguments) == 1:
        turned = tree.Transpose(inner.arguments[0])  # beta (x)' is beta times (x)'
        return multiply(_value(inner.head, here), _value(turned, here))
    value = _value(inner, here)
    return value.T if isinstance(value, np.ndarray) else value


@_value.register
def _(node: tree.Prime, here: _Here) -> Value:
    if isinstance(node.of, Symbol):
        try:
            return here.scene.value(Symbol(node.of.name + "'", node.of.index), here.bound)
        except Unknown:
            pass
    return _value(tree.Transpose(node.of), here)


@_value.register
def _(node: tree.PseudoInverse, here: _Here) -> Value:
    return pseudo_inverse(_value(node.of, here))


@_value.register
def _(node: tree.Norm, here: _Here) -> Value:
    value = _value(node.of, here)
    return float(np.linalg.norm(value)) if isinstance(value, np.ndarray) else abs(value)


@_value.register
def _(node: tree.Sum, here: _Here) -> Value:
    over = node.over if node.over.variable else tree.Index(_free_index(node.body))
    return total(here.along(over, node.body))


def _free_index(body: Node) -> str:
    """`sum alpha_i v_i` without a subscript runs over the index its terms share."""
    indices = (s.index for s in tree.symbols(body) if s.index in ("i", "j", "l", "t", "k"))
    return next(indices, "")


@_value.register
def _(node: tree.Extreme, here: _Here) -> Value:
    values = here.along(node.over, node.body)
    numbers = [v for v in values if not isinstance(v, np.ndarray)]
    if not numbers or len(numbers) < len(values):
        raise Unknown(f"the {node.function} of that")
    return float(max(numbers) if node.function == "max" else min(numbers))


@_value.register
def _(node: tree.Apply, here: _Here) -> Value:
    function = here.scene.function(node.head)
    arguments = [_value(a, here) for a in node.arguments]
    if function is not None:
        return function(*arguments)
    if len(arguments) != 1:
        name = getattr(node.head, "name", "a symbol")
        raise Unknown(f"{name} applied to {len(arguments)} arguments")
    return multiply(_value(node.head, here), arguments[0])


@_value.register
def _(node: tree.Call, here: _Here) -> Value:
    arguments = [_value(a, here) for a in node.arguments]
    if node.function in _PAIRED and len(arguments) == 2:
        return _PAIRED[node.function](*arguments)
    known = _FUNCTIONS.get(node.function)
    if known is None or len(arguments) != 1:
        raise Unknown(f"the function {node.function}")
    value = known(arguments[0])
    return value if isinstance(value, np.ndarray) else float(value)


@_value.register
def _(node: tree.Matrix, here: _Here) -> Value:
    entries = [entry for row in node.rows for entry in row]
    if any(isinstance(entry, tree.Dots) for entry in entries):
        return _whole_family(entries, here.scene)
    return blocks([[_value(entry, here) for entry in row] for row in node.rows])


@_value.register
def _(node: tree.Bracket, here: _Here) -> Value:
    if any(isinstance(item, tree.Dots) for item in node.items) and node.open in ("[", "("):
        return _whole_family(list(node.items), here.scene)
    if node.open != "[":
        raise Unknown("the value of a list")
    return blocks([[_value(item, here) for item in node.items]])


def _whole_family(entries: list[Node], scene: AnyScene) -> np.ndarray:
    """`[a_1, ..., a_m]`: all vectors of that letter side by side; written with transposes, below
    each other."""
    first = next((entry for entry in entries if not isinstance(entry, tree.Dots)), None)
    transposed = isinstance(first, (tree.Transpose, tree.Prime))
    symbol = first.of if isinstance(first, (tree.Transpose, tree.Prime)) else first
    family = scene.family(symbol) if isinstance(symbol, Symbol) else None
    if family is None:
        raise Unknown("what the ellipsis stands for")
    return family.T if transposed else family
