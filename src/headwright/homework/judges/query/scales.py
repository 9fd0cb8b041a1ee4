"""Faults of the scale itself: said to be only positive, small, a number too small, or tied to the
noise."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework.judges.query.outcomes import (
    LEAK,
    NEAR_ENOUGH,
    enough,
    example_at,
    model,
    off_by,
    wanted_weights,
    weights_at_ten,
)
from headwright.homework.meaning.formula import Symbol
from headwright.homework.meaning.notation import NOISE
from headwright.homework.meaning.scale_size import Size
from headwright.homework.scenes.queries import WrittenQueries, distance, query
from headwright.homework.scenes.scene import Scene, spell
from headwright.homework.verdict import Outcome

# Noise variances s^-4 that shrink towards 0: a scale of alpha^(-1/4) is then s.
_SHRINKING_NOISE = tuple(s**-4 for s in (10.0, 30.0, 100.0))


def size_fault(
    symbol: Symbol, size: Size, heads: WrittenQueries, target: dict[str, float]
) -> Outcome | None:
    """What is wrong with what was said about the size of one scale."""
    name = spell(symbol)
    beta = enough(heads, target)
    repair = f"say that {name} is large: {name} >= {beta:.2f} leaves 1 % at n = 10"
    if size.said in ("positive", "any"):
        said = "positive" if size.said == "positive" else "arbitrary"
        gives = f"{name} = 1 gives {weights_at_ten(heads, target, 1.0)} at n = 10"
        reason = f"{name} is only said to be {said}; {gives}"
        return Outcome("incomplete", reason, example_at(heads, 1.0), repair)
    if size.said == "small":
        reason = f"{name} is said to be small; then the weights are nearly equal"
        return Outcome("wrong", reason, None, repair)
    if size.said in ("number", "least") and off_by(heads, target, size.number) > NEAR_ENOUGH:
        status = "wrong" if size.said == "number" and size.number < 1 else "incomplete"
        gives = f"{weights_at_ten(heads, target, size.number)} at n = 10"
        reason = f"{name} = {size.number:g} is too small: it gives {gives}"
        return Outcome(status, reason, example_at(heads, size.number), repair)
    return None


def noise_scaled(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    """A scale made of the noise variance: follow alpha -> 0 with the noise of the logits,
    sqrt(alpha) |q|."""
    errors = []
    logit_noise = []
    for alpha in _SHRINKING_NOISE:
        for instance in instances():
            Q = _at_noise(heads, instance, alpha)
            longest = np.linalg.norm(Q, axis=1).max()
            errors.append(distance(Q, instance, target))
            logit_noise.append(float(np.sqrt(alpha) * longest))
    first = logit_noise[0]
    last = logit_noise[-1]

    if errors[-1] > LEAK:
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
