"""What the symbols of an answer stand for: an instance of the exercise seen through the student's
notation.

Symbols are resolved by role, not by name. `Roles` says which letter plays which role (keys, means,
values, ...); scalars that have no role of their own are scales. A `Scene` joins roles, an instance
and values for the scales.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from headwright.exercise.instances import Instance
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Node, Symbol, symbols
from headwright.homework.meaning.formula.tree import Index
from headwright.homework.scenes.arithmetic import Unknown, Value
from headwright.homework.scenes.evaluate import ELLIPSIS_INDEX
from headwright.homework.scenes.roles import Roles

# Roles whose letters with an index are rows of an array of the instance.
VECTORS = ("keys", "means", "values")
# Roles whose letters are a matrix of the instance, and with an index one of its columns.
BASES = ("basis a", "basis b")


@dataclass(frozen=True)
class Scene:
    """One instance in one notation.

    `scalars`: value of every scale; `given`: anything else that is fixed (weights, outputs, q);
    `indexed`: arrays whose entries a letter with an index names; `scale`: what "a large number"
    is; `lengths`: by how much the key at a place is stretched (gamma).
    """

    instance: Instance
    roles: Roles
    scalars: Mapping[Symbol, float] = field(default_factory=dict)
    given: Mapping[Symbol, Value] = field(default_factory=dict)
    indexed: Mapping[str, np.ndarray] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Value]] = field(default_factory=dict)
    scale: float = 1.0
    lengths: Mapping[int, float] = field(default_factory=dict)

    def value(self, symbol: Symbol, bound: Mapping[str, int]) -> Value:
        if symbol in self.given:
            return self.given[symbol]

        role = self.roles.role(symbol)
        if role in VECTORS and symbol.index:
            return self._vector(role, self.place(symbol, bound))
        if symbol.name in self.indexed and symbol.index:
            return self._entry(self.indexed[symbol.name], self.place(symbol, bound))
        if role in BASES:
            return self._basis_vector(self._basis(role), symbol, bound)
        if symbol in self.scalars:
            return float(self.scalars[symbol])

        constant = self._constant(symbol, role)
        if constant is None:
            raise Unknown(f"what {spell(symbol)} stands for")
        return constant

    def _vector(self, role: str, place: int) -> np.ndarray:
        column = self._rows(role)[place][:, None]
        return self.lengths[place] * column if role == "keys" and place in self.lengths else column

    def _rows(self, role: str) -> np.ndarray:
        return self.instance.V if role == "values" else self.instance.K

    @staticmethod
    def _entry(array: np.ndarray, place: int) -> Value:
        return float(array[place]) if array.ndim == 1 else array[place][:, None]

    def _basis(self, role: str) -> np.ndarray:
        return self.instance.A if role == "basis a" else self.instance.B

    @staticmethod
    def _basis_vector(basis: np.ndarray, symbol: Symbol, bound: Mapping[str, int]) -> Value:
        """The column that the index names; the whole basis without one."""
        if not symbol.index:
            return basis
        written = int(symbol.index) - 1 if symbol.index.isdigit() else 0
        place = bound.get(symbol.index, written)
        if not 0 <= place < basis.shape[1]:
            raise Unknown(f"what {spell(symbol)} stands for")
        return basis[:, [place]]

    def _constant(self, symbol: Symbol, role: str) -> Value | None:
        name = symbol.name
        if role == "count" or (name == "n" and not symbol.index):
            return float(self.instance.n)
        if role == "dimension" or (name == "d" and symbol.index in ("", "k", "q")):
            return float(self.instance.d)
        if name == "I" and symbol.index in ("", "d", "n"):
            return np.eye(self.instance.d)
        if name == "pi" and not symbol.index:
            return float(np.pi)
        return None

    def place(self, symbol: Symbol, bound: Mapping[str, int]) -> int:
        """The key that an index names: a bound variable, a, b, j, a number from 1, or some other
        key."""
        if symbol.index in bound:  # inside a sum the running index is no letter of the student's
            return bound[symbol.index]

        index = self.roles.index(symbol)
        if index in bound:
            return bound[index]
        known = self.instance.place(index)
        if known is not None:
            return known
        if index.isdigit() and 1 <= int(index) <= self.instance.n:
            return int(index) - 1
        if index == "n":
            return self.instance.n - 1
        if len(index) == 1 and index.isalpha():
            return self.other()
        raise Unknown(f"which key {spell(symbol)} is")

    def other(self) -> int:
        """The first key that the exercise does not name."""
        taken = {place for _, place in self.instance.places}
        return next(k for k in range(self.instance.n) if k not in taken)

    def function(self, symbol: Node) -> Callable[..., Value] | None:
        return self.functions.get(symbol.name) if isinstance(symbol, Symbol) else None

    def run(self, over: Index, body: Node) -> list[int]:
        """The places a sum visits."""
        if over.included:
            return [self._named_place(letter) for letter in over.included]
        dropped = {self._named_place(letter) for letter in over.excluded}
        return [k for k in range(self._range(over, body)) if k not in dropped]

    def _range(self, over: Index, body: Node) -> int:
        """A sum runs over the columns of a basis where its body names them, else over all keys."""
        running = [s for s in symbols(body) if s.index in (over.variable, ELLIPSIS_INDEX)]
        roles = [self.roles.role(s) for s in running]
        basis = next((role for role in roles if role in BASES), None)
        return self._basis(basis).shape[1] if basis is not None else self.instance.n

    def _named_place(self, letter: str) -> int:
        return self.place(Symbol("", letter), {})

    def family(self, symbol: Symbol) -> np.ndarray | None:
        """All vectors of that letter side by side."""
        role = self.roles.role(symbol)
        if role in BASES:
            return self._basis(role)
        return self._rows(role).T if role in VECTORS else None

    def word(self, text: str) -> Value:
        if words.large_number(text):
            return self.scale
        raise Unknown(f"'{text}'")


def spell(symbol: Symbol) -> str:
    return f"{symbol.name}_{symbol.index}" if symbol.index else symbol.name
