"""Is an equation true? At every point, under some reading of its scalars, and in the limit where it
says so.

`=` may stand for a limit, as students use it: `exp(beta)/(2 exp(beta))` passes for a weight, but a
formula that counts the other keys must count them exactly.
"""

from __future__ import annotations

import itertools

import numpy as np

from headwright.exercise.instances import instances
from headwright.homework.judges.steps.points import (
    MOST_UNKNOWN,
    VALUES,
    Point,
    Setting,
    points,
    readings,
    scene_at,
    unknown_scalars,
)
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, agree, describe
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

EXACT, LIMIT = 1e-9, 1e-4


def true_everywhere(chain: Chain, setting: Setting) -> Outcome | None:
    """Right if some reading makes all members agree at all points; None where nothing could be
    evaluated."""
    unknown = unknown_scalars(chain, setting)
    scales = [s for s in unknown if setting.heads is not None and s in setting.heads.scales]
    failure: Outcome | None = None
    counts = _counts(chain)
    for reading in readings(unknown, setting.varies, scales):
        usable = [
            p for p in points(setting.varies) if p.limit or (counts or "count" in reading.values())
        ]
        try:
            results = [_at(chain, p, scene_at(p, reading, setting)) for p in usable]
        except Unknown:
            continue
        broken = [r for r in results if r is not None]
        if not broken:
            exact = any(not p.limit for p in usable)
            return Outcome(
                "correct",
                "equals the softmax on all instances" if exact else "right when the scale is large",
            )
        failure = failure or broken[-1]
    return failure


def _counts(chain: Chain) -> bool:
    """Does the formula count the other keys (n, or a sum over them)?"""
    return any(s == Symbol("n") for t in chain.terms[1:] for s in symbols(t)) or any(
        isinstance(n, tree.Sum) for t in chain.terms[1:] for n in walk(t)
    )


def _at(chain: Chain, point: Point, scene: Scene) -> Outcome | None:
    """None where the statement is true at this point; Unknown where fewer than two members have a
    value."""
    found: list[tuple[Node, Value]] = []
    for k, term in enumerate(chain.terms):
        if isinstance(term, Missing) or (k and chain.relations[k - 1] not in ("=", "~=", "->")):
            continue
        if not point.limit and k and {"~=", "->"} & set(chain.relations[:k]):
            continue  # what follows an approximation is true in the limit only
        try:
            found.append((term, evaluate(term, scene)))
        except Unknown:
            continue
        except Mismatch as error:
            # A letter taken for a number may be a vector (noise, say)
            if set(symbols(term)) & set(scene.scalars):
                raise Unknown("what its letters stand for") from None
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
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
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


def consistent(chain: Chain, setting: Setting) -> Outcome | None:
    """Do the members after the first agree with each other, whatever the first is?"""
    if len(chain.terms) < 3:
        return None
    rest = Chain(chain.terms[1:], chain.relations[1:])
    unknown = [
        s for t in rest.terms for s in symbols(t) if s.name not in VALUES and s.name != "alpha"
    ]
    unknown = list(dict.fromkeys(unknown))
    if not unknown or len(unknown) > MOST_UNKNOWN:
        return None
    generic = [0.7, 1.9, 1.3, 2.4]
    outcomes = []
    # Generic values, then every subset of scalars large: "=" may mean "in the limit".
    for large in itertools.product((False, True), repeat=len(unknown)):
        assigned = {
            s: (35.0 + k if big else generic[k])
            for k, (s, big) in enumerate(zip(unknown, large, strict=True))
        }
        scene = Scene(instances()[0], Roles(VALUES), assigned)
        point = Point(instances()[0], 35.0 if any(large) else 1.0, 1.0, 1.0, limit=any(large))
        try:
            outcomes.append(_at(rest, point, scene))
        except Unknown:
            return None
    if any(o is None for o in outcomes):
        return Outcome("correct", "the members agree")
    return outcomes[0]


def readable(chain: Chain, setting: Setting) -> bool:
    """Every member has a value: a formula of which only the rest could be read must not pass for
    right."""
    reading = dict.fromkeys(unknown_scalars(chain, setting), "scale")
    scene = scene_at(points(setting.varies)[0], reading, setting)
    try:
        return all(
            evaluate(t, scene) is not None for t in chain.terms if not isinstance(t, Missing)
        )
    except Unknown:
        return False
    except Mismatch:
        return True
