"""The world of a step: true values at several points, and the roles its scalars may play.

Scalars without a role are tried in every role they could have (scale, number of keys, length of a
key).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright import attention
from headwright.exercise.bank import Question
from headwright.exercise.instances import Instance, of_ten_keys, smallest
from headwright.exercise.wanted import VARIANCE, wanted
from headwright.homework.judges.claims import letters
from headwright.homework.judges.steps.lengths import named_lengths
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning.formula import Chain, Symbol
from headwright.homework.meaning.notation import COUNTS, KEYS, LENGTHS, VALUES_IN_STEPS
from headwright.homework.scenes.arithmetic import Value
from headwright.homework.scenes.queries import WrittenQueries, queries_at
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene

VALUE_ROLES = dict.fromkeys(sorted(VALUES_IN_STEPS), "values")
MOST_UNKNOWN = 4  # scalars of one equation whose roles are searched
_KEY_ROLES = dict.fromkeys(sorted(KEYS), "keys")
_FIXED = {"n", "d", "I", "pi", "e", "q"}
_FIXED_INDICES = ("", "k", "1", "2", "a", "b")
_QUERY_OF = {"c.var": "c.q", "d.var": "d.q"}  # the answer whose queries another one builds on


@dataclass(frozen=True)
class Point:
    """One set of true values: scale, lengths of k_a and k_b, and the instance. `limit`: the scale
    is large."""

    instance: Instance
    scale: float
    length_a: float
    length_b: float
    limit: bool

    def role(self, role: str) -> float:
        known = {
            "scale": self.scale,
            "length": self.length_a,
            "length b": self.length_b,
            "count": float(self.instance.n),
        }
        return known[role]


@dataclass(frozen=True)
class StepContext:
    """What the steps of one answer may refer to."""

    heads: WrittenQueries | None
    varies: bool  # the length of k_a
    several_heads: bool
    means: dict[str, str]
    lengths: frozenset[Symbol]  # letters that are said to be the length of a key
    several_answers: bool  # queries besides those of `heads` are offered
    instances: tuple[Instance, ...]
    variance: float  # of the length of k_a along mu_a


def points(context: StepContext) -> list[Point]:
    """Moderate scales for exact formulas, large ones for limits; lengths near 1 so that nothing
    saturates."""
    small, ten = context.instances
    if not context.varies:
        stretch = 1 / small.scale
        exact = [
            Point(i, stretch * scale, 1.0, 1.0, limit=False)
            for i, scale in ((small, 2.0), (ten, 3.3))
        ]
        large = [
            Point(i, stretch * scale, 1.0, 1.0, limit=True)
            for i, scale in ((small, 40.0), (ten, 36.0))
        ]
        return exact + large
    return [
        Point(small, 2.0, 0.8, 1.0, limit=False),
        Point(ten, 3.3, 0.8, 1.0, limit=False),
        Point(small, 40.0, 1 - 1.5 / 40.0, 1 + 0.4 / 40.0, limit=True),
        Point(ten, 36.0, 1 + 0.7 / 36.0, 1 - 0.3 / 36.0, limit=True),
    ]


def step_context(answer: Answer, *, several_answers: bool = False) -> StepContext:
    question = answer.question
    earlier = _QUERY_OF.get(question.id, "")
    heads = answer.heads.get(question.id) or answer.heads.get(earlier)
    means = {"mu": "means"}
    if heads is not None:
        vectors = ("means", "keys")
        means |= {name: role for name, role in heads.roles.of.items() if role in vectors}
    varies = question.test == "variation"
    lengths = named_lengths(answer.everything) if varies else frozenset()
    return StepContext(
        heads=heads,
        varies=varies,
        several_heads=question.part == "d",
        means=means,
        lengths=lengths,
        several_answers=several_answers,
        instances=_instances(question),
        variance=question.parameters.get("variance", VARIANCE),
    )


def _instances(question: Question) -> tuple[Instance, ...]:
    """Where the steps of a query are tried: where the query itself is."""
    if "target" in question.parameters:
        return wanted(question.parameters).instances[:2]
    return smallest(), of_ten_keys()


def readings(unknown: list[Symbol], context: StepContext) -> Iterator[dict[Symbol, str]]:
    """Every way to give roles to scalars, the usual one first."""
    if len(unknown) > MOST_UNKNOWN:
        return
    possible = [_possible_roles(symbol, context) for symbol in unknown]
    for roles in itertools.product(*possible):
        yield dict(zip(unknown, roles, strict=True))


def _possible_roles(symbol: Symbol, context: StepContext) -> list[str]:
    varies = context.varies
    if context.heads is not None and symbol in context.heads.scales:
        return ["scale"]
    if varies and (symbol.name in LENGTHS or symbol in context.lengths):
        if symbol.index == "b":
            return ["length b"]
        return ["length"] if symbol.index else ["length", "scale"]
    if symbol.name in COUNTS and not symbol.index:
        return ["count", "scale"]
    return ["scale", "length"] if varies and symbol.name not in ("beta", "C") else ["scale"]


def scene_at(point: Point, reading: dict[Symbol, str], context: StepContext) -> Scene:
    """The symbols of a step at one point: the vectors, the heads' queries, weights and outputs, and
    the scalars in their roles."""
    instance = point.instance
    length_b = point.length_b if "length b" in reading.values() else 1.0
    lengths = {instance.a: point.length_a, instance.b: length_b}
    K = np.array([lengths.get(k, 1.0) * row for k, row in enumerate(instance.K)])

    Q, given = _queries(point, context)
    alpha = attention.weights(instance.scale * (Q @ K.T))
    given |= {Symbol("e"): math.e, **_outputs(alpha, instance)}
    scalars = {symbol: point.role(role) for symbol, role in reading.items()}
    given = {symbol: value for symbol, value in given.items() if symbol not in scalars}

    indices = context.heads.roles.indices if context.heads is not None else {}
    weights = {"alpha": alpha[0]} if len(alpha) == 1 else {}
    return Scene(
        instance, Roles(_roles(context), indices), scalars, given, weights, lengths=lengths
    )


def _queries(point: Point, context: StepContext) -> tuple[np.ndarray, dict[Symbol, Value]]:
    """The heads' queries and their names; where the answer gave none, the right one of one head."""
    instance = point.instance
    if context.heads is None:
        Q = point.scale * (instance.K[[instance.a]] + instance.K[[instance.b]])
        return Q, {} if context.several_heads else {Symbol("q"): Q.T}
    Q = queries_at(context.heads, instance, point.scale)
    names = [("",)] if len(Q) == 1 else [("1", "a"), ("2", "b")]
    given: dict[Symbol, Value] = {}
    for q, indices in zip(Q, names, strict=False):
        for index in indices:
            given[Symbol("q", index)] = q[:, None]
    return Q, given


def _outputs(alpha: np.ndarray, instance: Instance) -> dict[Symbol, Value]:
    """c of the only head, or c_1, c_2, ..."""
    outputs: dict[Symbol, Value] = {}
    for h, row in enumerate(alpha, start=1):
        index = "" if len(alpha) == 1 else str(h)
        c = (row @ instance.V)[:, None]
        outputs |= {Symbol("c", index): c, Symbol("C", index): c}
    return outputs


def _roles(context: StepContext) -> dict[str, str]:
    return VALUE_ROLES | context.means | _KEY_ROLES


def unknown_scalars(chain: Chain, context: StepContext) -> list[Symbol]:
    """Scalars whose role must be found. `alpha` without index is the weights or the noise, never a
    scale."""
    known = _roles(context) | {"alpha": "weights"}
    found = dict.fromkeys(s for s in letters(chain.terms[1:]) if s.name not in known)
    return [s for s in found if s.name not in _FIXED or s.index not in _FIXED_INDICES]
