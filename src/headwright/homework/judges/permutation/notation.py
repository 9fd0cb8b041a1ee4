"""What the letters of an answer about permuted rows stand for.

Rows of X are tokens and P multiplies from the left. A letter with a mark (`X_perm`, `Q'`, `\\tilde
Z`) stands for its value on P X; a letter that the document defines stands for what it was defined
as. What is left open (is A the weights or the scores? does Z come after a feed-forward layer?) is a
`Reading`, and the judge tries all of them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from headwright.homework.judges.permutation.random_layer import (
    SIZE,
    attended,
    fed_forward,
    layer,
    layer_weights,
)
from headwright.homework.judges.permutation.spelling import (
    CALLED,
    NEVER_APPLIED,
    ONES,
    PERMUTATIONS,
)
from headwright.homework.meaning.formula import Node, Symbol, tree
from headwright.homework.scenes.arithmetic import Unknown, Value, softmax
from headwright.homework.scenes.evaluate import evaluate

_SIGNS = {"~", "^", "'", "-", "p", "P", "pi", "Pi", "sigma"}
_WORDS = {"perm", "permuted", "new", "shuf", "shuff", "shuffled", "shuffle", "permut", "permutiert"}
MARKS = frozenset({*_SIGNS, *_WORDS, "permutado", "permutada", "permutée", "permuté", "reordered"})
# Letters whose meaning the exercise fixes; all others may be defined by the document.
FIXED = frozenset({"X", "Q", "K", "V", "W", "I", "d", *PERMUTATIONS})
_WEIGHTS = ("Q", "K", "V", "q", "k", "v", "1", "2", "O")
_WHOLE_LAYER = ("f", "F", "T", "g", "G", "L")
_BY_TOKEN = ("R", "ReLU", "relu", "gelu", "phi", "act")
_FEED_FORWARD = ("FFN", "MLP", "FF")
_NONLINEARITY = "sigma"  # the softmax or a function of single entries


class Reading(NamedTuple):
    """What letters of free use stand for, by their names in `layer`."""

    feed_forward: bool = False
    scaled: bool = True  # the scores, by 1 / sqrt(d)
    A: str = "A"
    S: str = "S"
    sigma: str = "entries"


USUAL = Reading()


def readings(used: set[str]) -> Iterator[Reading]:
    """All readings of the letters that are used, the usual one first."""
    fed = (True, False) if used & {*_BY_TOKEN, *_FEED_FORWARD} else (False,)
    scaled = (True,) if used & {"d", "D"} else (False, True)
    of_A = ("A", "S", "M") if "A" in used else ("A",)
    of_S = ("S", "M") if "S" in used else ("S",)
    of_sigma = ("entries", "softmax") if _NONLINEARITY in used else ("entries",)
    for choice in itertools.product(fed, scaled, of_A, of_S, of_sigma):
        yield Reading(*choice)


@dataclass(frozen=True)
class Notation:
    """The layer's values on X and on P X, and what the document adds to them."""

    own: dict[Symbol, Value] = field(default_factory=dict)
    defined: dict[str, Node] = field(default_factory=dict)
    marks: frozenset[str] = MARKS
    reading: Reading = USUAL
    output: str = "Z"  # what the proof is about
    input: np.ndarray = field(default_factory=lambda: layer_weights()["X"])

    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value:
        if symbol in self.own:
            return self.own[symbol]
        fixed = _fixed(symbol)
        if fixed is not None:
            return fixed
        base = self.marked(symbol)
        if base:
            return self.on_permuted.plain(base)
        if symbol.index:
            raise Unknown(f"what {symbol.name} stands for")
        return self.plain(symbol.name)

    @functools.cached_property
    def on_permuted(self) -> Notation:
        """The same letters on P X."""
        return self._on(layer_weights()["P"] @ self.input)

    def _on(self, x: np.ndarray) -> Notation:
        return replace(self, input=x)

    @functools.cached_property
    def _layer(self) -> dict[str, np.ndarray]:
        reading = self.reading
        return layer(self.input, feed_forward=reading.feed_forward, scaled=reading.scaled)

    def plain(self, name: str) -> Value:
        """The value of a letter on the input."""
        if name in self.defined:
            return evaluate(self.defined[name], self)
        meant = {"A": self.reading.A, "S": self.reading.S}.get(name, name)
        if meant not in self._layer:
            raise Unknown(f"what {name} stands for")
        return self._layer[meant]

    def known(self, name: str) -> bool:
        return name in self.defined or name in _LETTERS

    def marked(self, symbol: Symbol) -> str:
        """`X_perm`, `X'`, `\\tilde X` -> X."""
        if symbol.index in self.marks and self.known(symbol.name):
            return symbol.name
        for mark in self.marks:
            stem = symbol.name.removesuffix(mark)
            if stem != symbol.name and self.known(stem) and not symbol.index:
                return stem
        return ""

    def function(self, symbol: Node) -> Callable[..., Value] | None:
        """A letter that is applied to what follows; a matrix where the spelling shows it."""
        if not isinstance(symbol, Symbol) or symbol.index or symbol.name in NEVER_APPLIED:
            return None
        name = symbol.name.removesuffix(CALLED)
        if name in _BY_TOKEN or (name == _NONLINEARITY and self.reading.sigma == "entries"):
            return lambda x: np.maximum(x, 0)
        if name == _NONLINEARITY:
            return softmax
        if name in _FEED_FORWARD:
            return lambda x: fed_forward(_square(x))
        whole = name in _WHOLE_LAYER and name not in self.defined
        return lambda *x: self._applied("Z" if whole else name, x)

    def _applied(self, name: str, x: tuple[Value, ...]) -> Value:
        arrays = [argument for argument in x if isinstance(argument, np.ndarray)]
        if name == "Attention" and len(x) == len(arrays) == 3:
            return attended(*arrays)
        if len(x) != 1:
            raise Unknown(f"{name} of that")
        return self._on(_square(x[0])).plain(name)

    def run(self, over: tree.Index, body: Node) -> list[int]:
        raise Unknown("the value of a sum")

    def family(self, symbol: Symbol) -> np.ndarray | None:
        return None

    def word(self, text: str) -> Value:
        raise Unknown(text)


_LETTERS = frozenset(layer(layer_weights()["X"], feed_forward=False))


def _square(x: Value) -> np.ndarray:
    if np.shape(x) != (SIZE, SIZE):
        raise Unknown("a layer applied to that")
    return np.asarray(x)


def _fixed(symbol: Symbol) -> Value | None:
    """Letters that mean the same on every input: P, W_Q, b_1, I, d, the vector of ones."""
    W = layer_weights()
    if symbol.name in PERMUTATIONS and symbol.index in ("", "pi", "sigma"):
        return W["P"]
    if symbol.name == "W" and symbol.index in _WEIGHTS:
        return W[symbol.index.upper()]
    if symbol.name == "b" and symbol.index in ("1", "2"):
        return W[f"b{symbol.index}"]
    if symbol == ONES:
        return np.ones((SIZE, 1))
    if symbol.name == "I":
        return np.eye(SIZE)
    return float(SIZE) if symbol.name in ("d", "D") else None
