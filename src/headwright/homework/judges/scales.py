"""Faults of the scale itself: said to be only positive, small, a number too small, or tied to the
noise."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework.judges.outcomes import (
    LEAK,
    NEAR_ENOUGH,
    enough,
    example,
    model,
    off_by,
    shown,
    wanted_weights,
)
from headwright.homework.meaning.formula import Symbol
from headwright.homework.meaning.sizes import Size
from headwright.homework.scenes.queries import (
    NOISE,
    Heads,
    distance,
    mixed,
    query,
    values,
)
from headwright.homework.scenes.scene import Scene, spell
from headwright.homework.verdict import Outcome


def size_fault(symbol: Symbol, size: Size, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    beta, name = enough(heads, target), spell(symbol)
    small = instances()[0]
    repair = f"say that {name} is large: {name} >= {beta:.2f} leaves 1 % at n = 10"
    if size.said in ("positive", "any"):
        Q = values(heads, small, 1.0)
        ten = next(i for i in instances() if i.n == 10)
        said = "positive" if size.said == "positive" else "arbitrary"
        gives = shown(mixed(values(heads, ten, 1.0), ten), ten, target)
        reason = f"{name} is only said to be {said}; {name} = 1 gives {gives} at n = 10"
        return [Outcome("incomplete", reason, example(small, Q, mixed(Q, small)), repair)]
    if size.said == "small":
        return [
            Outcome(
                "wrong",
                f"{name} is said to be small; then the weights are nearly equal",
                None,
                repair,
            )
        ]
    if size.said in ("number", "least") and off_by(heads, target, size.number) > NEAR_ENOUGH:
        Q = values(heads, small, size.number)
        status = "wrong" if size.said == "number" and size.number < 1 else "incomplete"
        return [
            Outcome(
                status,
                f"{name} = {size.number:g} is too small",
                example(small, Q, mixed(Q, small)),
                repair,
            )
        ]
    return []


def noise_scaled(heads: Heads, target: dict[str, float]) -> Outcome:
    """A scale made of the noise variance: follow alpha -> 0 with the noise of the logits,
    sqrt(alpha) |q|."""
    logit_noise, errors = [], []
    for s in (10.0, 30.0, 100.0):
        alpha = s**-4
        for instance in instances():
            Q = _at_noise(heads, instance, alpha)
            errors.append(distance(Q, instance, target))
            logit_noise.append(float(np.sqrt(alpha) * np.linalg.norm(Q, axis=1).max()))
    if errors[-1] > LEAK:
        return Outcome(
            "wrong",
            f"as the noise alpha -> 0 the weights stay off by {errors[-1]:.2g}",
            repair=model(heads, target),
        )
    if logit_noise[-1] > 0.1 and logit_noise[-1] > 0.5 * logit_noise[0]:
        return Outcome(
            "incomplete",
            f"the scale grows so fast that the noise of the scores does not vanish (still {logit_noise[-1]:.2g})",
            repair="let the scale grow more slowly than alpha^(-1/2), such as alpha^(-1/4)",
        )
    falls = f"the noise of the scores falls to {logit_noise[-1]:.2g}"
    return Outcome(
        "correct", f"as alpha -> 0 the weights tend to {wanted_weights(target)} and {falls}"
    )


def _at_noise(heads: Heads, instance: Instance, alpha: float) -> np.ndarray:
    given = {s: alpha if s.name == NOISE else 1.0 for s in heads.scales}
    scene = Scene(instance, heads.roles, scalars=given)
    return np.array([query(expression, scene, instance.d) for expression in heads.expressions])
