"""Is a stated condition true in an example?

`x >> y` means a difference of at least `MARGIN` for scores and a large ratio for things that are
positive.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.exercise.instances import Instance
from headwright.homework.judges.claims import has_exponential, letters
from headwright.homework.judges.condition.examples import MARGIN, Example, J, N
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning.formula import Chain, Node, Symbol, tree
from headwright.homework.meaning.notation import KEYS
from headwright.homework.meaning.scale_size import size_of
from headwright.homework.scenes.arithmetic import Unknown, Value
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene

RATIO = 90.0  # nine rivals leave 0.9 to key j from a ratio of 81 on
TINY = 0.01  # what epsilon and delta stand for
NOT_LARGE = 0.1  # a number that was only said to be positive, arbitrary or small
_ROUNDING = 1e-9  # relative: an example that is just large enough is so on every machine
_CLOSE = 0.05  # relative error of numbers that are said to be equal
_CLOSE_VECTORS = 0.01
_TURNED = {"<": ">", "<<": ">>", "<=": ">="}
_EQUAL = ("=", "~=", "->")
_NO_VALUES = np.eye(N)  # a condition speaks of keys and the query only


@dataclass(frozen=True)
class Term:
    """A member of a condition: is it positive by form (an exponential, a norm) and so compared by
    ratio, and does it name any of the other keys?"""

    node: Node
    positive: bool
    names_others: bool

    @classmethod
    def of(cls, node: Node, others: Sequence[str]) -> Term:
        positive = isinstance(node, tree.Norm) or has_exponential([node])
        named = {_variable(symbol.index) for symbol in letters([node])}
        return cls(node, positive, not named.isdisjoint(others))


@dataclass(frozen=True)
class Letters:
    """What the letters of a condition mean, worked out once for all examples."""

    winner: str
    others: tuple[str, ...]
    scalars: dict[Symbol, float]
    roles: Roles
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, chain: Chain, winner: str, answer: Answer) -> Letters:
        used = letters(chain.terms)
        known = KEYS | {"q", "n", "d"}
        scalars = {s: _number_for(s, answer) for s in used if s.name not in known}

        spelled_out = [s.index for s in used if "!=" in s.index or "notin" in s.index]
        indices = {index: _variable(index) for index in spelled_out}

        variables = {_variable(s.index) for s in used if s.name in KEYS and s.index}
        others = sorted(variables - {winner, ""})
        keys = dict.fromkeys(KEYS, "keys")
        terms = tuple(Term.of(node, others) for node in chain.terms)
        return cls(winner, tuple(others), scalars, Roles(keys, indices), terms)


def _variable(index: str) -> str:
    """`i`, and also the `i` of k_{i != j}."""
    return index.split("!=")[0].split("notin")[0]


def _number_for(symbol: Symbol, answer: Answer) -> float:
    """A number that fits what was said about a scalar; where nothing was said it is large."""
    if symbol.name in ("epsilon", "delta"):
        return TINY
    size = size_of(symbol, list(answer.pieces))
    if size.said in ("number", "least"):
        return size.number
    return NOT_LARGE if size.said in ("positive", "any", "small") else MARGIN


def holds(chain: Chain, meant: Letters, example: Example) -> bool:
    """Is the statement true in this example, for every other key its free index may name?"""
    places = ((meant.winner, J),)
    instance = Instance(example.K, _NO_VALUES, _NO_VALUES[:, :1], _NO_VALUES[:, 1:2], places)
    query = {Symbol("q"): example.q[:, None]}
    scene = Scene(instance, meant.roles, scalars=meant.scalars, given=query)

    others = [k for k in range(len(example.K)) if k != J] if meant.others else [J]
    known: dict[int, Value] = {}  # by place: members that are the same for all other keys
    for place in others:
        bound = dict.fromkeys(meant.others, place)
        if not _true(chain.relations, list(_members(meant.terms, scene, bound, known))):
            return False
    return True


Member = tuple[Term, Value]


def _members(
    terms: Sequence[Term], scene: Scene, bound: dict[str, int], known: dict[int, Value]
) -> Iterator[Member]:
    for place, term in enumerate(terms):
        if place in known:
            yield term, known[place]
            continue
        value = evaluate(term.node, scene, bound)
        if not term.names_others:
            known[place] = value
        yield term, value


def _true(relations: Sequence[str], members: Sequence[Member]) -> bool:
    pairs = itertools.pairwise(members)
    return all(
        _related(relation, left, right)
        for relation, (left, right) in zip(relations, pairs, strict=True)
    )


def _related(relation: str, left: Member, right: Member) -> bool:
    if relation in _TURNED:
        return _related(_TURNED[relation], right, left)
    larger = left[1]
    smaller = right[1]
    if isinstance(larger, np.ndarray) and isinstance(smaller, np.ndarray):
        return _vectors_related(relation, larger, smaller)
    if isinstance(larger, np.ndarray) or isinstance(smaller, np.ndarray):
        raise Unknown("how a vector compares with a number")
    if relation in _EQUAL:
        return _numbers_equal(larger, smaller)
    if relation == ">>":
        positive = left[0].positive or right[0].positive
        return _much_larger(larger, smaller, by_ratio=positive)
    return larger > smaller if relation == ">" else larger >= smaller


def _numbers_equal(left: float, right: float) -> bool:
    """Equal to infinity is whatever counts as much larger."""
    if math.isinf(right):
        return _reaches(right, left)
    if math.isinf(left):
        return _reaches(left, right)
    return abs(left - right) <= _CLOSE * max(1.0, abs(right))


def _reaches(infinite: float, finite: float) -> bool:
    return math.copysign(1.0, infinite) * finite >= MARGIN * (1 - _ROUNDING)


def _much_larger(larger: float, smaller: float, *, by_ratio: bool) -> bool:
    if math.isinf(smaller):
        return False
    if not by_ratio:
        return larger - smaller >= MARGIN * (1 - _ROUNDING)
    least = RATIO * smaller if smaller > 0 else RATIO
    return larger >= least * (1 - _ROUNDING)


def _vectors_related(relation: str, left: Value, right: Value) -> bool:
    if relation in _EQUAL:
        same_shape = np.shape(left) == np.shape(right)
        return same_shape and bool(np.allclose(left, right, atol=_CLOSE_VECTORS))
    larger = float(np.linalg.norm(left))
    smaller = float(np.linalg.norm(right))
    return larger >= RATIO * smaller if relation == ">>" else larger > smaller
