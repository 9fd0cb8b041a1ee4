"""Intermediate formulas of an answer: weights, scores, outputs of heads, the law of a key's length.

A step is evaluated at points of the world its answer lives in. Scalars without a role are tried in every role they
could play (scale, number of keys, length of a key): the step is right if one reading makes it true everywhere, and
wrong only if none does. `=` may stand for a limit, as students use it: `exp(beta)/(2 exp(beta))` passes, but a
formula that counts the other keys must count them exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright import attention
from headwright.exercise.instances import Instance, instances
from headwright.homework.answer import Answer, tentative
from headwright.homework.evaluate import Mismatch, Unknown, Value, agree, describe, evaluate
from headwright.homework.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.queries import Heads, values
from headwright.homework.shapes import PAIR, bare, head, is_score
from headwright.homework.statements import Statement
from headwright.homework.verdict import Outcome
from headwright.homework.worlds import Roles, Scene, spell

LENGTHS = {"gamma", "epsilon", "lambda", "delta", "eta", "xi", "rho", "r", "s", "x", "z", "w", "g", "theta", "l"}
COUNTS = {"m", "N", "l", "T", "L", "n", "M"}
SIGMA = math.sqrt(0.5)
EXACT, LIMIT = 1e-9, 1e-4
VALUES = {"v": "values", "V": "values", "nu": "values"}
MOST_UNKNOWN = 4


@dataclass(frozen=True)
class Point:
    """One set of true values: scale, lengths of k_a and k_b, and the instance. `limit`: the scale is large."""

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
    """Moderate scales for exact formulas, large ones for limits; lengths near 1 so that nothing saturates."""
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


def check_steps(answer: Answer, chosen: tuple[Statement, ...]) -> Iterator[tuple[str, Statement, Outcome]]:
    """Every step that can be judged: its name, where it stands and what came out."""
    setting = setting_of(answer)
    for statement in answer.statements:
        if (
            statement in chosen
            and bare(statement.chain.terms[0]) is not None
            and statement.chain.relations[:1] == ("=",)
        ):
            if head(statement.chain).name in ("q", "Q", "M"):  # type: ignore[union-attr]
                continue
        for name, test in _KINDS.items():
            outcome = test(statement, setting)
            if outcome is not None and not tentative(statement):
                yield _named(name, statement.chain), statement, outcome
                break


def setting_of(answer: Answer) -> Setting:
    part, id = answer.question.part, answer.question.id
    heads = answer.heads.get(id) or answer.heads.get({"c.var": "c.q", "d.var": "d.q"}.get(id, ""))
    letters = dict(heads.roles.of) if heads is not None else {}
    means = {"mu": "means"} | {letter: role for letter, role in letters.items() if role in ("means", "keys")}
    return Setting(heads, answer.question.test == "variation", part == "d", means)


def _named(name: str, chain: Chain) -> str:
    if name == "output":
        first = head(chain)
        return f"c{first.index}" if first is not None else "c"
    if name == "law":
        first = head(chain)
        return spell(Symbol(first.name.replace("epsilon", "eps"), first.index)) if first is not None else "law"
    return name


# ---- roles ------------------------------------------------------------------------------------------------


def _readings(unknown: list[Symbol], varies: bool, scales: list[Symbol]) -> Iterator[dict[Symbol, str]]:
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
        return ["length b"] if symbol.index == "b" else ["length", "scale"] if not symbol.index else ["length"]
    if symbol.name in COUNTS and not symbol.index:
        return ["count", "scale"]
    return ["scale", "length"] if varies and symbol.name not in ("beta", "C") else ["scale"]


def _scene(point: Point, reading: dict[Symbol, str], setting: Setting) -> Scene:
    lengths = {1: point.length_a, 3: point.length_b if "length b" in reading.values() else 1.0}
    K = np.array([lengths.get(k, 1.0) * row for k, row in enumerate(point.instance.K)])
    given: dict[Symbol, Value] = {}
    if setting.heads is not None:
        Q = values(setting.heads, point.instance, point.scale)
        names = [("",)] if len(Q) == 1 else [("1", "a"), ("2", "b")]
        given = {Symbol("q", n): q[:, None] for q, indices in zip(Q, names, strict=False) for n in indices}
    else:
        Q = point.scale * (point.instance.K[[1]] + point.instance.K[[3]])
        given = {} if setting.many else {Symbol("q"): Q.T}
    alpha = attention.weights(Q @ K.T)
    roles = Roles(
        {**VALUES, **setting.means, "k": "keys", "K": "keys"}, setting.heads.roles.indices if setting.heads else {}
    )
    scalars = {s: point.role(r) for s, r in reading.items()}
    for h, row in enumerate(alpha):
        given |= {
            Symbol(x, "" if len(alpha) == 1 else str(h + 1)): (row @ point.instance.V)[:, None] for x in ("c", "C")
        }
    given = {s: v for s, v in given.items() if s not in scalars}
    indexed = {"alpha": alpha[0]} if len(alpha) == 1 else {}
    return Scene(point.instance, roles, scalars, given, indexed, lengths=lengths)


def _unknown(chain: Chain, setting: Setting) -> list[Symbol]:
    """Scalars whose role must be found. `alpha` without index is the weights or the noise, never a scale."""
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


# ---- truth ------------------------------------------------------------------------------------------------


def _true_everywhere(chain: Chain, setting: Setting) -> Outcome | None:
    """Right if some reading makes all members agree at all points; None where nothing could be evaluated."""
    unknown = _unknown(chain, setting)
    scales = [s for s in unknown if setting.heads is not None and s in setting.heads.scales]
    failure: Outcome | None = None
    counts = _counts(chain)
    for reading in _readings(unknown, setting.varies, scales):
        usable = [p for p in points(setting.varies) if p.limit or (counts or "count" in reading.values())]
        try:
            results = [_at(chain, p, _scene(p, reading, setting)) for p in usable]
        except Unknown:
            continue
        broken = [r for r in results if r is not None]
        if not broken:
            exact = any(not p.limit for p in usable)
            return Outcome(
                "correct", "equals the softmax on all instances" if exact else "right when the scale is large"
            )
        failure = failure or broken[-1]
    return failure


def _counts(chain: Chain) -> bool:
    """Does the formula count the other keys (n, or a sum over them)?"""
    return any(s == Symbol("n") for t in chain.terms[1:] for s in symbols(t)) or any(
        isinstance(n, tree.Sum) for t in chain.terms[1:] for n in walk(t)
    )


def _at(chain: Chain, point: Point, scene: Scene) -> Outcome | None:
    """None where the statement is true at this point; Unknown where fewer than two members have a value."""
    found: list[tuple[Node, Value]] = []
    for k, term in enumerate(chain.terms):
        if isinstance(term, Missing) or (k and chain.relations[k - 1] not in ("=", "~=", "->")):
            continue
        if not point.limit and k and "~=" in chain.relations[:k]:
            continue  # what follows an approximation is true in the limit only
        try:
            found.append((term, evaluate(term, scene)))
        except Unknown:
            continue
        except Mismatch as error:
            return Outcome("wrong", f"a member of the equation has no value: {error}")
    if len(found) < 2:
        raise Unknown("two members with a value")
    tolerance = LIMIT if point.limit else EXACT
    for (_, left), (_, right) in itertools.pairwise(found):
        if not agree(left, right, tolerance):
            return _disagree(left, right, point)
    return None


def _disagree(left: Value, right: Value, point: Point) -> Outcome:
    where = f"n = {point.instance.n}, scale {point.scale:g}"
    if np.shape(left) != np.shape(right):
        return Outcome("wrong", f"one side is {describe(left)}, the other {describe(right)}")
    if isinstance(left, float) and isinstance(right, float):
        reason = f"the two sides are {left:.4g} and {right:.4g} at {where}"
        return Outcome(
            "wrong",
            reason,
            {
                "n": point.instance.n,
                "scale": point.scale,
                "length of k_a": point.length_a,
                "left": left,
                "right": right,
            },
        )
    off = float(np.linalg.norm(np.subtract(left, right)) / max(float(np.linalg.norm(left)), 1e-12))
    return Outcome(
        "wrong",
        f"the two sides differ by {100 * off:.0f} % at {where}",
        {"left": np.ravel(left)[:6], "right": np.ravel(right)[:6]},
    )


def _consistent(chain: Chain, setting: Setting) -> Outcome | None:
    """Do the members after the first agree with each other, whatever the first is?"""
    if len(chain.terms) < 3:
        return None
    rest = Chain(chain.terms[1:], chain.relations[1:])
    unknown = [s for t in rest.terms for s in symbols(t) if s.name not in VALUES and s.name != "alpha"]
    unknown = list(dict.fromkeys(unknown))
    if not unknown or len(unknown) > MOST_UNKNOWN:
        return None
    generic = [0.7, 1.9, 1.3, 2.4]
    outcomes = []
    # Generic values, then every subset of scalars large: "=" may mean "in the limit".
    for large in itertools.product((False, True), repeat=len(unknown)):
        assigned = {s: (35.0 + k if big else generic[k]) for k, (s, big) in enumerate(zip(unknown, large, strict=True))}
        scene = Scene(instances()[0], Roles(VALUES), assigned)
        point = Point(instances()[0], 35.0 if any(large) else 1.0, 1.0, 1.0, limit=any(large))
        try:
            outcomes.append(_at(rest, point, scene))
        except Unknown:
            return None
    if any(o is None for o in outcomes):
        return Outcome("correct", "the members agree")
    return outcomes[0]


# ---- kinds ------------------------------------------------------------------------------------------------


def _weights(statement: Statement, setting: Setting) -> Outcome | None:
    """`alpha_a = ...`"""
    chain = statement.chain
    first = head(chain)
    if first is None or first.name != "alpha" or first.index not in PAIR or len(chain.terms) < 2:
        return None
    chain = _without_limits(chain)
    formula = [t for t in chain.terms[1:] if any(isinstance(n, tree.Divide) for n in walk(t)) and symbols(t)]
    if not formula:
        return None
    truth = None if setting.many or not _readable(chain, setting) else _true_everywhere(chain, setting)
    if truth is not None and truth.status == "correct":
        return truth
    inner = _consistent(chain, setting)
    if inner is not None and inner.status == "wrong":
        return inner
    return truth


def _readable(chain: Chain, setting: Setting) -> bool:
    """Every member has a value: a formula of which only the rest could be read must not pass for right."""
    reading = dict.fromkeys(_unknown(chain, setting), "scale")
    scene = _scene(points(setting.varies)[0], reading, setting)
    try:
        return all(evaluate(t, scene) is not None for t in chain.terms if not isinstance(t, Missing))
    except Unknown:
        return False
    except Mismatch:
        return True


def _without_limits(chain: Chain) -> Chain:
    """Drop members with infinity in them: `1/(1 + inf)` belongs to one case, not to the formula."""
    keep = [k for k, t in enumerate(chain.terms) if not any(isinstance(n, tree.Infinity) for n in walk(t))]
    return Chain(tuple(chain.terms[k] for k in keep), tuple(chain.relations[k - 1] for k in keep if k))


def _scores(statement: Statement, setting: Setting) -> Outcome | None:
    """`k_a' q = ...`"""
    chain = statement.chain
    if not is_score(chain.terms[0]) or len(chain.terms) < 2 or not set(chain.relations) <= {"=", "~="}:
        return None
    if not any(s.name in ("k", "K") and s.index in PAIR for s in symbols(chain.terms[0])):
        return None
    if setting.heads is None:
        return None
    return _true_everywhere(chain, setting)


def _outputs(statement: Statement, setting: Setting) -> Outcome | None:
    """`c_1 = v_a`; for one head a formula `c = ... v_a + ... v_b`."""
    chain = statement.chain
    first = head(chain)
    if (
        first is None
        or first.name not in ("c", "C")
        or len(chain.terms) < 2
        or not set(chain.relations) <= {"=", "~=", "->"}
    ):
        return None
    valued = [t for t in chain.terms[1:] if {s.name for s in symbols(t)} & set(VALUES)]
    if not valued:
        return None
    if first.index in ("1", "2"):
        return _head_output(first, valued[-1], setting)
    if not first.index and setting.varies and not setting.many:
        return formula_in_length(chain, setting)
    return None


def _head_output(first: Symbol, term: Node, setting: Setting) -> Outcome | None:
    """With the student's own queries, made sharp, at the means."""
    if setting.heads is None or len(setting.heads.expressions) < 2:
        return None
    instance = instances()[0]
    Q = values(setting.heads, instance, 30.0)
    Q = Q * max(1.0, 30.0 / float(np.linalg.norm(Q, axis=1).min() or 1.0))
    truth = (attention.weights(Q @ instance.K.T) @ instance.V)[int(first.index) - 1][:, None]
    try:
        stated = evaluate(term, Scene(instance, Roles(VALUES, setting.heads.roles.indices)))
    except (Unknown, Mismatch):
        return None
    if agree(stated, truth, 1e-3):
        return Outcome("correct", f"that is what head {first.index} gives")
    alpha = attention.weights(Q @ instance.K.T)[int(first.index) - 1]
    return Outcome(
        "wrong", f"head {first.index} puts {alpha[1]:.2f} on a and {alpha[3]:.2f} on b", {"weights": alpha.round(3)}
    )


def formula_in_length(chain: Chain, setting: Setting | None = None) -> Outcome | None:
    """A formula for c or alpha_a in which the length of k_a appears; None for anything else."""
    setting = setting or Setting(None, True, False, {"mu": "means"})
    first = head(chain)
    if first is None or not (first.name in ("c", "C") and not first.index or first == Symbol("alpha", "a")):
        return None
    used = [s for t in chain.terms[1:] for s in symbols(t)]
    if not any(s.name in LENGTHS and s.index in ("", "a", "1") for s in used):
        return None
    if any(s.name in LENGTHS and s.index not in ("", "a", "b", "1") for s in used):
        return None  # epsilon_i in a sum is some small number, not a length
    inner = _consistent(chain, setting)
    if inner is not None and inner.status == "wrong":
        return inner
    return _true_everywhere(chain, setting)


def _range(statement: Statement, setting: Setting) -> Outcome | None:
    """`gamma in [0.5, 1.5]`: how often is that true?"""
    chain = statement.chain
    first = head(chain)
    if not setting.varies or setting.many or first is None or chain.relations != ("in",):
        return None
    interval = chain.terms[1]
    about = first.name in LENGTHS or (first.name in ("k", "K") and first.index == "a")
    if not about or not isinstance(interval, tree.Bracket) or len(interval.items) != 2:
        return None
    ends = [_coefficient(e, setting) for e in interval.items]
    if any(e is None for e in ends):
        return None
    low, high = ends
    mass = _normal((high - 1) / SIGMA) - _normal((low - 1) / SIGMA)  # type: ignore[operator]
    if mass >= 0.9:
        return Outcome("correct", f"gamma lies there {100 * mass:.0f} % of the time")
    return Outcome(
        "wrong",
        f"1/2 is the variance of gamma, its deviation is 0.707: only {100 * mass:.0f} % of the samples lie in [{low:g}, {high:g}]",
        {"probability": mass},
    )


def _coefficient(node: Node, setting: Setting) -> float | None:
    instance = instances()[0]
    try:
        value = evaluate(node, Scene(instance, Roles({**setting.means, "mu": "means", "u": "means"})))
    except (Unknown, Mismatch):
        return None
    return value if isinstance(value, float) else float(value.ravel() @ instance.K[1])


def _normal(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _law(statement: Statement, setting: Setting) -> Outcome | None:
    """`gamma ~ N(1, 1/2)`; the key b does not vary."""
    chain = statement.chain
    first = head(chain)
    if not setting.varies or first is None or "~" not in chain.relations or first.name not in LENGTHS:
        return None
    law = chain.terms[-1]
    if not isinstance(law, tree.Apply) or len(law.arguments) != 2 or law.arguments[0] != tree.Number(1.0):
        return None
    if first.index == "b":
        return Outcome(
            "wrong", "only k_a varies in length; k_b has covariance alpha I, so its factor is 1", {"length of k_b": 1.0}
        )
    variance = _coefficient(law.arguments[1], setting)
    if variance is None:
        return None
    if abs(variance - 0.5) < 1e-9:
        return Outcome("correct", "the length of k_a along mu_a is N(1, 1/2)")
    return Outcome("wrong", f"the variance of the length is 1/2, not {variance:g}")


_KINDS = {"weights": _weights, "scores": _scores, "output": _outputs, "range": _range, "law": _law}
