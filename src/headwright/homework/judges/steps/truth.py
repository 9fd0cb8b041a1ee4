"""Is an equation true? At every point, under some reading of its scalars, and in the limit where it
says so.

`=` may stand for a limit, as students use it: `exp(beta)/(2 exp(beta))` passes for a weight, but a
formula that counts the other keys must count them exactly.
"""

from __future__ import annotations

import itertools

import numpy as np

from headwright.exercise.instances import smallest
from headwright.homework.judges.claims import letters, nodes
from headwright.homework.judges.steps.certainty import is_certain, only_scalars
from headwright.homework.judges.steps.points import (
    MOST_UNKNOWN,
    VALUE_ROLES,
    Point,
    StepContext,
    points,
    readings,
    scene_at,
    unknown_scalars,
)
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree
from headwright.homework.meaning.terms import bare, is_score
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, agree, describe
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

EXACT = 1e-9
LIMIT = 1e-4  # e^-36 is far below it, 1/36 far above
# Numbers without a relation to each other, and one so large that its exponential is a limit
_GENERIC = (0.7, 1.9, 1.3, 2.4)
_LARGE = 35.0


def true_everywhere(chain: Chain, context: StepContext) -> Outcome | None:
    """Right if some reading makes all members agree at all points; wrong if none does and every
    letter has one role; None otherwise."""
    unknown = unknown_scalars(chain, context)
    counts = _counts_keys(chain)
    failure: Outcome | None = None
    for reading in readings(unknown, context):
        exact = counts or "count" in reading.values()
        usable = [point for point in points(context) if point.limit or exact]
        try:
            results = [_fault_at(chain, p, scene_at(p, reading, context)) for p in usable]
        except Unknown:
            continue
        faults = [result for result in results if result is not None]
        if not faults:
            where = "equals the softmax on all instances"
            return Outcome("correct", where if exact else "right when the scale is large")
        failure = failure or faults[-1]
    return failure if is_certain(chain, context) else None


def _counts_keys(chain: Chain) -> bool:
    """Does the formula count the other keys (n, or a sum over them)?"""
    formulas = chain.terms[1:]
    if Symbol("n") in letters(formulas):
        return True
    return any(isinstance(n, tree.Sum) for n in nodes(formulas))


def _fault_at(chain: Chain, point: Point, scene: Scene) -> Outcome | None:
    """None where the statement is true at this point; Unknown where fewer than two members have a
    value."""
    found = []
    for term in _comparable(chain, limit=point.limit):
        try:
            found.append(evaluate(term, scene))
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
    for left, right in itertools.pairwise(found):
        if not agree(left, right, tolerance):
            return _disagreement(left, right, point, _truth_of(chain))
    return None


def _truth_of(chain: Chain) -> str:
    """What the first member of a step is computed by."""
    first = chain.terms[0]
    if is_score(first):
        return "the product of key and query is"
    about = bare(first)
    known = about is not None and about.name in ("alpha", "c", "C")
    return "the softmax gives" if known else ""


def _comparable(chain: Chain, *, limit: bool) -> list[Node]:
    """The members that are said to be equal; what follows an approximation is so in the limit only,
    and so is a number: `e^beta / (2 e^beta + n - 2) = 1/2`."""
    found = []
    approximate = False
    for relation, term in zip(("=", *chain.relations), chain.terms, strict=True):
        approximate = approximate or relation in ("~=", "->") or not symbols(term)
        if isinstance(term, Missing) or relation not in ("=", "~=", "->"):
            continue
        if limit or not approximate:
            found.append(term)
    return found


def _disagreement(left: Value, right: Value, point: Point, truth: str) -> Outcome:
    """Both values, the true one (`truth` says what gives it) and that of the formula."""
    where = f"n = {point.instance.n}, scale {point.scale:g}"
    if np.shape(left) != np.shape(right):
        return Outcome("wrong", f"one side is {describe(left)}, the other {describe(right)}")
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        example = {
            "n": point.instance.n,
            "scale": point.scale,
            "length of k_a": point.length_a,
            "left": left,
            "right": right,
        }
        reason = f"the two sides are {left:.4g} and {right:.4g} at {where}"
        if truth:
            reason = f"this formula gives {right:.4g}, {truth} {left:.4g} at {where}"
        return Outcome("wrong", reason, example)
    length = max(float(np.linalg.norm(left)), 1e-12)
    off = float(np.linalg.norm(np.subtract(left, right)) / length)
    parts = {"left": np.ravel(left)[:6], "right": np.ravel(right)[:6]}
    return Outcome("wrong", f"the two sides differ by {100 * off:.0f}% at {where}", parts)


def consistent(chain: Chain, context: StepContext) -> Outcome | None:
    """Do the members after the first agree with each other, whatever numbers their letters are?"""
    if len(chain.terms) < 3:
        return None
    rest = Chain(chain.terms[1:], chain.relations[1:])
    if not only_scalars(rest, context):
        return None
    unknown = list(dict.fromkeys(s for s in letters(rest.terms) if s != Symbol("n")))
    if not unknown or len(unknown) > MOST_UNKNOWN:
        return None
    # Generic values, then every subset of scalars large: "=" may mean "in the limit".
    subsets = itertools.product((False, True), repeat=len(unknown))
    try:
        faults = [_fault_at_numbers(rest, unknown, large) for large in subsets]
    except Unknown:
        return None
    if any(fault is None for fault in faults):
        return Outcome("correct", "the members agree")
    return faults[0]


def _fault_at_numbers(
    chain: Chain, unknown: list[Symbol], large: tuple[bool, ...]
) -> Outcome | None:
    """What is wrong when the scalars are any numbers, those marked as large being so."""
    scalars = {}
    for k, (symbol, is_large) in enumerate(zip(unknown, large, strict=True)):
        scalars[symbol] = _LARGE + k if is_large else _GENERIC[k]
    limit = any(large)
    instance = smallest()
    point = Point(instance, _LARGE if limit else 1.0, 1.0, 1.0, limit=limit)
    return _fault_at(chain, point, Scene(instance, Roles(VALUE_ROLES), scalars))


def readable(chain: Chain, context: StepContext) -> bool:
    """Every member has a value: a formula of which only the rest could be read must not pass for
    right."""
    reading = dict.fromkeys(unknown_scalars(chain, context), "scale")
    scene = scene_at(points(context)[0], reading, context)
    try:
        for term in chain.terms:
            if not isinstance(term, Missing):
                evaluate(term, scene)
    except Unknown:
        return False
    except Mismatch:
        return True
    return True
