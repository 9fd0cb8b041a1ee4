"""What the letters of an answer about permuted rows stand for.

Rows of X are tokens and P multiplies from the left. A letter with a mark (`X_perm`, `Q'`, `\\tilde
Z`) stands for its value on P X; a letter that the answer defines itself stands for what it was
defined as.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from headwright.homework.judges.permutation.random_layer import (
    SIZE,
    attended,
    layer,
    layer_weights,
)
from headwright.homework.meaning.formula import Chain, Node, Symbol, tree
from headwright.homework.scenes.arithmetic import Unknown, Value

PERMUTATIONS = {"P", "Pi", "pi"}
MARKS = ("perm", "~", "^", "'", "p", "new", "P", "pi", "Pi", "-", "permuted")
_WEIGHTS = ("Q", "K", "V", "q", "k", "v", "1", "2", "O")
_WHOLE_LAYER = ("f", "F", "T", "g")
_FUNCTIONS = ("Q", "K", "V", "S", "A", "H", "Z", "O", "Y", "Attention")


@dataclass
class Notation:
    """The layer's values on X and P X; the answer's own definitions are added as they are met."""

    feed_forward: bool
    own: dict[Symbol, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        W = layer_weights()
        self.plain = layer(W["X"], feed_forward=self.feed_forward)
        self.permuted = layer(W["P"] @ W["X"], feed_forward=self.feed_forward)

    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value:
        if symbol in self.own:
            return self.own[symbol]
        fixed = _fixed(symbol)
        if fixed is not None:
            return fixed
        base = self.marked(symbol)
        if base:
            return self.permuted[base]
        if symbol.name in self.plain and not symbol.index:
            return self.plain[symbol.name]
        raise Unknown(f"what {symbol.name} stands for")

    def marked(self, symbol: Symbol) -> str:
        """`X_perm`, `X'`, `\\tilde X` -> X."""
        for mark in MARKS:
            stem = symbol.name.removesuffix(mark)
            if stem != symbol.name and stem in self.plain and not symbol.index:
                return stem
            if symbol.index == mark and symbol.name in self.plain:
                return symbol.name
        return ""

    def function(self, symbol: Node) -> Callable[..., Value] | None:
        if not isinstance(symbol, Symbol) or symbol.index:
            return None
        if symbol.name in ("R", "ReLU", "relu"):
            return lambda x: np.maximum(x, 0)
        name = "Z" if symbol.name in _WHOLE_LAYER else symbol.name
        return (lambda *x: self._applied(name, x)) if name in _FUNCTIONS else None

    def _applied(self, name: str, x: tuple[Value, ...]) -> Value:
        arrays = [argument for argument in x if isinstance(argument, np.ndarray)]
        if name == "Attention" and len(x) == len(arrays) == 3:
            return attended(*arrays)
        if len(x) != 1 or np.shape(x[0]) != (SIZE, SIZE):
            raise Unknown(f"{name} of that")
        return layer(np.asarray(x[0]), feed_forward=self.feed_forward)[name]

    def run(self, over: tree.Index, body: Node) -> list[int]:
        raise Unknown("a sum")

    def family(self, symbol: Symbol) -> np.ndarray | None:
        return None

    def word(self, text: str) -> Value:
        raise Unknown(text)


def _fixed(symbol: Symbol) -> Value | None:
    """Letters that mean the same on every input: P, W_Q, b_1, I, d."""
    W = layer_weights()
    if symbol.name in PERMUTATIONS and not symbol.index:
        return W["P"]
    if symbol.name == "W" and symbol.index in _WEIGHTS:
        return W[symbol.index.upper()]
    if symbol.name == "b" and symbol.index in ("1", "2"):
        return W[f"b{symbol.index}"]
    if symbol.name == "I":
        return np.eye(SIZE)
    return float(SIZE) if symbol.name == "d" else None


def with_names(chain: Chain) -> Chain:
    """`W^Q` is a name, not a power; `X'` as well."""
    terms = tuple(tree.rewrite(term, _as_name) for term in chain.terms)
    return Chain(terms, chain.relations)


def _as_name(node: Node) -> Node:
    if (
        isinstance(node, tree.Power)
        and isinstance(node.base, Symbol)
        and isinstance(node.exponent, Symbol)
    ):
        return Symbol(node.base.name, node.exponent.name)
    if isinstance(node, tree.Prime) and isinstance(node.of, Symbol):
        return Symbol(node.of.name + "'", node.of.index)
    return node
