"""The world of a step: true values at several points, and the roles its scalars may play.

Scalars without a role are tried in every role they could have (scale, number of keys, length of a
key).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright import attention
from headwright.exercise.instances import Instance, instances
from headwright.homework.locating.answer import Answer
from headwright.homework.meaning.formula import Chain, Symbol, symbols
from headwright.homework.scenes.arithmetic import Value
from headwright.homework.scenes.queries import Heads, values
from headwright.homework.scenes.scene import Roles, Scene

LENGTHS = {
    "gamma",
    "epsilon",
    "lambda",
    "delta",
    "eta",
    "xi",
    "rho",
    "r",
    "s",
    "x",
    "z",
    "w",
    "g",
    "theta",
    "l",
}


COUNTS = {"m", "N", "l", "T", "L", "n", "M"}


VALUES = {"v": "values", "V": "values", "nu": "values"}


MOST_UNKNOWN = 4


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


def points(varies: bool) -> list[Point]:
    """Moderate scales for exact formulas, large ones for limits; lengths near 1 so that nothing
    saturates."""
    small, ten = instances()[0], instances()[1]
    out = []
    for instance, scale in ((small, 2.0), (ten, 3.3)):
        out.append(Point(instance, scale, 0.8 if varies else 1.0, 1.0, limit=False))
    for instance, scale, shift, other in ((small, 40.0, -1.5, 0.4), (ten, 36.0, 0.7, -0.3)):
        a, b = (1 + shift / scale, 1 + other / scale) if varies else (1.0, 1.0)
        out.append(Point(instance, scale, a, b, limit=True))
    return out


@dataclass(frozen=True)
class Setting:
    """What the steps of one answer may refer to."""

    heads: Heads | None
    varies: bool
    many: bool
    means: dict[str, str]


def setting_of(answer: Answer) -> Setting:
    part, id = answer.question.part, answer.question.id
    heads = answer.heads.get(id) or answer.heads.get({"c.var": "c.q", "d.var": "d.q"}.get(id, ""))
    letters = dict(heads.roles.of) if heads is not None else {}
    means = {"mu": "means"} | {
        letter: role for letter, role in letters.items() if role in ("means", "keys")
    }
    return Setting(heads, answer.question.test == "variation", part == "d", means)


def readings(
    unknown: list[Symbol], varies: bool, scales: list[Symbol]
) -> Iterator[dict[Symbol, str]]:
    """Every way to give roles to scalars, the usual one first."""
    if len(unknown) > MOST_UNKNOWN:
        return
    domains = [_domain(s, varies, scales) for s in unknown]
    for roles in itertools.product(*domains):
        yield dict(zip(unknown, roles, strict=True))


def _domain(symbol: Symbol, varies: bool, scales: list[Symbol]) -> list[str]:
    if symbol in scales:
        return ["scale"]
    if symbol.name in LENGTHS and varies:
        return (
            ["length b"]
            if symbol.index == "b"
            else ["length", "scale"]
            if not symbol.index
            else ["length"]
        )
    if symbol.name in COUNTS and not symbol.index:
        return ["count", "scale"]
    return ["scale", "length"] if varies and symbol.name not in ("beta", "C") else ["scale"]


def scene_at(point: Point, reading: dict[Symbol, str], setting: Setting) -> Scene:
    lengths = {1: point.length_a, 3: point.length_b if "length b" in reading.values() else 1.0}
    K = np.array([lengths.get(k, 1.0) * row for k, row in enumerate(point.instance.K)])
    given: dict[Symbol, Value] = {}
    if setting.heads is not None:
        Q = values(setting.heads, point.instance, point.scale)
        names = [("",)] if len(Q) == 1 else [("1", "a"), ("2", "b")]
        given = {
            Symbol("q", n): q[:, None]
            for q, indices in zip(Q, names, strict=False)
            for n in indices
        }
    else:
        Q = point.scale * (point.instance.K[[1]] + point.instance.K[[3]])
        given = {} if setting.many else {Symbol("q"): Q.T}
    alpha = attention.weights(Q @ K.T)
    roles = Roles(
        {**VALUES, **setting.means, "k": "keys", "K": "keys"},
        setting.heads.roles.indices if setting.heads else {},
    )
    scalars = {s: point.role(r) for s, r in reading.items()}
    for h, row in enumerate(alpha):
        given |= {
            Symbol(x, "" if len(alpha) == 1 else str(h + 1)): (row @ point.instance.V)[:, None]
            for x in ("c", "C")
        }
    given = {s: v for s, v in given.items() if s not in scalars}
    indexed = {"alpha": alpha[0]} if len(alpha) == 1 else {}
    return Scene(point.instance, roles, scalars, given, indexed, lengths=lengths)


def unknown_scalars(chain: Chain, setting: Setting) -> list[Symbol]:
    """Scalars whose role must be found. `alpha` without index is the weights or the noise, never a
    scale."""
    roles = {**VALUES, **setting.means, "k": "keys", "K": "keys"}
    fixed = {"n", "d", "I", "pi", "e", "q"}
    found = dict.fromkeys(s for t in chain.terms[1:] for s in symbols(t))
    return [
        s
        for s in found
        if s.name not in roles
        and s.name != "alpha"
        and not (s.name in fixed and s.index in ("", "k", "1", "2", "a", "b"))
    ]
