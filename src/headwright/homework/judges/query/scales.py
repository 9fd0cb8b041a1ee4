"""Faults of the scale itself: said to be only positive, small, a number too small, or tied to the
noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headwright.exercise.instances import Instance
from headwright.exercise.wanted import Wanted
from headwright.homework.judges.claims import EQUALITIES
from headwright.homework.judges.query.outcomes import (
    at_keys,
    enough,
    example_at,
    leak_fault,
    model,
    off_by,
    smallest_scale,
    wanted_weights,
    weights_at,
)
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Symbol
from headwright.homework.meaning.notation import NOISE
from headwright.homework.meaning.scale_size import Size
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.queries import WrittenQueries, distance, query
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene, spell
from headwright.homework.verdict import Outcome

# Noise variances s^-4 that shrink towards 0: a scale of alpha^(-1/4) is then s.
_SHRINKING_NOISE = tuple(s**-4 for s in (10.0, 30.0, 100.0))
# Between a scale and the number that it is, or is at least
_GIVING = EQUALITIES | {">", ">="}


def size_fault(symbol: Symbol, size: Size, heads: WrittenQueries, target: Wanted) -> Outcome | None:
    """What is wrong with what was said about the size of one scale."""
    name = spell(symbol)
    beta = enough(heads, target)
    leaves = f"{name} >= {beta:.2f} leaves {100 * target.leak:g}% {at_keys(target)}"
    repair = f"say that {name} is large: {leaves}"
    if size.said in ("positive", "any"):
        said = "positive" if size.said == "positive" else "arbitrary"
        gives = f"{name} = 1 gives {weights_at(heads, target, 1.0)} {at_keys(target)}"
        reason = f"{name} is only said to be {said}; {gives}"
        return Outcome("incomplete", reason, example_at(heads, target, 1.0), repair)
    if size.said == "small":
        reason = f"{name} is said to be small; then the weights are nearly equal"
        return Outcome("wrong", reason, None, repair)
    if target.exact:
        return _exact_fault(name, size, heads, target)
    if size.said in ("number", "least") and off_by(heads, target, size.number) > target.near_enough:
        status = "wrong" if size.said == "number" and size.number < 1 else "incomplete"
        gives = f"{weights_at(heads, target, size.number)} {at_keys(target)}"
        reason = f"{name} = {size.number:g} is too small: it gives {gives}"
        return Outcome(status, reason, example_at(heads, target, size.number), repair)
    return None


def computed_size(symbol: Symbol, statements: list[Statement], target: Wanted) -> Size | None:
    """`beta = ln 245`, `beta >= ln(5 * 49) = 5.50`: the last number that the scale is equated with,
    or bounded by."""
    scene = Scene(target.shown, Roles({}))
    found = None
    for statement in statements:
        chain = statement.chain
        if bare(chain.terms[0]) != symbol or not set(chain.relations) <= _GIVING:
            continue
        for term in chain.terms[1:]:
            try:
                value = evaluate(term, scene)
            except (Unknown, Mismatch):
                continue
            if isinstance(value, float) and 0 < value < np.inf:
                found = Size("number", value)
    return found


def _exact_fault(name: str, size: Size, heads: WrittenQueries, target: Wanted) -> Outcome | None:
    """A number was asked for: the smallest scale that leaves no more than the leak."""
    if size.said in ("number", "least"):
        return leak_fault(heads, target, size.number, f"{name} = {size.number:g}")
    reason = f"the smallest {name} is asked for as a number, and none is given"
    return Outcome("incomplete", reason, repair=smallest_scale(heads, target))


def noise_scaled(heads: WrittenQueries, target: Wanted) -> Outcome:
    """A scale made of the noise variance: follow alpha -> 0 with the noise of the logits,
    sqrt(alpha) |q|."""
    errors = []
    logit_noise = []
    for alpha in _SHRINKING_NOISE:
        for instance in target.instances:
            Q = _at_noise(heads, instance, alpha)
            longest = np.linalg.norm(Q, axis=1).max()
            errors.append(distance(Q, instance, target))
            logit_noise.append(float(np.sqrt(alpha) * longest))
    first = logit_noise[0]
    last = logit_noise[-1]

    if errors[-1] > target.leak:
        reason = f"as the noise alpha -> 0 the weights stay off by {errors[-1]:.2g}"
        return Outcome("wrong", reason, repair=model(heads, target))
    if last > 0.1 and last > 0.5 * first:
        return Outcome(
            "incomplete",
            "the scale grows so fast that the noise of the scores does not vanish "
            f"(still {last:.2g})",
            repair="let the scale grow more slowly than alpha^(-1/2), such as alpha^(-1/4)",
        )
    falls = f"the noise of the scores falls to {last:.2g}"
    reason = f"as alpha -> 0 the weights tend to {wanted_weights(target)} and {falls}"
    return Outcome("correct", reason)


def _at_noise(heads: WrittenQueries, instance: Instance, alpha: float) -> np.ndarray:
    scalars = {s: alpha if s.name == NOISE else 1.0 for s in heads.scales}
    scene = Scene(instance, heads.roles, scalars=scalars)
    return np.array([query(expression, scene, instance.d) for expression in heads.expressions])


def are_equated(scales: list[Symbol], statements: list[Statement]) -> bool:
    """Is it said that these scales are equal, in formulas (`C_1 = C_2 >> 0`) or in words?"""
    groups = list(_equal_groups(statements))
    equal = {scales[0]}
    for group in [*groups, *groups]:  # twice: C_2 = C may stand before C_1 = C
        if group & equal:
            equal |= group
    in_words = any(_is_said_alike(statement, scales) for statement in statements)
    return equal >= set(scales) or in_words


def _equal_groups(statements: list[Statement]) -> Iterator[set[Symbol]]:
    """The letters between which only signs of equality stand."""
    for statement in statements:
        chain = statement.chain
        group = {bare(chain.terms[0])}
        for relation, term in zip(chain.relations, chain.terms[1:], strict=True):
            if relation not in EQUALITIES:
                yield {symbol for symbol in group if symbol is not None}
                group = set()
            group.add(bare(term))
        yield {symbol for symbol in group if symbol is not None}


def _is_said_alike(statement: Statement, scales: list[Symbol]) -> bool:
    """ "where" `C_1` "and" `C_2` "are equal" """
    if bare(statement.chain.terms[0]) not in scales or words.says("negation", statement.after):
        return False
    return words.says("alike", statement.after[:40])
