"""Which letter plays which part. Means may be called mu, u, m or nu; scans turn mu into H and a
into n; the scale may be called anything. What an index is attached to, and beside which other
letters, decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwright.homework.meaning.formula import Node, Symbol, symbols
from headwright.homework.meaning.notation import (
    CONSTANTS,
    KEYS,
    NEVER_MEANS,
    PAIR,
    SLIPS,
    VALUES_IN_QUERIES,
)
from headwright.homework.scenes.arithmetic import Unknown


@dataclass(frozen=True)
class Roles:
    """letter -> role, and the letters that scanning confused: index "n" read as "a"."""

    of: Mapping[str, str] = field(default_factory=dict)
    indices: Mapping[str, str] = field(default_factory=dict)

    def role(self, symbol: Symbol) -> str:
        return self.of.get(symbol.name, "")

    def index(self, symbol: Symbol) -> str:
        return self.indices.get(symbol.index, symbol.index)


def vector_roles(expressions: Iterable[Node], wanted: str) -> Roles:
    """Roles for the letters of a query: which one is the vector, and what its indices mean.

    Raises Unknown when no letter can be the vector.
    """
    used = [s for e in expressions for s in symbols(e) if s.index]
    letter = _vector_letter(used, wanted)
    of = {letter: _usual_role(letter) or ("means" if wanted == "means" else "")}
    if not of[letter]:
        raise Unknown(f"whether {letter} stands for keys")

    for symbol in used:
        usual = _usual_role(symbol.name)
        if usual:
            of[symbol.name] = usual
    return Roles(of, _slipped_indices([s.index for s in used if s.name in of]))


def _usual_role(letter: str) -> str:
    if letter in KEYS:
        return "keys"
    if letter == "mu":
        return "means"
    return "values" if letter in VALUES_IN_QUERIES else ""


def _vector_letter(used: list[Symbol], wanted: str) -> str:
    """The letter that carries the indices; k_a tells more than x_1."""
    lettered = [s.name for s in used if not s.index.isdigit()]
    numbered = [s.name for s in used if s.index.isdigit()]
    indexed = lettered + numbered

    for letter in ("mu", "k", "K") if wanted == "means" else ("k", "K", "mu"):
        if letter in indexed:
            return letter
    if wanted == "means":
        for letter in indexed:
            if letter not in NEVER_MEANS:
                return letter
    for letter in indexed:
        if letter in VALUES_IN_QUERIES:
            return letter
    raise Unknown("which vectors the query is made of")


def _slipped_indices(found: list[str]) -> dict[str, str]:
    """Repair scanning slips: one of a, b is there and the other letter looks like the missing
    one, or both look like theirs."""
    distinct = list(dict.fromkeys(found))
    missing = [letter for letter in PAIR if letter not in distinct]
    odd = [index for index in distinct if index not in PAIR]

    if len(missing) == 1 and len(odd) == 1 and odd[0] in SLIPS[missing[0]]:
        return {odd[0]: missing[0]}
    if len(missing) < 2 or len(distinct) != 2:
        return {}

    lowered = [index.lower() for index in distinct]
    if sorted(lowered) == list(PAIR):
        return dict(zip(distinct, lowered, strict=True))
    guess = {index: letter for letter in PAIR for index in distinct if index in SLIPS[letter]}
    both = len(guess) == 2 and set(guess.values()) == set(PAIR)
    return guess if both else {}


def scales(expression: Node, roles: Roles) -> list[Symbol]:
    """The scalars of an expression that have no role of their own."""
    without_role = [s for s in symbols(expression) if not roles.role(s)]
    return [s for s in without_role if not _is_constant(s)]


def _is_constant(symbol: Symbol) -> bool:
    return symbol.name in CONSTANTS and symbol.index in ("", "k")
